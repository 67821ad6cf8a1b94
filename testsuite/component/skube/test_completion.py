#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_completion.py [BUILD_DIR]: what bash completes after skube, with an agent that has two pods
and two nodes. The words are compared with those of the real skube. Prints TAP.
"""

import os
import re
import subprocess
import sys

from fixture import DIR, SKUBE, SOURCE, check, finish

FAKE = """#!/bin/sh
case $* in
"show pods -o name") echo lab/a; echo lab/b; echo 'lab/$(touch$IFS"$HIT")'; echo physics/c ;;
"show nodes -o name") echo n1; echo n2 ;;
*) exit 1 ;;
esac
"""
HIT = os.path.join(DIR, "hit")  # a name that is run as a command makes it
COMPLETE = """
. "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_skube 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(line, path=None):
    """The words that bash offers for the last word of the line."""
    result = subprocess.run(
        [
            "bash",
            "-c",
            COMPLETE,
            "bash",
            os.path.join(SOURCE, "contribs", "completion", "skube.bash"),
            *line.split(" "),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{path or DIR}:/usr/bin:/bin", "HIT": HIT},
    )
    return result.stdout.split()


def words_of_error(*words):
    """The names that the real skube lists when it refuses a word."""
    error = subprocess.run([SKUBE, *words], capture_output=True, text=True, check=False).stderr
    return re.split(r", ", error.partition("there are ")[2].rpartition(" (")[0])


def test_names_are_not_run():
    """A pod may have any name that an agent tells, and a kubeconfig may come from others."""
    check("words of others", completed("skube why lab/") == ["lab/a", "lab/b"])
    check("no command is run", not os.path.exists(HIT))


def test_names():
    for line, words in (
        ("skube why ", ["lab/a", "lab/b", "physics/c", "node/n1", "node/n2"]),
        ("skube why lab/", ["lab/a", "lab/b"]),
        ("skube why node/", ["node/n1", "node/n2"]),
        ("skube show pods -n ", ["lab", "physics"]),
        ("skube show jobs --node ", ["n1", "n2"]),
        ("skube show pods --output ", ["wide", "name", "json", "yaml"]),
        ("skube check -o ", ["json", "yaml"]),
        ("skube show ", ["jobs", "pods", "nodes"]),
        ("skube explain ", ["options"]),
    ):
        found = [word for word in completed(line) if not word.startswith("--")]
        check(f"'{line}' offers {' '.join(words)}", found == words, found)
    check("root is a user", "root" in completed("skube show jobs -u ro"))
    nothing = completed("skube why l", path="/nonexistent")
    check("without an agent there are no names, and no errors", nothing == [], nothing)


def test_words_of_skube():
    """skube accepts each option and state that is offered; every column is offered."""
    for what in ("jobs", "pods", "nodes"):
        options = [word for word in completed(f"skube show {what} --") if word.startswith("--")]
        check(f"show {what} has options", len(options) >= 8, options)
        for option in options:
            plain = option in ("--json", "--watch", "--active", "--all-namespaces")
            given = [option] if plain else [f"{option}=/"]
            error = subprocess.run(
                [SKUBE, "--socket", f"{DIR}/none", "show", what, *given],
                capture_output=True,
                text=True,
                check=False,
            ).stderr
            check(
                f"show {what} takes {option}",
                "takes no option" not in error and "unknown" not in error,
                error,
            )
        columns = [word.lower() for word in words_of_error("show", what, "--sort=/")]
        check(
            f"--sort of {what} offers every column",
            completed(f"skube show {what} --sort ") == columns,
            columns,
        )
        states = {word.upper() for word in completed(f"skube show {what} --state ")}
        known = set(words_of_error("show", what, "--state=/"))
        check(f"--state of {what} offers known states", states and states <= known, states - known)


with open(f"{DIR}/skube", "w", encoding="utf-8") as program:
    program.write(FAKE)
os.chmod(f"{DIR}/skube", 0o755)
for test in (test_names, test_names_are_not_run, test_words_of_skube):
    test()
os.unlink(f"{DIR}/skube")
sys.exit(finish())
