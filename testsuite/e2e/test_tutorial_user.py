#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""doc/tutorial-user.md, word by word, as a user without any right but to pods and Jobs: alice in
Kubernetes, nobody in Slurm. Two nodes of 8 CPUs, one with GPUs, simulated, and a slurmdbd.
"""
from lib import equal, run, wait_for
from lib.expect import wait_no_live_jobs
from lib.manifests import kwok_node
from lib.reader import Reader, WithReader
from lib.tutorials import Tutorial, run_tutorial

GPU = "nvidia.com/gpu"
SLURM_CONF = [
    "GresTypes=gpu",
    "PriorityType=priority/multifactor",
    "PriorityWeightPartition=10000",
    "PartitionName=kube-long Nodes=kube DefMemPerCPU=100 MaxTime=7-0",
]
RULE = {"namespace": "default", "user": "nobody", "partitions": ["kube", "kube-long"]}


def test_every_command_works(bed):
    """In the order of the text, with the output that it shows."""
    reader = Reader(bed, [("alice", "nobody")], user="nobody", account="alice")
    run_tutorial(Tutorial("tutorial-user"), reader)
    wait_no_live_jobs(bed)


def test_no_command_is_left_out(_):
    """All commands of the text are among those that run."""
    equal(Tutorial("tutorial-user").unrun, [])


class UserTestbed(WithReader):
    """A partition more, and a node with four GPUs and a taint."""

    def start_slurm(self):
        lines = "NodeName=gpu-0 Name=gpu File=/dev/kube-gpu[0-3]\n"
        (self.dir / "gres.conf").write_text(lines if self.slurm.dynamic_nodes else "")
        super().start_slurm()

    def start_kubernetes(self):
        super().start_kubernetes()
        node = kwok_node("gpu-0", *self.size)
        for side in ("capacity", "allocatable"):
            node["status"][side][GPU] = "4"
        node["spec"] = {"taints": [{"key": GPU, "value": "present", "effect": "NoSchedule"}]}
        self.kube.create(node)
        self.plane.wait_ready("gpu-0")
        self.names.append("gpu-0")

    def start_agent(self):
        """The first pod comes after the agent has drained the tainted node: if it came before, it
        might get that node first and another job then.
        """
        super().start_agent()
        wait_for(
            lambda: "DRAIN" in self.slurm.node("gpu-0")["State"], "the tainted node to be drained"
        )


if __name__ == "__main__":
    run(
        lambda build: UserTestbed(
            build,
            kwok=2,
            accounting=True,
            slurm_options={"extra": SLURM_CONF, "pod_partitions": "kube,kube-long"},
            agent_options={"namespaces": [RULE]},
        )
    )
