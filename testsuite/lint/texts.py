#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""report.h makes every text that users see on a pod (the comment there defines the boundary): fails
if a condition is made elsewhere under src/.

usage: texts.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory
"""
import os
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

HOME = "src/core/reconcile/report*.cc"
NAMES = "src/core/model/names.h"
# decoding a condition from the API server makes a Condition, too, but no text
READERS = ("src/codec/",)
REASON = re.compile(r'k_reason_(\w+)\[\] = "(\w+)";')
MADE = (
    (re.compile(r"\bk_reason_\w+\s*,"), "a reason with a text"),
    (re.compile(r"\bCondition(?:\s+\w+)?\s*\{\s*[^}\s]"), "a Condition of parts"),
    (re.compile(r"\bReport\s*\{\s*\{"), "a Report of parts"),
    (re.compile(r"[\w)>]\s*(?:\.|->)message\s*\+?=(?!=)"), "a text is changed"),
)


def literals(top):
    """A pattern for the reasons as string literals, which bypass names.h."""
    values = [value for _, value in REASON.findall((top / NAMES).read_text(encoding="utf-8"))]
    return re.compile('"(?:' + "|".join(values) + ')"'), values


def faults(text, patterns):
    for pattern, what in patterns:
        for match in pattern.finditer(text):
            # the definition of the structure is not an object
            if not re.search(r"\bstruct\s+$", text[: match.start()][-20:]):
                yield text.count("\n", 0, match.start()) + 1, what


def may_have_texts(name):
    return fnmatch(name, HOME) or name == NAMES or name.startswith(READERS)


def main():
    top = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
    literal, values = literals(top)
    patterns = MADE + ((literal, "a reason as a literal"),)
    found = 0
    for path in sorted(top.glob("src/**/*")):
        name = path.relative_to(top).as_posix()
        if path.suffix not in (".h", ".cc") or may_have_texts(name):
            continue
        for line, what in faults(path.read_text(encoding="utf-8"), patterns):
            found += 1
            print(f"{name}:{line}: {what}: it belongs into {HOME}")
    print(f"{len(values)} reasons, {found} texts outside {HOME}")
    return 1 if found or len(values) < 8 else 0


sys.exit(main())
