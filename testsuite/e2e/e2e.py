#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs all end-to-end cases with one command.

usage: run [WORD...] BUILDDIR           runs the cases whose file or name contains one of the
                                           words; without words all
       run --list [WORD...] [BUILDDIR]  names them, one per line: file and case. Starts nothing
                                           and needs no build.

The files run one after the other, each with its own test bed. Their output is passed on as one
TAP stream; the last line is "N passed, N failed, N skipped". Exit status 0: none failed; 1: some
failed; 2: wrong words. testsuite/check runs the same programs.
"""
import ast
import re
import signal
import subprocess
import sys
from pathlib import Path

from lib.invariants import closing_cases

HERE = Path(__file__).resolve().parent
CLOSING = [case.__name__[5:] for case in closing_cases()]
LINE = re.compile(r"(ok|not ok) \d+ (.*)")


def cases_of(program):
    """Its test functions, in the order of the file, which is parsed, not run. The runner's
    follow."""
    tree = ast.parse(program.read_text(encoding="utf-8"))
    return [
        f.name[5:]
        for f in tree.body
        if isinstance(f, ast.FunctionDef) and f.name.startswith("test_")
    ]


def chosen(words):
    """[(program, its cases, the words that select them)]."""
    out = []
    for program in sorted(HERE.glob("test_*.py")):
        cases = cases_of(program)
        whole = not words or any(w in program.stem for w in words)
        wanted = cases if whole else [c for c in cases if any(w in f"test_{c}" for w in words)]
        if wanted:
            out.append((program, wanted + CLOSING, [] if whole else words))
    return out


class Tally:
    """Passes lines on with numbers that continue from file to file, and counts the verdicts."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def line(self, text):
        found = LINE.match(text)
        if found:
            self._count(found.group(1), text)
            text = f"{found.group(1)} {self.passed + self.failed + self.skipped} {found.group(2)}"
        if not re.match(r"1\.\.\d", text):
            print(text, flush=True)

    def _count(self, verdict, text):
        self.failed += verdict == "not ok"
        self.skipped += verdict == "ok" and "# SKIP" in text
        self.passed += verdict == "ok" and "# SKIP" not in text

    def missing(self, count, program):
        """Adds failures for cases without a verdict, because the program ended early."""
        for _ in range(count):
            self.line(f"not ok 0 - {program.stem} # no verdict: the program ended early")


def run_one(program, cases, words, build, tally):
    print(f"# {program.stem}", flush=True)
    before = tally.passed + tally.failed + tally.skipped
    with subprocess.Popen([program, build, *words], stdout=subprocess.PIPE, text=True) as child:
        signal.signal(signal.SIGTERM, lambda *_: (child.terminate(), sys.exit(143)))
        for line in child.stdout:
            tally.line(line.rstrip("\n"))
    tally.missing(len(cases) - (tally.passed + tally.failed + tally.skipped - before), program)
    if child.returncode not in (0, 1, 77):
        print(f"# {program.stem}: exit status {child.returncode}", flush=True)


def main():
    words = sys.argv[1:]
    listing = "--list" in words
    words = [w for w in words if w != "--list"]
    build = Path(words.pop()) if words and (Path(words[-1]) / "slurm.env").exists() else None
    if any(w.startswith("-") for w in words) or not (build or listing):
        sys.exit((print(__doc__, file=sys.stderr), 2)[1])
    # Names are printed with spaces; the functions' names have none.
    programs = chosen([w.replace(" ", "_") for w in words])
    if not programs:
        sys.exit((print("no case has one of these words", file=sys.stderr), 2)[1])
    if listing:
        for program, cases, _ in programs:
            for case in cases:
                print(f"{program.name}\t{case.replace('_', ' ')}")
        return
    tally = Tally()
    print(f"1..{sum(len(cases) for _, cases, _ in programs)}")
    for program, cases, passed_on in programs:
        run_one(program, cases, passed_on, build, tally)
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    sys.exit(1 if tally.failed else 0)


main()
