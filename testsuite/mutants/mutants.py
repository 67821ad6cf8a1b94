#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutation tests: small faults put into the code, one at a time, each of which a test must find.

usage: mutants.py [--work DIR] [--slurm VERSION] [--wrap COMMAND] [--no-baseline] [WORD...]
           mutants whose name or file has one of the words; all without
       mutants.py --list [WORD...]
           names them with the tests that must fail

Mutants are blocks in *.txt beside this program:

    mutant NAME         what is wrong with it, in words
    file src/core/reconcile/reconcile.cc
    -the lines to replace, which must occur exactly once in the file
    +the lines that replace them
    unit test_world     tests, in the order in which they are tried: unit PROGRAM, component NAME
                        [WORD], e2e FILE [WORD...], sim [OPTION...]
    e2e test_gangs all_or_nothing

It works in a private copy of the tree, which is built once. Each mutant is built incrementally, and
only its tests run. First each test runs without any mutant, because a test that fails anyway kills
nothing. TAP on stdout: "ok N mutant NAME: killed by TEST" or "not ok N mutant NAME: survived TEST".
A mutant takes about a minute on an idle machine. --work keeps the copy and the build for the next
run; --wrap puts a command before each build and each test, for machines that are shared. Exit
status 0: all mutants were killed.
"""
import argparse
import filecmp
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
LONGEST = 600  # seconds for one test; a test that hangs has found the fault, too
_IN_ROOT = (
    'eval "$(cat "$1/slurm.env")"; exec "$0/testsuite/slurm/in-root" -b "$0" -b "$1" "$SLURM_ROOT"'
    ' "${@:2}"'
)


@dataclass
class Mutant:
    name: str
    why: str
    place: str = ""
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)
    tests: list = field(default_factory=list)


class Wrong(Exception):
    """A mutant that cannot be used, because of its text, its file or its build."""


def parse(path):
    out = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        word, _, rest = line.partition(" ")
        if word == "mutant":
            name, _, why = rest.partition(" ")
            out.append(Mutant(name, why.strip()))
        elif not line or line.startswith("#"):
            continue
        elif not out:
            raise Wrong(f"{path.name}:{number}: nothing may stand before the first mutant")
        elif line[0] in "-+":
            (out[-1].old if line[0] == "-" else out[-1].new).append(line[1:])
        elif word == "file":
            out[-1].place = rest
        elif word in ("unit", "component", "e2e", "sim"):
            out[-1].tests.append(tuple(shlex.split(line)))
        else:
            raise Wrong(
                f"{path.name}:{number}: {line!r} is none of mutant, file, -, +, unit, component,"
                " e2e, sim"
            )
    return out


def mutated(text, m):
    """The text of the file with the fault in it."""
    old, new = ("".join(line + "\n" for line in lines) for lines in (m.old, m.new))
    if not m.old or text.count(old) != 1:
        raise Wrong(f"its lines stand {text.count(old) if m.old else 0} times in {m.place}")
    return text.replace(old, new)


def renew(source, copy):
    """Copies source over copy only if the contents differ. An unchanged copy keeps its time stamp,
    so that make does not rebuild it; a changed one is newer than its objects.
    """
    if not Path(copy).exists():
        shutil.copy2(source, copy)
    elif not filecmp.cmp(source, copy, shallow=False):
        shutil.copyfile(source, copy)


def _component(suite, name):
    """Its program: test_NAME.py, or a shell script without a suffix."""
    program = suite / f"component/{name}/test_{name}"
    return program if program.exists() else program.with_suffix(".py")


class Bench:
    """A private copy of the tree and its build."""

    def __init__(self, work, options):
        self.options, self.tree, self.build, self.log = (
            options,
            work / "src",
            work / "build",
            work / "log",
        )
        shutil.copytree(
            SOURCE,
            self.tree,
            ignore=shutil.ignore_patterns(".git", "autom4te.cache"),
            symlinks=True,
            dirs_exist_ok=True,
            copy_function=renew,
        )
        for directory in (self.log, work / "run"):
            directory.mkdir(exist_ok=True)
        work.chmod(0o755)
        self.env = {
            **os.environ,
            "SLURM_KUBE_RUN": str(work / "run"),
            "CONFIGURE_ARGS": os.environ.get("CONFIGURE_ARGS", "CXXFLAGS=-O1 CFLAGS=-O1"),
        }

    def _run(self, name, command, seconds):
        """(exit status, output). Kills the command with all its children when it takes too long."""
        with subprocess.Popen(
            [*shlex.split(self.options.wrap), *map(str, command)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=self.env,
            cwd=self.tree,
            start_new_session=True,
        ) as child:
            try:
                text = child.communicate(timeout=seconds)[0]
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGTERM)
                text = child.communicate()[0] + f"\nnot ok - ended after {seconds} s\n"
            except BaseException:
                os.killpg(child.pid, signal.SIGTERM)
                raise
        (self.log / f"{name}.log").write_text(text, encoding="utf-8")
        return child.returncode, text

    def make(self, name, *targets):
        # A fault may leave variables or functions unused, which must not fail the build.
        flags = [] if name == "first" else ["CXXFLAGS=-O1 -Wno-error"]
        if self._run(
            f"{name}.make",
            [self.tree / "testsuite/slurm/build", self.options.slurm, self.build, *targets, *flags],
            3000,
        )[0]:
            raise Wrong(f"it does not build: {self.log}/{name}.make.log")

    def _inside(self, *command):
        return ["bash", "-c", _IN_ROOT, self.tree, self.build, *command]

    def complaint(self, name, test):
        """Builds what a test needs and runs it. Returns the failure, or an empty string."""
        kind, what, *words = *test, ""
        words = [w for w in words if w]
        suite = self.tree / "testsuite"
        targets, command = {
            "unit": (
                [f"testsuite/unit/{what}"],
                self._inside(self.build / f"testsuite/unit/{what}"),
            ),
            "sim": (
                ["testsuite/sim/sim"],
                self._inside(self.build / "testsuite/sim/sim", *([what] if what else []), *words),
            ),
            "component": (
                ["install", "check", "TESTS="],
                [_component(suite, what), self.build, *words],
            ),
            "e2e": (["install"], [suite / f"e2e/{what}.py", self.build, *words]),
        }[kind]
        self.make(name, *targets)
        status, text = self._run(f"{name}.{kind}-{what or 'all'}", command, LONGEST)
        return failure_in(text, status)


def failure_in(text, status):
    """The name of the first test that failed. A test bed that did not start has tested nothing."""
    if "# the bed failed" in text:
        raise Wrong("the bed did not come up: " + text[-300:].replace("\n", " "))
    for line in text.splitlines():
        if line.startswith("not ok") or "...FAILED" in line:
            return line.removeprefix("not ok").split(" # ")[0].strip(" -0123456789") or line
    return f"exit status {status}" if status not in (0, 77) else ""


def words_of(test):
    return " ".join(w.replace(" ", "_") for w in test)


def complaint_or_trouble(bench, name, test):
    try:
        return bench.complaint(name, test)
    except Wrong as e:
        return str(e)


def baseline(bench, mutants):
    """Tests that fail without any mutant: {test: reason}. The tests of one program run together,
    and one by one only if that fails.
    """
    tests = sorted({t for m in mutants for t in m.tests})
    bad = {}
    for number, program in enumerate(sorted({t[:2] for t in tests}), 1):
        own = [t for t in tests if t[:2] == program]
        together = (
            program if program in own else program + tuple(sorted({w for t in own for w in t[2:]}))
        )
        is_alone = program[0] in ("component", "sim")  # these accept only one word
        passes = not is_alone and not complaint_or_trouble(bench, f"baseline-{number}", together)
        for test in [] if passes else own:
            if why := complaint_or_trouble(bench, f"baseline-{number}-{own.index(test)}", test):
                bad[test] = why
        print(
            (
                f"# without mutants: {words_of(program)}:"
                f" {[f'{words_of(t)}: {bad[t]}' for t in own if t in bad] or 'passes'}"
            ),
            flush=True,
        )
    return bad


def judge(bench, m, bad):
    """(whether it was killed, the text for TAP)"""
    path = bench.tree / m.place
    right = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutated(right, m), encoding="utf-8")
        for test in m.tests:
            why = bench.complaint(m.name, test)
            if why and test not in bad:
                return True, f"killed by {words_of(test)} ({why})"
        return False, f"survived {', '.join(map(words_of, m.tests))}"
    except Wrong as e:
        return False, str(e)
    finally:
        path.write_text(right, encoding="utf-8")


def chosen(words):
    every = [(path.stem, m) for path in sorted(HERE.glob("*.txt")) for m in parse(path)]
    names = [m.name for _, m in every]
    if twice := {n for n in names if names.count(n) > 1}:
        raise Wrong(f"two mutants have the name {', '.join(twice)}")
    return [m for stem, m in every if not words or any(w in m.name or w == stem for w in words)]


def arguments():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--work", type=Path)
    p.add_argument("--slurm", default="22.05.8")
    p.add_argument("--wrap", default="")
    p.add_argument("--no-baseline", action="store_true")
    p.add_argument("--list", action="store_true")
    p.add_argument("words", nargs="*")
    return p.parse_args()


def run_all(options, mutants):
    work = options.work or Path(tempfile.mkdtemp(prefix="slurm-kube-mutants-"))
    work.mkdir(parents=True, exist_ok=True)
    bench = Bench(work.resolve(), options)
    bench.make("first", "install")
    bad = {} if options.no_baseline else baseline(bench, mutants)
    print(f"1..{len(mutants)}", flush=True)
    alive = 0
    for number, m in enumerate(mutants, 1):
        killed, text = judge(bench, m, bad)
        alive += not killed
        print(f"{'ok' if killed else 'not ok'} {number} mutant {m.name}: {text}", flush=True)
    print(f"{len(mutants) - alive} killed, {alive} not")
    if not options.work and not alive:
        shutil.rmtree(work)
    return alive


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        mutants = chosen(options.words)
        if options.list:
            for m in mutants:
                print(f"{m.name}\t{m.place}\t{'; '.join(map(words_of, m.tests))}\t{m.why}")
            return
        sys.exit(1 if run_all(options, mutants) else 0)
    except Wrong as e:
        sys.exit(f"mutants: {e}")


main()
