#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""No class of src has more than 25 public methods or 20 data members.

usage: classes.py [--all] [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory
--all prints every class: public methods, data members, file, name.

Constructors, destructors and operators are not counted. Structures are not checked, because they
hold data.
"""
import os
import re
import sys

METHODS = 25
MEMBERS = 20

HEAD = re.compile(r"^\s*class\s+(\w+)[^;{]*$")
ACCESS = re.compile(r"^\s*(public|protected|private):")
METHOD = re.compile(r"([~\w]+)\s*\([^;]*\)[^;()]*[;{]|([~\w]+)\s*\([^;)]*$")
MEMBER = re.compile(r"\b(\w+_)\b\s*(?:\[[^]]*\]\s*)?(?:=[^,;]*|\{[^}]*\})?\s*(?=[,;])")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def members_of(declaration):
    """The number of data members, names with a trailing underscore, in a declaration of a class."""
    head = declaration.split("=")[0].split("{")[0]
    return 0 if "(" in head else len(MEMBER.findall(declaration))


def is_method(declaration, name):
    found = METHOD.search(declaration)
    if (
        not found
        or "operator" in declaration
        or declaration.startswith(("using ", "friend ", "struct ", "class ", "enum "))
    ):
        return False
    called = found.group(1) or found.group(2)
    return called not in (name, "~" + name) and not called.endswith("_")


def classes(text):
    """(name, public methods, data members) of each class, nested ones included."""
    lines = COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text).split("\n")
    for number, line in enumerate(lines):
        head = HEAD.match(line)
        if not head or "{" not in "".join(lines[number : number + 3]):
            continue
        depth, access, methods, members, declaration = 0, "private", 0, 0, ""
        for inner in lines[number:]:
            change = ACCESS.match(inner)
            if change and depth == 1:
                access = change.group(1)
                continue
            if depth == 1:
                declaration += inner.strip() + " "
            depth += inner.count("{") - inner.count("}")
            if depth == 1 and re.search(r"[;}]\s*$", inner):
                methods += access == "public" and is_method(declaration, head.group(1))
                members += members_of(declaration)
                declaration = ""
            if depth == 0 and "}" in inner:
                break
        yield head.group(1), methods, members


def main():
    arguments = [one for one in sys.argv[1:] if one != "--all"]
    os.chdir(arguments[0] if arguments else os.environ.get("srcdir", "."))
    seen = faults = 0
    for folder, _, files in os.walk("src"):
        for file in sorted(files):
            if not file.endswith((".h", ".cc")):
                continue
            path = os.path.join(folder, file)
            for name, methods, members in classes(open(path, encoding="utf-8").read()):
                seen += 1
                if "--all" in sys.argv:
                    print(f"{methods:3} {members:3} {path}: {name}")
                if methods > METHODS or members > MEMBERS:
                    faults += 1
                    print(
                        f"{path}: class {name} has {methods} public methods and {members} data"
                        f" members: at most {METHODS} and {MEMBERS}"
                    )
    print(f"{seen} classes, {faults} too large")
    return 1 if faults or not seen else 0


sys.exit(main())
