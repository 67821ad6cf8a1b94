# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU seconds and peak memory of daemons over a period, from /proc."""
import os
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    """Seconds of user and system time since the start of the process; 0 if it is gone."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / _TICK


def peak_of(pid):
    """Peak resident memory since reset_peak(), in MiB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def reset_peak(pid):
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        pass


class Stretch:
    """names: {name: function that returns the process id, or None}. Create it at the beginning,
    call used() at the end.
    """

    def __init__(self, names):
        self.names = names
        self.begin = {}
        for name, pid in self._pids().items():
            reset_peak(pid)
            self.begin[name] = (pid, cpu_of(pid))

    def _pids(self):
        return {name: pid() for name, pid in self.names.items() if pid()}

    def used(self):
        """{name: (CPU seconds, peak MiB)}. A process that was started meanwhile counts from its
        start.
        """
        found = {}
        for name, pid in self._pids().items():
            before = self.begin.get(name)
            found[name] = (
                cpu_of(pid) - (before[1] if before and before[0] == pid else 0.0),
                peak_of(pid),
            )
        return found
