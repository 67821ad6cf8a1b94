#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources are formatted as clang-format and black do it, and flake8 and shellcheck find nothing.

usage: format.py [SOURCE_DIR]      SOURCE_DIR defaults to $srcdir or the current directory

Formatters of another version format otherwise; such and missing tools are named and left out. Exit
status 77, a skipped test: none of the four could run. .clang-format, pyproject.toml and .flake8
have the settings.
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
    series: str  # how its version begins
    at_a_time: int


# the slowest first, since two run at a time
TOOLS = (
    Tool(("black", "--check", "--workers=1", "--config=pyproject.toml"), "Python", "23.1.", 50),
    Tool(("flake8", "--jobs=1"), "Python", "", 50),
    Tool(("shellcheck", "-x"), "shell", "", 8),
    Tool(("clang-format", "--dry-run", "-Werror"), "C", "14.", 100),
)
# what black says besides the names of files
NOISE = re.compile(r"^(All done!|Oh no!|\d+ files? |$)")


def version_of(program):
    """None: there is no such program."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except OSError:
        return None
    found = re.search(r"\d+\.[\d.]+", done.stdout)
    return found.group() if found else "of unknown version"


def usable(tools):
    """Those that can run; names the others."""
    for tool in tools:
        version = version_of(tool.command[0])
        if version is None:
            print(f"{tool.command[0]} is not installed: left out")
        elif not version.startswith(tool.series):
            print(f"{tool.command[0]} is {version}, not {tool.series}x: left out")
        else:
            yield tool


def runs(tools, by_language):
    """The commands: each tool with some of its files."""
    for tool in tools:
        files = by_language[tool.language]
        for first in range(0, len(files), tool.at_a_time):
            yield [*tool.command, *files[first : first + tool.at_a_time]]


def complaint(top, command):
    """What the command says; None where all is well."""
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
