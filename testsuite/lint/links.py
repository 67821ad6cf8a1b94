#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""References within the tree have a target: paths of files, links and anchors in documents, section
numbers, and numbers of facts and decisions.

usage: links.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory

The lint reads documents, manual pages, C, C++, Python and scripts: the files that git knows, or
without git all files of the tree. A path from the top (src/core/world/state.h) must exist wherever
it occurs. In documents and comments, a path from a folder of src (core/world/state) and a file name
with or without its folder (world/state.h, state.h) must exist, too. "*" and words in capitals
(test_NAME.py) match anything; programs and source
files that a build creates count as existing.
"""
import io
import os
import re
import subprocess
import sys
import tokenize
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

TOPS = ("src", "testsuite", "doc", "contribs", "etc")
DOCUMENTS = (".md", ".scd")
C_LIKE = (".h", ".c", ".cc")
# folders of Slurm's own tree, which our comments mention, too
OF_SLURM = ("src/slurmctld", "src/common", "src/interfaces")
# input for tests, in which paths have no meaning
UNREAD = "testsuite/fuzz/corpus/"
FACTS = "doc/design/facts.md"
DECISIONS = "doc/design/decisions"

START = r"(?<![\w./$}~<>-])"
PART = r"[\w.*+-]+"
# folders with which a path in a comment may begin
IN_SRC = re.compile(r"src/(?:(?:core|agent)/)?[a-z_]+")
# folders named as kinds of objects, which documents have before a slash, too
KINDS = {"node"}
# a path from the top; a file of a kind that we have, with or without its folder
PATH = re.compile(START + rf"((?:{'|'.join(TOPS)})/(?:{PART}/)*(?:{PART})?)")
FILE = re.compile(START + r"((?:[\w*-]+/)*[\w*-]+\.(?:md|scd|h|cc|py|sh))\b(?![\w/(])")
FACT = re.compile(r"\b(?:facts\.md,?|facts?)\s+(\d+)\b")
DECISION = re.compile(r"\b[Dd]ecisions?\s+(\d+(?:(?:,|\s+and)\s+\d+)*)")
SECTION = re.compile(r"([\w/.-]+\.md),?\s+section\s+(\d+)")
LINK = re.compile(r"\]\(([^)\s]*)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.M)
CODE_BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
COMMENT_OF_C = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
COMMENT_OF_SHELL = re.compile(r"(?:^|\s)#.*")
# how a comment continues in the next line
NEXT_LINE = re.compile(r"\n[ \t]*(?:\*(?!/)|//|#)?[ \t]*")
CAPITALS = re.compile(r"(?<![A-Za-z])[A-Z]+(?![a-z])")

# Documents, and the number of complaints that each must get.
EXAMPLES = (
    ("src/core/world/world.h and src/core/world/", 0),
    ("src/core/world/no_such.h, which", 1),
    ("a target is testsuite/fuzz/fuzz_NAME.cc", 0),
    ("a target is testsuite/fuzz/none_NAME.cc", 1),
    ("world/*.cc, core/model/pod and core/model/pod.h", 0),
    ("core/model/no_such and world/no_such.h say so", 2),
    ("core/v1 and policy/v1 of the API", 0),
    ("no_such.md says so, world.h does", 1),
    ("/etc/no_such, $DIR/etc/no_such, a/etc/no_such, https://example.org/doc/no_such", 0),
    ("Slurm's src/slurmctld/job_mgr.c and src/common", 0),
    ("facts.md 1, fact\n2, facts.md 100000", 1),
    ("decision 1, Decisions 2, 3 and 9999, decision\n77", 2),
    ("doc/design/protocol.md, section 1; protocol.md section 99", 1),
    ("[a](doc/design/facts.md) [b](no_such.md) [c](https://example.org/x#y)", 1),
    ("# A `b`\n[a](#a-b) [b](#b) [c](doc/design/facts.md#facts) [d](doc/design/facts.md#f)", 2),
)


# files that autotools leave at the top
GENERATED = re.compile(r"configure~?|.*\.in~?|.*\.m4|config\..*")


def listed_by_git(top):
    """The files that are tracked or not ignored. None: there is no git."""
    command = ["git", "-c", "safe.directory=*", "-C", str(top), "ls-files", "-z", "-c", "-o"]
    try:
        done = subprocess.run([*command, "--exclude-standard"], capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout.decode().split("\0")[:-1] if done.returncode == 0 else None


def files_of(top):
    names = listed_by_git(top) if (top / ".git").exists() else None
    if names is None:
        found = [path for path in top.glob("*") if not GENERATED.fullmatch(path.name)]
        found += [path for folder in TOPS for path in (top / folder).rglob("*")]
        names = [path.relative_to(top).as_posix() for path in found]
    return sorted({name for name in names if (top / name).is_file()})


def is_read(top, name):
    path = PurePosixPath(name)
    if name.startswith(UNREAD):
        return False
    if path.suffix in (*DOCUMENTS, *C_LIKE, ".py", ".sh"):
        return True
    with open(top / name, "rb") as file:
        return not path.suffix and file.read(2) == b"#!"


def comments_of_c(text):
    for found in COMMENT_OF_C.finditer(text):
        if not found.group().startswith('"'):
            yield text.count("\n", 0, found.start()) + 1, found.group()


def comments_of_python(text):
    """Comments and all strings in three quotes, whatever their purpose."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_long = token.type == tokenize.STRING and '"""' in token.string[:4]
        if is_long or token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def comments_of_shell(text):
    for number, line in enumerate(text.split("\n"), 1):
        for found in COMMENT_OF_SHELL.finditer(line):
            yield number, found.group()


def comments(name, text):
    """(number of its first line, text) of each part that is written for readers."""
    suffix = PurePosixPath(name).suffix
    if suffix in DOCUMENTS:
        return [(1, text)]
    if suffix in C_LIKE:
        return comments_of_c(text)
    is_python = suffix == ".py" or "python" in text.split("\n", 1)[0]
    return comments_of_python(text) if is_python else comments_of_shell(text)


def anchors_of(text):
    """The anchors that GitHub makes from headings."""
    for heading in HEADING.findall(CODE_BLOCK.sub("", text)):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        yield re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")


def is_among(path, names):
    path = path.rstrip("/.+-")
    pattern = CAPITALS.sub("*", path)
    return path in names or ("*" in pattern and any(fnmatchcase(n, pattern) for n in names))


def ends_of(name):
    """For "src/core/pod.h": "core/pod.h", "core/pod", "pod.h", "pod" and so on."""
    parts = PurePosixPath(name).parts
    for first in range(len(parts)):
        end = "/".join(parts[first:])
        yield from (end, end.rpartition(".")[0] if end.endswith(C_LIKE) else end)


class Tree:
    def __init__(self, top):
        self.top = top
        self.files = files_of(top)
        self.names = {*self.files, *self._folders(), *self._built()}
        self.ends = {end for name in self.names for end in ends_of(name)}
        folders = {n.split("/")[-1] for n in self.names if IN_SRC.fullmatch(n)} - KINDS
        self.in_src = re.compile(START + rf"((?:{'|'.join(sorted(folders))})(?:/{PART})+)")
        self.facts = re.findall(r"^\*\*(\d+)\.\*\*", self.text(FACTS), re.M)
        self.decisions = [n for n in self.files if re.match(DECISIONS + r"/\d{4}-", n)]
        self.numbers_of_decisions = [str(int(PurePosixPath(n).name[:4])) for n in self.decisions]

    def text(self, name):
        return (self.top / name).read_text(encoding="utf-8")

    def _folders(self):
        return {str(folder) for name in self.files for folder in PurePosixPath(name).parents}

    def _built(self):
        """The programs and source files that the makefile fragments make."""
        for name in self.files:
            lines = self.text(name).split("\n") if name.endswith(".mk") else []
            folder = PurePosixPath(name).parent
            is_of_tests = any("_test_programs = " in line for line in lines)
            for line in lines:
                yield from line.split()[2:] if "_PROGRAMS +=" in line else []
                made = re.match(r"%D%/(\S+\.inc):|\s+%D%/((?:unity|groups)/\S+)", line)
                yield from [str(folder / (made.group(1) or made.group(2)))] if made else []
                test = re.match(r"\s+%D%/(test_\w+)\.cc", line)
                yield from [str(folder / test.group(1))] if test and is_of_tests else []

    def has_section(self, page, number):
        pages = (n for n in self.files if n == page or n.endswith("/" + page))
        return any(re.search(rf"^## {number}\.", self.text(n), re.M) for n in pages)


def dead_path(tree, path):
    if not path.startswith(OF_SLURM) and not is_among(path, tree.names):
        return f"there is no {path}"
    return None


def dead_end(tree, path):
    is_foreign = path.startswith(OF_SLURM) or re.search(r"/v\d", path)
    return None if is_foreign or is_among(path, tree.ends) else f"there is no {path}"


def dead_fact(tree, number):
    return None if number in tree.facts else f"{FACTS} has no fact {number}"


def dead_decisions(tree, numbers):
    dead = [n for n in re.findall(r"\d+", numbers) if n not in tree.numbers_of_decisions]
    return f"there is no decision {', '.join(dead)}" if dead else None


def dead_section(tree, page, number):
    return None if tree.has_section(page, number) else f"{page} has no section {number}"


def dead_link(tree, name, text, target):
    path, _, anchor = target.partition("#")
    page = os.path.normpath(PurePosixPath(name).parent / path) if path else name
    if re.match(r"\w+:", target):
        return None
    if path and page not in tree.names:
        return f"there is no {path}"
    there = tree.text(page) if path and anchor else text
    return (
        f"{page} has no heading #{anchor}" if anchor and anchor not in anchors_of(there) else None
    )


def complaints(tree, name, text):
    """(line, complaint or None) for each reference."""

    def each(pattern, judge, part=text, first=1):
        for found in pattern.finditer(part):
            yield first + part.count("\n", 0, found.start()), judge(*found.groups())

    yield from each(PATH, lambda path: dead_path(tree, path))
    if name.endswith(".md"):
        yield from each(LINK, lambda target: dead_link(tree, name, text, target))
    for first, comment in comments(name, text):
        part = NEXT_LINE.sub("\n", comment)
        yield from each(FILE, lambda path: dead_end(tree, path), part, first)
        yield from each(tree.in_src, lambda path: dead_end(tree, path), part, first)
        yield from each(FACT, lambda number: dead_fact(tree, number), part, first)
        yield from each(DECISION, lambda numbers: dead_decisions(tree, numbers), part, first)
        yield from each(SECTION, lambda *words: dead_section(tree, *words), part, first)


def faults_of(tree, name, text):
    found = {(line, what) for line, what in complaints(tree, name, text) if what}
    return [f"{name}:{line}: {what}" for line, what in sorted(found)]


def faults_of_numbers(tree):
    """Each number denotes one thing, and the index lists every decision with its status."""
    for where, numbers in ((FACTS, tree.facts), (DECISIONS, tree.numbers_of_decisions)):
        twice = sorted({n for n in numbers if numbers.count(n) > 1})
        yield from (f"{where}: number {n} stands twice" for n in twice)
    index = tree.text(f"{DECISIONS}/README.md")
    for name in tree.decisions:
        status = re.search(r"^Status: ([^.,;]+)", tree.text(name), re.M)
        if not status:
            yield f"{name}: has no line 'Status: ...'"
        elif f"]({PurePosixPath(name).name}) | {status.group(1)} |" not in index:
            yield f"{DECISIONS}/README.md: {name} is missing, or has another status there"


def faults_of_examples(tree):
    for text, count in EXAMPLES:
        found = faults_of(tree, "example.md", text)
        if len(found) != count:
            yield f"example {text!r} gets {found}"


def main():
    top = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
    tree = Tree(top)
    read = [name for name in tree.files if is_read(top, name)]
    faults = [*faults_of_examples(tree), *faults_of_numbers(tree)]
    for name in read:
        # the examples in this file are wrong on purpose
        if name != "testsuite/lint/links.py":
            faults += faults_of(tree, name, tree.text(name))
    print("\n".join([*faults, f"{len(read)} files, {len(faults)} faults"]))
    return 1 if faults or len(read) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
