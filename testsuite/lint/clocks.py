#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In the agent only src/agent/loop.* reads clocks; other files call Clock::now(), now() and
wall_us().

usage: clocks.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory
"""
import os
import re
import sys

FOLDER = "src/agent"
LOOP = ("src/agent/loop.h", "src/agent/loop.cc")
READ = re.compile(
    r"\b(?:\w+_clock\b|(?:clock_gettime|gettimeofday)\s*\(|time\s*\(\s*(?:nullptr|NULL|0)\s*\))"
)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def code_of(path):
    """The lines without comments and string literals."""
    text = open(path, encoding="utf-8").read()
    return COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text).split("\n")


def paths():
    for folder, _, files in os.walk(FOLDER):
        for file in sorted(files):
            if file.endswith((".h", ".cc")):
                yield os.path.join(folder, file)


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
    seen = faults = 0
    for path in paths():
        seen += 1
        for number, line in enumerate(code_of(path), 1):
            if path not in LOOP and READ.search(line):
                faults += 1
                print(
                    f"{path}:{number}: {line.strip()}: call now(), Clock::now() or wall_us() of"
                    f" {LOOP[0]}"
                )
    print(f"{seen} files, {faults} forbidden")
    return 1 if faults or not seen else 0


sys.exit(main())
