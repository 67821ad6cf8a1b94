# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods and native jobs on a hybrid node that start at random, and daemons that are killed."""
import os
import random
import signal
import time
from contextlib import suppress

from .cpusets import CPUSETS, status_of
from .expect import LIVE, uid_of
from .hybrid_testbed import SLOW
from .kube import ApiError
from .tap import equal

# ends late, so that its processor would be shared if Slurm gave it to another at once
UNTIL_TERM = "trap 'sleep 1; exit 0' TERM; while :; do sleep 0.05; done"

KILL_PAUSE = 2.0  # seconds between two kills


class Crowd:
    """Pods and native jobs that start at random, and end by themselves, by scancel, or by their
    deletion. So many live at a time that some always wait.
    """

    def __init__(self, bed, seed, most=5):
        self.bed, self.random, self.most = bed, random.Random(seed), most
        self.started, self.pods, self.jobs = 0, {}, set()
        self.counts = {}

    def step(self, may_start):
        if may_start and len(self.pods) + len(self.jobs) < self.most:
            self.start()
        elif self.random.random() < 0.3:
            self.end_one()
        self.forget()
        time.sleep(0.1)

    def start(self):
        self.started += 1
        seconds = self.random.choice((0, 1, 2, 600))
        if self.random.random() < 0.5:
            name = f"crowd-{self.started}"
            end = f"sleep {seconds}" if seconds < 10 else UNTIL_TERM
            self.pods[name] = self.bed.make(name, end, spec={"terminationGracePeriodSeconds": 5})
            self.count("pod")
        else:
            self.jobs.add(self.bed.start_native(f"exec srun sleep {seconds}"))
            self.count("native")

    def end_one(self):
        live = {int(n): j for n, j in self.bed.slurm.jobs().items() if j["JobState"] in LIVE}
        if not live:
            return
        number = self.random.choice(sorted(live))
        names = [
            n
            for n, made in self.pods.items()
            if uid_of(made) in live[number].get("AdminComment", "")
        ]
        if names and self.random.random() < 0.5:
            self.delete(names[0])
            self.count("delete")
        else:
            self.bed.slurm.run("scancel", str(number))
            self.count("scancel")

    def forget(self):
        """Removes what has ended."""
        live = {n for n, job in self.bed.slurm.jobs().items() if job["JobState"] in LIVE}
        self.jobs &= live
        for name in list(self.pods):
            seen = self.bed.kube.now["Pod"].get(f"default/{name}")
            if not seen:
                del self.pods[name]
            elif seen["status"]["phase"] in ("Succeeded", "Failed"):
                self.delete(name)

    def delete(self, name):
        with suppress(ApiError):  # it has gone since it was seen
            self.bed.kube.delete("Pod", name)

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def run(self, is_enough, each_step=lambda: None):
        while not is_enough():
            self.step(True)
            each_step()

    def wait_ended(self):
        """Ends all."""
        end = time.monotonic() + SLOW
        while (self.pods or self.jobs) and time.monotonic() < end:
            self.step(False)
        equal((sorted(self.pods), sorted(self.jobs)), ([], []), "what did not end")


def _kill_slurmstepd(bed):
    """That of a pod's job, if one runs; native jobs are called wrap. Slurm leaves the job's cgroup
    behind, and ends the job when it asks the node for it.
    """
    for row in bed.slurm.run("squeue", "-ht", "running", "-o%A %j").splitlines():
        number, name = row.split(maxsplit=1)
        if name == "wrap":
            continue
        for file in CPUSETS.glob(f"slurm_{bed.node}/uid_*/job_{number}/**/cgroup.procs"):
            for pid in map(int, file.read_text().split()):
                if status_of(pid, "Name") == "slurmstepd":
                    os.kill(pid, signal.SIGKILL)
                    return


class Killer:
    """Kills each daemon, in an order that the seed decides, and starts it again after a moment."""

    def __init__(self, bed, seed, rounds):
        self.bed, self.random = bed, random.Random(seed)
        self.order = [name for _ in range(rounds) for name in self._shuffled()]
        self.next, self.away = time.monotonic() + KILL_PAUSE, None

    def _shuffled(self):
        return self.random.sample(sorted(self.daemons()), len(self.daemons()))

    @property
    def is_done(self):
        return not self.order and not self.away

    def step(self):
        if time.monotonic() < self.next:
            return
        if self.away:
            self.daemons()[self.away][1]()
            self.away, self.next = None, time.monotonic() + KILL_PAUSE
        elif self.order:
            self.away = self.order.pop()
            self.daemons()[self.away][0]()
            self.next = time.monotonic() + self.random.choice((0.0, 0.5, 1.5))

    def daemons(self):
        bed = self.bed
        plane = bed.plane
        return {
            "agent": (bed.agent.kill9, lambda: bed.agent.start(wait=False)),
            # restarted at once, because the test asks it. One that is killed forgets what it has
            # not saved (facts.md 74), and gives the processors of jobs that run away.
            "slurmctld": (bed.slurm.restart, lambda: None),
            "slurmd": (bed.slurm.slurmd.kill9, bed.slurm.slurmd.start),
            "slurmstepd": (lambda: _kill_slurmstepd(bed), lambda: None),
            "slurmkube-node": (bed.helper.kill9, bed.helper.start),
            "kubelet": (
                lambda: plane.kubelet(bed.node, "--kill"),
                lambda: plane.kubelet(bed.node, "--start"),
            ),
            "container runtime": (
                lambda: plane.runtime(bed.node, "--kill"),
                lambda: plane.runtime(bed.node, "--start"),
            ),
        }
