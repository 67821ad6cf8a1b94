# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld restarts with an older state: all later changes are lost."""
import shutil
import signal
import time

from .waiting import wait_for


class Restore:
    """Slurm's state at one moment, to be restored later. The agent is stopped meanwhile, so that
    the test can act before it does. away: a list that gets (from, until) of the time without
    slurmctld.
    """

    def __init__(self, bed, away):
        self.away = away
        self.bed, self.state, self.copy = bed, bed.dir / "state", bed.dir / "state.old"
        bed.wait_saved()
        wait_for(self._copied, "a copy of the state while slurmctld writes none")

    def _copied(self):
        """slurmctld writes each file under another name and renames it: a name may be gone before
        it is copied.
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
