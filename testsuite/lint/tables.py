#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests named in the tables of doc/user.md exist: a case by the words of its name, a file of
testsuite/e2e by its name, "unit test_x" and "oracle". So do the tests that test_options.py names
for options that it does not test itself.

usage: tables.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory

A cell of the column "test" is a list separated by commas or semicolons: "`cron job`", "test_claims:
missing claim is waited for", "of those who waited together" (the end of a name is enough, "... with
unlike leader" too). A case without a file belongs to the file before it; after a semicolon, to one
of the files that the section's text names.
"""
import os
import re
import sys
from pathlib import Path

FILE = re.compile(r"test_\w+")


def cases(path):
    """The names of the cases in a file, as words."""
    return [
        name.replace("_", " ")
        for name in re.findall(r"^def test_(\w+)\(", path.read_text(encoding="utf-8"), re.M)
    ]


def rows(text):
    """(text of the section, cell "test") for each row of each table that has this column."""
    for section in re.split(r"^## ", text, flags=re.M):
        column, prose = None, re.sub(r"^\|.*$", "", section, flags=re.M)
        for line in section.splitlines():
            cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not cells:
                column = None
            elif column is None:
                column = cells.index("test") if "test" in cells else -1
            elif column >= 0 and not set(line) <= set("|-: "):
                yield prose, cells[column]


class Table:
    def __init__(self, top):
        self.e2e, self.unit = top / "testsuite/e2e", top / "testsuite/unit"
        self.oracle = top / "testsuite/component/oracle/test_oracle.py"

    def faults(self, text):
        for prose, cell in rows(text):
            yield from self._faults_of_cell(FILE.findall(prose), cell)

    def faults_of_options(self):
        """Checks ELSEWHERE of test_options.py, which names a file or one of its own cases for each
        option: "gang": "test_gangs".
        """
        text = (self.e2e / "test_options.py").read_text(encoding="utf-8")
        block = re.search(r"^ELSEWHERE = \{(.*?)^\}", text, re.M | re.S).group(1)
        for name in FILE.findall(block):
            if not (self.e2e / f"{name}.py").exists() and f"def {name}(" not in text:
                yield f"test_options.py: ELSEWHERE names {name}, which does not exist"

    def _faults_of_cell(self, section_files, cell):
        for part in cell.replace("`", "").replace(".py", "").split(";"):
            yield from self._faults_of_list(
                [f for f in section_files if (self.e2e / f"{f}.py").exists()], part
            )

    def _faults_of_list(self, files, part):
        for words in map(str.strip, part.split(",")):
            if words.startswith("unit test_"):
                if not (self.unit / f"{words[5:]}.cc").exists():
                    yield f"there is no testsuite/unit/{words[5:]}.cc"
                continue
            named = FILE.match(words)
            if named:
                if not (self.e2e / f"{named.group()}.py").exists():
                    yield f"there is no testsuite/e2e/{named.group()}.py"
                    continue
                files, words = [named.group()], words[named.end() :].lstrip(": ")
            yield from self._faults_of_case(files, words)

    def _faults_of_case(self, files, words):
        words = words.removeprefix("... ")
        if not words or (words == "oracle" and self.oracle.exists()):
            return
        known = [case for f in files for case in cases(self.e2e / f"{f}.py")]
        if not any(re.search(rf"(^|\s){re.escape(words)}($|\s)", case) for case in known):
            yield f"'{words}' is no case of {', '.join(files) or 'any file that is named'}"


def main():
    top = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
    text = (top / "doc/user.md").read_text(encoding="utf-8")
    found = list(rows(text))
    table = Table(top)
    faults = [f"doc/user.md: {fault}" for fault in table.faults(text)] + list(
        table.faults_of_options()
    )
    if len(found) < 60:
        faults.append(f"doc/user.md: only {len(found)} rows with tests were understood")
    print("\n".join(faults) or f"{len(found)} rows name tests that exist")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
