#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is different on a hybrid node with CRI-O: its own settings and the environment of a
container may name processors. test_hybrid_node has the rest with either runtime.
"""
import os
import signal

os.environ["SLURM_KUBE_RUNTIME"] = "crio"  # before lib reads it

from lib import equal, run, wait_for  # noqa: E402
from lib.node_testbed import (  # noqa: E402
    NODE,
    SLOW,
    SYSTEM,
    NodeTestbed,
    allocate,
    bound,
    cpus_of,
    gone,
    idle,
    refused,
    runs,
)

# A site's own settings: both give processors to containers beside slurmkube-node.
WORKLOADS = """
[crio.runtime.workloads.greedy]
activation_annotation = "greedy.example.com"
annotation_prefix = "greedy.example.com"
[crio.runtime.workloads.greedy.resources]
cpuset = "0-1"
[crio.runtime.workloads.chosen]
activation_annotation = "chosen.example.com"
annotation_prefix = "chosen.example.com"
[crio.runtime.workloads.chosen.resources]
"""


class _Crio(NodeTestbed):
    def start_kubernetes(self):
        drop_ins = self.dir / NODE / "crio.conf.d"
        drop_ins.mkdir(parents=True)
        (drop_ins / "40-site.conf").write_text(WORKLOADS)
        super().start_kubernetes()


def _allocate(bed):
    """A job that does not have the system's processor; returns its number and cpuset."""
    first, second = allocate(bed), allocate(bed)
    return second if first[1] == SYSTEM else first


def _end(bed, *pods):
    gone(bed, *pods)
    bed.slurm.run("scancel", "--user=root")
    idle(bed)


def test_a_workload_does_not_choose_processors(bed):
    """Neither by its own setting nor by the user's: slurmkube-node has the last word."""
    job, cpus = _allocate(bed)
    choice = {"chosen.example.com": "", "chosen.example.com/c0": '{"cpuset": "0-1"}'}
    bound(bed, "greedy", job, annotations={"greedy.example.com": ""})
    bound(bed, "chosen", job, annotations=choice)
    bound(bed, "system", annotations={"greedy.example.com": ""})
    equal([runs(bed, name) for name in ("greedy", "chosen", "system")], [{cpus}, {cpus}, {SYSTEM}])
    _end(bed, "greedy", "chosen", "system")


def test_a_workload_without_the_daemons_answer(bed):
    """Its processors are those that the container would have then."""
    records = bed.dir / "node-state/containers"
    wait_for(lambda: not list(records.glob("*")), "the containers of earlier pods to be removed")
    job, cpus = _allocate(bed)
    bed.helper.signal(signal.SIGSTOP)
    bound(bed, "unlucky", job, annotations={"greedy.example.com": ""})
    refused(bed, "unlucky", f"would run on processors 0-1 instead of {SYSTEM}")
    bed.helper.kill9()
    bed.helper.start()
    wait_for(lambda: cpus_of(bed, "unlucky") == {cpus}, "its job's processors", timeout=SLOW)
    _end(bed, "unlucky")


def test_shared_processors_are_refused(bed):
    """CRI-O would add those that a variable of the container names when it is resized."""
    job, _ = _allocate(bed)
    variable = {"name": "OPENSHIFT_SHARED_CPUS", "value": SYSTEM}
    bound(bed, "sharing", job, container={"env": [variable]})
    refused(bed, "sharing", "OPENSHIFT_SHARED_CPUS in the environment")
    _end(bed, "sharing")


if __name__ == "__main__":
    # two pods have one job, because there is one processor for jobs
    run(_Crio, unless=lambda p: p["metadata"]["name"] == "chosen")
