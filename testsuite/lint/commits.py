#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""New commits have messages that contribs/git-hooks/commit-msg accepts.

usage: commits.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory

New commits are those after SINCE that the checkout contains. Without git only the hook's own
examples are checked.
"""
import os
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

SINCE = "9c3a3fbd33c0"

# Messages, and whether each must be refused.
EXAMPLES = (
    ("agent: read the list again\n\nA list may be short.\n", 0),
    ("Read the list again\n", 1),
    ("Reads the list again\n\nA list may be short.\n", 1),
    ("Added a list\n\nIt was missing.\n", 1),
    ("Adding a list.\n\nIt was missing.\n", 2),
    ("Read a list that is so long that nobody can read it at one glance\n\nWhy.\n", 1),
    ("Read the list again\nA list may be short.\n\nWhy.\n", 1),
    ("Pass the focus\n\nWhy.\n", 0),
    ("Process the bias\n\nWhy.\n", 0),
    ("Seed the dice\n\n" + "word " * 17 + "\n", 1),
    (
        (
            "Seed the dice\n\n# a comment of git's that is longer than any line of a message may"
            " be, which does not count\nWhy.\n"
        ),
        0,
    ),
    ("Merge branch 'x'\n", 0),
    ("\n# nothing but comments\n", 1),
)


def hook_of(top):
    loader = SourceFileLoader("commit_msg", str(top / "contribs/git-hooks/commit-msg"))
    module = module_from_spec(spec_from_loader("commit_msg", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def git(top, *arguments):
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(top), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode == 0 else None


def new_commits(top):
    """[(hash, message)]; empty without git, or if the history does not contain SINCE."""
    if git(top, "rev-parse", "--verify", f"{SINCE}^{{commit}}") is None:
        return []
    told = git(top, "log", "--format=%h%x01%B%x00", f"{SINCE}..HEAD") or ""
    return [tuple(one.strip("\n").split("\x01", 1)) for one in told.split("\x00") if "\x01" in one]


def main():
    top = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", ".")).resolve()
    hook = hook_of(top)
    found = [
        f"example {text[:40]!r} has {hook.faults(text)}"
        for text, count in EXAMPLES
        if len(hook.faults(text)) != count
    ]
    commits = new_commits(top) if shutil.which("git") and (top / ".git").exists() else []
    for name, message in commits:
        found += [f"{name}: {fault}" for fault in hook.faults(message)]
    for line in found:
        print(line)
    print(f"{len(commits)} commits since {SINCE}, {len(found)} faults")
    sys.exit(1 if found else 0)


main()
