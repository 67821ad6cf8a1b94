# SPDX-License-Identifier: GPL-2.0-or-later
"""Text that Slurm writes: slurmctld's log, job states, exit codes."""
import re

from .times import seconds

LIVE = ("PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING")
_STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\dT\S+?)\] (.*)$")


def log_lines(path):
    """(seconds, text) of each line of slurmctld's log that has a time stamp."""
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            found = _STAMP.match(line.rstrip("\n"))
            if found:
                yield seconds(found.group(1)), found.group(2)


def log_matches(path, pattern):
    """(seconds, match) of each line of slurmctld's log in which the pattern is found."""
    for when, text in log_lines(path):
        if found := re.search(pattern, text):
            yield when, found


def as_sacct_prints(code):
    """sacct subtracts 128 from exit codes of 128 and more, which is how a shell tells of a signal.
    scontrol does not. sacct of 26.05 does not either.
    """
    number, signal = map(int, code.split(":"))
    return f"{number - 128 if number >= 128 else number}:{signal}"
