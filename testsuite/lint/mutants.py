#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every mutant of testsuite/mutants still applies: the lines that it replaces occur exactly once in
its file, and the programs and cases that must find it exist. testsuite/mutants/mutants.py takes
hours, and without this lint a mutant that does not apply would only be noticed then. A case that
was renamed would not be noticed at all if the mutant's other words select a case.
"""
import os
import re
import shlex
import sys
from pathlib import Path

TOP = Path(os.environ.get("srcdir", "."))


def blocks():
    for path in sorted((TOP / "testsuite/mutants").glob("*.txt")):
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            lines = block.split("\n")
            if any(line.startswith("file ") for line in lines):
                yield path.name, lines


def fault(lines):
    file = next(line[5:] for line in lines if line.startswith("file "))
    wanted = "".join(line[1:] + "\n" for line in lines if line.startswith("-"))
    if not (TOP / file).exists():
        return f"there is no {file}"
    count = (TOP / file).read_text(encoding="utf-8").count(wanted)
    return "" if count == 1 else f"its lines stand {count} times in {file}"


def cases(paths):
    """The names of all functions in these files: a component's cases need not begin with test_."""
    return [
        name
        for path in paths
        for name in re.findall(r"^def (\w+)\(", path.read_text(encoding="utf-8"), re.M)
    ]


def fault_of_test(line):
    kind, *words = shlex.split(line)
    suite = TOP / "testsuite"
    if kind == "sim":
        return ""
    if not words:
        return f"'{line}' names no program"
    name, *words = words
    if kind == "component":
        program = suite / kind / name / f"test_{name}"
        exists, files = any(program.parent.glob(f"{program.name}*")), program.parent.glob("*.py")
    else:
        program = suite / kind / f"{name}{'.cc' if kind == 'unit' else '.py'}"
        exists, files = program.exists(), [program]
    if not exists:
        return f"there is no {program.relative_to(TOP)}"
    known = cases(files) if words else []
    if kind == "e2e":
        known = [case for case in known if case.startswith("test_")]
    lost = [word for word in words if not any(word in case for case in known)]
    return f"{name} has no case {' or '.join(lost)}" if lost else ""


def faults_of(lines):
    if why := fault(lines):
        yield why
    tests = [line for line in lines if re.match(r"(unit|component|e2e|sim)\b", line)]
    if not tests:
        yield "it names no test"
    yield from filter(None, map(fault_of_test, tests))


def main():
    seen = faults = 0
    for where, lines in blocks():
        seen += 1
        name = next(line for line in lines if line.startswith("mutant ")).split()[1]
        for why in faults_of(lines):
            faults += 1
            print(f"{where}: {name}: {why}")
    print(f"{seen} mutants, {faults} faults")
    return 1 if faults or not seen else 0


sys.exit(main())
