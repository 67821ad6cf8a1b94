#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ten gangs of 100 pods on twenty nodes of 64 CPUs, which hold three of them at a time: all or
nothing, and no gang waits forever.

The assertions are about the API server's watch history and hold on any machine. The time between
the bindings of a gang's pods is printed, but not judged: the history has the time at which this
program received each binding, so that its own delay is included.
"""
from lib import Cluster, equal, job, run, wait_for

GANGS, PODS, CPUS, NODES = 10, 100, 4, 20
PLACES = NODES * 64 // CPUS


def names():
    return [f"big{i}" for i in range(GANGS)]


def gang_of(pod):
    return pod["metadata"]["name"].partition("-")[0]


def story(bed):
    """In order: (seconds, "bound" | "ended", gang, pod's name), once for each binding and
    each end.
    """
    told, seen = [], set()
    with bed.kube.changed:
        history = list(bed.kube.history["Pod"])
    for when, what, pod in history:
        name, gang = pod["metadata"]["name"], gang_of(pod)
        ended = what == "DELETED" or pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
        for sort, is_so in (("bound", pod["spec"].get("nodeName")), ("ended", ended)):
            if gang in names() and is_so and (sort, name) not in seen:
                seen.add((sort, name))
                told.append((when, sort, gang, name))
    return told


def bound_at(told, gang):
    return sorted(when for when, sort, whose, _ in told if sort == "bound" and whose == gang)


def create_all(bed):
    """All pods exist before the first job may start, so that the gangs compete and none waits for
    the controller manager.
    """
    bed.slurm.run("scontrol", "update", "PartitionName=kube", "State=DOWN")
    for name in names():
        bed.kube.create(job(name, PODS, indexed=True, cpu=CPUS, kwok={"run": "1s"}))
    bed.kube.wait(
        lambda: sum(gang_of(p) in names() for p in bed.kube.pods("").values()) == GANGS * PODS,
        f"{GANGS * PODS} pods",
        400,
    )
    wait_for(
        lambda: sum(j["JobState"] == "PENDING" for j in bed.slurm.jobs().values()) == GANGS,
        f"{GANGS} jobs in the queue",
        120,
    )
    bed.slurm.run("scontrol", "update", "PartitionName=kube", "State=UP")


def tell(what, milliseconds):
    ordered = sorted(milliseconds)
    print(f"# {what}: " + ", ".join(f"{round(v)}" for v in ordered) + " ms", flush=True)


def test_ten_gangs_of_a_hundred(bed):
    """All thousand pods succeed, under ten COMPLETED jobs."""
    create_all(bed)
    wait_for(
        lambda: sum(j["JobState"] == "COMPLETED" for j in bed.slurm.jobs().values()) == GANGS,
        f"{GANGS} jobs to be COMPLETED",
        600,
        0.5,
    )
    equal(len(bed.slurm.jobs()), GANGS, "jobs")
    bed.kube.wait(
        lambda: sum(p["status"].get("phase") == "Succeeded" for p in bed.kube.pods("").values())
        == GANGS * PODS,
        "all pods to succeed",
        120,
    )
    told = story(bed)
    spread = [1000 * (times[-1] - times[0]) for times in (bound_at(told, name) for name in names())]
    tell("first to last binding of a gang", spread)


def test_all_or_nothing(bed):
    """At each binding the gangs that have started and not ended have room for all their pods,
    because none starts without that. So no two gangs wait for each other.
    """
    bound, ended = {name: 0 for name in names()}, {name: 0 for name in names()}
    for _, sort, gang, pod in story(bed):
        (bound if sort == "bound" else ended)[gang] += 1
        begun = [g for g in names() if bound[g] > 0 and ended[g] < PODS]
        places = sum(PODS - ended[g] for g in begun)
        assert sort == "ended" or places <= PLACES, (
            f"{pod} is bound while {len(begun)} gangs have begun, which need {places} of"
            f" {PLACES} places"
        )
    equal(set(bound.values()) | set(ended.values()), {PODS})


def test_each_rank_is_there_once(bed):
    for name in names():
        ranks = [
            int(p["metadata"]["annotations"]["allocation.slurm-kube.io/rank"])
            for p in bed.kube.pods(f"{name}-").values()
        ]
        equal(sorted(ranks), list(range(PODS)), name)


if __name__ == "__main__":
    run(lambda build: Cluster(build, kwok=NODES, cpus=64, memory="256Gi"))
