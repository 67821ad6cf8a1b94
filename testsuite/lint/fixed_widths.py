#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""A file that uses std::uint32_t or the like includes <cstdint>, or a header of ours that does:
the standard libraries of newer compilers do not bring it along with <string> or <map>.

usage: fixed_widths.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory
"""
import os
import re
import sys
from pathlib import Path

USE = re.compile(r"\bstd::u?int(?:_fast|_least)?(?:8|16|32|64|ptr|max)_t\b")
OWN = re.compile(r'^#include "((?:src|testsuite)/[^"]+)"', re.MULTILINE)
HAS = re.compile(r"^#include <(?:cstdint|stdint\.h)>", re.MULTILINE)


def has_it(path, known):
    """Whether the file includes <cstdint>, itself or by headers of ours."""
    if path not in known:
        known[path] = False  # a circle ends here
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        known[path] = bool(HAS.search(text)) or any(
            has_it(Path(p), known) for p in OWN.findall(text)
        )
    return known[path]


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
    known, faults, seen = {}, 0, 0
    for top in ("src", "testsuite"):
        for path in sorted(Path(top).rglob("*.cc")) + sorted(Path(top).rglob("*.h")):
            seen += 1
            found = USE.search(path.read_text(encoding="utf-8"))
            if found and not has_it(path, known):
                faults += 1
                print(f"{path}: {found[0]}: include <cstdint>")
    print(f"{seen} files, {faults} faults")
    return 1 if faults or seen < 500 else 0


sys.exit(main())
