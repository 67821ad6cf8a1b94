#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""No line of a program is wider than 100 columns, and no line of a document or manual page wider
than 80; a row of a table may have 120. A tab advances to the next multiple of 8.

usage: widths.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory

Code in documents, between lines of ``` or indented by a tab or four spaces, has no limit. A table
that needs wider rows becomes a list or sections.
"""
import os
import sys
from pathlib import Path

from sources import sources

PROGRAM = 100
TEXT = 80
ROW = 120


def width(line):
    return len(line.expandtabs(8))


def too_wide(lines):
    """(number, width, limit) of each line of a program that is too wide."""
    for number, line in enumerate(lines, 1):
        if width(line) > PROGRAM:
            yield number, width(line), PROGRAM


def too_wide_text(lines):
    """The same for a document."""
    in_code = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        if in_code or line.startswith(("\t", "    ")):
            continue
        allowed = ROW if line.lstrip().startswith("|") else TEXT
        if width(line) > allowed:
            yield number, width(line), allowed


def faults_of(path, lines, is_text):
    """The faults of one file, a line each."""
    for number, columns, allowed in (too_wide_text if is_text else too_wide)(lines):
        yield f"{path}:{number}: {columns} columns, {allowed} are allowed"


def main():
    top = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
    faults, count = [], 0
    for language, paths in sources(top).items():
        for path in paths:
            lines = (top / path).read_text(encoding="utf-8").split("\n")
            faults += faults_of(path, lines, language == "text")
            count += 1
    print("\n".join(faults + [f"{count} files, {len(faults)} faults"]))
    sys.exit(1 if faults or count < 500 else 0)


main()
