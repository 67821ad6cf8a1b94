#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""SelectTypeParameters=CR_Socket_Memory: Slurm allocates whole sockets, so each CPU of a Kubernetes
node is a socket of its own in Slurm.
"""
from lib import Cluster, equal, pod, run

CPUS = 4


def test_pods_share_a_node(bed):
    """Four pods of one CPU fill a node of four and run at the same time."""
    node = bed.slurm.node("node-0")
    equal((node["CPUTot"], node["Sockets"], node["CoresPerSocket"]), (str(CPUS), str(CPUS), "1"))
    names = [f"share-{i}" for i in range(CPUS)]
    for name in names:
        bed.kube.create(pod(name))
    for name in names:
        bed.kube.wait_phase(name, "Running", timeout=60)


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=1,
            cpus=CPUS,
            slurm_options={"extra": ["SelectTypeParameters=CR_Socket_Memory"]},
        )
    )
