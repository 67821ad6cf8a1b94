# SPDX-License-Identifier: GPL-2.0-or-later
"""What scontrol shows while torture goes on."""
import threading

from history_checker.clusters import cluster_of

from .load import NOT_NOW


class Pictures:
    """The output of scontrol for all jobs, every two seconds, by which the checker assigns jobs to
    pods.
    """

    def __init__(self, slurm, truth):
        self.slurm, self.truth, self.now = slurm, truth, {}
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self.thread.start()

    def take(self):
        self.now = self.slurm.jobs()
        self.truth.picture(self.now)

    def of(self, cluster):
        """{number: fields} of the jobs of one cluster; None: all jobs."""
        return {n: f for n, f in self.now.items() if not cluster or cluster_of(f) == cluster}

    def _run(self):
        while not self.stopped.wait(2):
            try:
                self.take()
            except NOT_NOW:
                pass

    def stop(self):
        self.stopped.set()
        self.thread.join(60)
