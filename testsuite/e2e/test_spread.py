#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where Slurm puts the pods of a Deployment. Four nodes of 8 CPUs are in two partitions: one with
Slurm's defaults, one with LLN=YES.
"""
from collections import Counter

from lib import Cluster, equal, run, wait_for, workloads
from lib.expect import wait_no_live_jobs, wait_reason
from lib.manifests import pod

NODES, PODS = 4, 8
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SPREAD = {f"node-{i}": 2 for i in range(NODES)}


def _in(partition):
    return {"slurm-kube.io/partition": partition}


def _deployment(name, partition, spec):
    template = workloads.template(
        labels={"app": name}, restart="Always", spec=spec, annotations=_in(partition)
    )
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": PODS,
            "selector": {"matchLabels": {"app": name}},
            "template": template,
        },
    }


def _run(bed, name, partition, spec=None):
    """Runs a Deployment on empty nodes; returns {node: number of its pods}."""
    workloads.create(bed, _deployment(name, partition, spec))

    def look():
        pods = bed.kube.pods(f"{name}-").values()
        run_now = [p for p in pods if p["status"].get("phase") == "Running"]
        return Counter(p["spec"]["nodeName"] for p in run_now) if len(run_now) == PODS else None

    return dict(wait_for(look, f"{PODS} pods of {name} to run"))


def _end(bed, name):
    workloads.delete(bed, "Deployment", name)
    bed.kube.wait(lambda: not bed.kube.pods(f"{name}-"), f"the pods of {name} to go", 60)
    wait_no_live_jobs(bed)


def _nodes_of(bed, name, partition, spec=None):
    nodes = _run(bed, name, partition, spec)
    _end(bed, name)
    return nodes


def _is_packed(nodes):
    """Which node it is depends on the order in which the nodes were made."""
    equal(list(nodes.values()), [PODS], nodes)


def test_slurm_fills_one_node_by_default(bed):
    """Eight pods of one CPU: all on one node."""
    _is_packed(_nodes_of(bed, "packed", "kube"))


def test_lln_spreads(bed):
    """LLN=YES of the partition: two pods on each of the four nodes."""
    equal(_nodes_of(bed, "spread", "spread"), SPREAD)


def test_a_pod_of_a_whole_node_beside_them(bed):
    """What LLN costs: a pod of 8 CPUs finds no empty node beside pods that are spread. Beside
    packed pods it runs.
    """
    _run(bed, "few", "kube")
    bed.kube.create(pod("whole", cpu=8, annotations=_in("kube")))
    bed.kube.wait_phase("whole", "Running", timeout=60)
    bed.kube.delete("Pod", "whole")
    _end(bed, "few")
    _run(bed, "many", "spread")
    bed.kube.create(pod("waits", cpu=8, annotations=_in("spread")))
    wait_reason(bed, "waits", "SlurmPending", "Resources")
    bed.kube.delete("Pod", "waits")
    _end(bed, "many")


def _soft_rules(name):
    """To keep pods of the Deployment apart, by everything that is only preferred."""
    selector = {"matchLabels": {"app": name}}
    term = {"topologyKey": HOST, "labelSelector": selector}
    return {
        "affinity": {"podAntiAffinity": {PREFERRED: [{"weight": 100, "podAffinityTerm": term}]}},
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "whenUnsatisfiable": "ScheduleAnyway",
                "topologyKey": key,
                "labelSelector": selector,
            }
            for key in (HOST, ZONE)
        ],
    }


def test_soft_rules_between_pods_change_nothing(bed):
    """Preferred anti-affinity and ScheduleAnyway: the pods run, and where the partition puts
    them.
    """
    _is_packed(_nodes_of(bed, "soft", "kube", spec=_soft_rules("soft")))
    equal(_nodes_of(bed, "softspread", "spread", spec=_soft_rules("softspread")), SPREAD)


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed, 60)


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=NODES,
            slurm_options={
                "extra": ["PartitionName=spread Nodes=kube DefMemPerCPU=100 LLN=YES"],
                "pod_partitions": "kube,spread",
            },
            agent_options={
                "namespaces": [
                    {"namespace": "default", "user": "root", "partitions": ["kube", "spread"]}
                ]
            },
        )
    )
