# SPDX-License-Identifier: GPL-2.0-or-later
"""Time stamps as seconds since the epoch."""
from datetime import datetime


def seconds(text):
    """Of RFC 3339, as the API server and slurmctld (LogTimeFormat=rfc5424_ms) write it. Without a
    zone it is this machine's, as scontrol, sacct and jobcomp print it. Python before 3.11 does not
    know the zone Z.
    """
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def seconds_or_zero(text):
    """The same; 0 if Slurm knows no time (Unknown, None, or no field)."""
    return seconds(text) if text and "T" in text else 0.0
