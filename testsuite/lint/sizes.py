#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""No file of src is longer than 350 lines and no function longer than 40, except tables and the
known exceptions listed here with their lengths, which may only be reduced.

usage: sizes.py [--all] [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory
--all prints every function: lines, file and first line, name.

Functions are found by the format of the code: an opening brace alone in column 0, or behind one tab
within a class, and the next closing brace in the same column. The lines above the opening brace, up
to a blank line, a comment or another end, belong to the function.
"""
import os
import re
import sys

FILE_LINES = 350
FUNCTION_LINES = 40
TABLES = ("src/core/options/table.cc",)
# To be fixed: lower a length when it is reduced, and remove an entry when it is within the limit.
KNOWN_FILES = {}
KNOWN_FUNCTIONS = {}

ENDS_HEADER = re.compile(r"^\s*$|^\s*#|;\s*(}\s*)?$|{\s*$|\s{}\s*$|^\s*}|\*/\s*$|^\s*//|\w:\s*$")
NAME = re.compile(r"([~\w:]+|operator\S+)\s*\(")


def header_of(lines, brace):
    """The first line of the declaration whose opening brace is alone on line brace."""
    first = brace
    while first > 0 and not ENDS_HEADER.search(lines[first - 1]):
        first -= 1
    return first


def functions(lines):
    """(first line, lines, name) of each function, including methods within a class."""
    number = 0
    while number < len(lines):
        line = lines[number]
        if line not in ("{", "\t{"):
            number += 1
            continue
        first = header_of(lines, number)
        header = " ".join(lines[first:number])
        end = number
        while end + 1 < len(lines) and not lines[end].startswith(line[:-1] + "}"):
            end += 1
        if "(" in header and not header.startswith("namespace"):
            yield first + 1, end - first + 1, (
                NAME.search(header).group(1) if NAME.search(header) else header
            )
            number = end
        number += 1


def sources():
    for folder, _, files in os.walk("src"):
        for file in sorted(files):
            if file.endswith((".h", ".c", ".cc")):
                yield os.path.join(folder, file)


def faults_of(what, found, limit, known):
    """found: (lines, where, name) of each file or function."""
    for length, where, name in found:
        most = known.get(name, limit)
        if length > most:
            yield f"{where}: {what} {name} has {length} lines, {most} are allowed"
    for name in sorted(known):
        if max((length for length, _, other in found if other == name), default=0) <= limit:
            yield f"{what} {name} is not too long any more: take it off the list of known ones"


def read_all():
    """(lines, where, name) of all files and of all functions."""
    files, found = [], []
    for path in sources():
        lines = open(path, encoding="utf-8").read().split("\n")[:-1]
        if path not in TABLES:
            files.append((len(lines), path, path))
        found += [(length, f"{path}:{first}", name) for first, length, name in functions(lines)]
    return files, found


def main():
    arguments = [one for one in sys.argv[1:] if one != "--all"]
    os.chdir(arguments[0] if arguments else os.environ.get("srcdir", "."))
    files, found = read_all()
    if "--all" in sys.argv:
        for length, where, name in found:
            print(f"{length}\t{where}\t{name}")
    faults = list(faults_of("file", files, FILE_LINES, KNOWN_FILES))
    faults += faults_of("function", found, FUNCTION_LINES, KNOWN_FUNCTIONS)
    print("\n".join(faults + [f"{len(files)} files, {len(found)} functions, {len(faults)} faults"]))
    return 1 if faults or len(found) < 1000 else 0


sys.exit(main())
