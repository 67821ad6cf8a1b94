#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources are formatted as by clang-format and black, and flake8 and shellcheck find nothing.

usage: format.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory

Other versions of the formatters format differently. A tool that is missing or has another version
is named and left out. Exit status 77, a skipped test: none of the four tools could run. The
settings are in .clang-format, pyproject.toml and .flake8.
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from sources import sources


class Tool(NamedTuple):
    command: tuple
    language: str
    series: str  # the beginning of its version
    at_a_time: int


# the slowest first, because two run at a time
TOOLS = (
    Tool(("black", "--check", "--workers=1", "--config=pyproject.toml"), "Python", "23.1.", 50),
    Tool(("flake8", "--jobs=1"), "Python", "", 50),
    Tool(("shellcheck", "-x"), "shell", "", 8),
    Tool(("clang-format", "--dry-run", "-Werror"), "C", "14.", 100),
)
# what black prints besides the names of files
NOISE = re.compile(r"^(All done!|Oh no!|\d+ files? |$)")


def version_of(program):
    """None: the program does not exist."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except OSError:
        return None
    found = re.search(r"\d+\.[\d.]+", done.stdout)
    return found.group() if found else "of unknown version"


def usable(tools):
    """The tools that can run; prints the names of the others."""
    for tool in tools:
        version = version_of(tool.command[0])
        if version is None:
            print(f"{tool.command[0]} is not installed: left out")
        elif not version.startswith(tool.series):
            print(f"{tool.command[0]} is {version}, not {tool.series}x: left out")
        else:
            yield tool


def runs(tools, by_language):
    """The commands: each tool with a part of its files."""
    for tool in tools:
        files = by_language[tool.language]
        for first in range(0, len(files), tool.at_a_time):
            yield [*tool.command, *files[first : first + tool.at_a_time]]


def complaint(top, command):
    """The output of the command; None if it found nothing."""
    done = subprocess.run(
        command,
        cwd=top,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return None
    said = [line for line in done.stdout.splitlines() if not NOISE.match(line)]
    return "\n".join(said) or f"{command[0]} ended with {done.returncode}"


def main():
    top = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir", "."))
    tools = list(usable(TOOLS))
    if not tools:
        sys.exit(77)
    commands = list(runs(tools, sources(top)))
    with ThreadPoolExecutor(max_workers=2) as pool:
        said = [one for one in pool.map(lambda c: complaint(top, c), commands) if one]
    names = ", ".join(tool.command[0] for tool in tools)
    print("\n".join(said + [f"{names}: {'faults' if said else 'no faults'}"]))
    sys.exit(1 if said else 0)


main()
