#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every mutant of testsuite/mutants still applies: the lines that it replaces occur exactly once in
its file. testsuite/mutants/mutants.py takes hours, and without this lint a mutant that does not
apply would only be noticed then.
"""
import os
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
    wanted = "\n".join(line[1:] for line in lines if line.startswith("-"))
    if not (TOP / file).exists():
        return f"there is no {file}"
    count = (TOP / file).read_text(encoding="utf-8").count(wanted)
    return "" if count == 1 else f"its lines stand {count} times in {file}"


def main():
    seen = faults = 0
    for where, lines in blocks():
        seen += 1
        if why := fault(lines):
            faults += 1
            name = next(line for line in lines if line.startswith("mutant ")).split()[1]
            print(f"{where}: {name}: {why}")
    print(f"{seen} mutants, {faults} do not fit")
    return 1 if faults or not seen else 0


sys.exit(main())
