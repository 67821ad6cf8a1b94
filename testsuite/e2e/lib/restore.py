# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld comes back with an older state: what it had been told since then is lost."""
import shutil
import signal
import time

from .waiting import wait_for


class Restore:
    """What Slurm knew at one moment, to be put back later. The agent stands still meanwhile, so
    that the test can be faster than it. away: a list that gets (from, until) of the time without
    it.
    """

    def __init__(self, bed, away):
        self.away = away
        self.bed, self.state, self.copy = bed, bed.dir / "state", bed.dir / "state.old"
        bed.wait_saved()
        wait_for(self._copied, "a copy of the state while slurmctld writes none")

    def _copied(self):
        """slurmctld writes each file beside the old one and renames it: a name may be gone when its
        turn comes.
        """
        shutil.rmtree(self.copy, ignore_errors=True)
        try:
            shutil.copytree(self.state, self.copy)
        except shutil.Error:
            return False
        return True

    def __enter__(self):
        self.since = time.time()
        self.bed.agent.daemon.signal(signal.SIGSTOP)
        self.bed.slurm.kill9()
        shutil.rmtree(self.state)
        shutil.copytree(self.copy, self.state)
        self.bed.slurm.start_slurmctld()
        return self

    def __exit__(self, *_):
        self.bed.agent.daemon.signal(signal.SIGCONT)
        self.away.append((self.since, time.time()))
