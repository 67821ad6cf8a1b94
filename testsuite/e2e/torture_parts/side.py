# SPDX-License-Identifier: GPL-2.0-or-later
"""One Kubernetes cluster under torture: its users, its recorder, and what the test did to it."""
import time

from history_checker.clusters import KubeCluster
from history_checker.faults import Deeds
from history_checker.history import History
from history_checker.rules import Violation
from lib import pod, wait_for
from lib.process import TESTSUITE, Process

from .judge import Uses, settle
from .load import POOLS, Load


class Side:
    """bed: a Cluster; with other clusters under the same slurmctld, it has a name."""

    def __init__(self, bed):
        self.bed, self.deeds = bed, Deeds()
        self.file = bed.dir / "history.jsonl"
        self.recorder = self.uses = self.load = None
        self.found = []  # violations

    def prepare(self):
        """Labels the nodes, begins to record, and runs one pod through its whole life, so that
        descriptors opened only once are open.
        """
        kube = self.bed.kube
        for i, name in enumerate(self.bed.names):
            kube.patch("Node", name, {"metadata": {"labels": {"pool": POOLS[i % len(POOLS)]}}})
        self._record()
        kube.create(pod("first", kwok={"run": "10ms"}))
        kube.wait_phase("first", "Succeeded")
        kube.delete("Pod", "first")
        kube.wait_gone("first")

    def _record(self):
        plane = self.bed.plane
        secrets = [plane.dir / "pki/ca.crt", plane.dir / "tokens/admin"]
        program = TESTSUITE / "e2e/history_checker/recorder.py"
        self.recorder = Process(
            "recorder",
            [program, plane.port, *secrets, self.file],
            self.bed.dir / "log/recorder.out",
        )
        self.recorder.start()
        wait_for(lambda: '"start"' in self.file.read_text(), "the recorder to begin")

    def measure(self, pictures, seed):
        """At rest, before the load."""
        self.uses = Uses(self.bed)
        self.load = Load(self.bed, self.deeds, pictures, seed, self.bed.names)

    def settle(self):
        self.found += settle(self.bed, self.load, self.deeds)

    def end(self, pods):
        """pods: how many were created in all clusters."""
        self.found += self.uses.violations(pods)
        if not self.recorder.alive():
            self.found.append(Violation("history", "the recorder died", time.time()))
        self.recorder.stop()

    def kube_cluster(self):
        return KubeCluster(self.bed.cluster, self.bed.prefix, History.read(self.file))
