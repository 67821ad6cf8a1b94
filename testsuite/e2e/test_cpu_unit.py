#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""nodes.cpu_unit: 100m: Slurm counts tenths of CPUs on Kubernetes nodes; everywhere else amounts
are in CPUs.
"""
from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import job_in_state, wait_no_live_jobs, wait_reason

CPUS = 2
CPU_OPTION = "slurm-kube.io/cpu-per-task"


def _running(bed, prefix):
    return [p for p in bed.kube.pods(prefix).values() if p["spec"].get("nodeName")]


def test_ten_pods_fill_one_cpu(bed):
    """Twenty pods of 100m on a node of two CPUs run at the same time; the next one waits for Slurm,
    not for Kubernetes.
    """
    equal((bed.slurm.node("node-0")["CPUTot"], bed.slurm.node("node-0")["Sockets"]), ("20", "1"))
    names = [f"tenth-{i}" for i in range(20)]
    for name in names:
        bed.kube.create(pod(name, cpu="100m"))
    bed.kube.wait(lambda: len(_running(bed, "tenth-")) == 20, "twenty pods to be bound", timeout=60)
    last = bed.kube.create(pod("eleventh", cpu="100m", kwok={"run": "50ms"}))
    wait_reason(bed, "eleventh", "SlurmPending")
    job_in_state(bed, last, "PENDING")
    for name in names:
        bed.kube.delete("Pod", name)
    bed.kube.wait_phase("eleventh", "Succeeded", timeout=60)


def test_what_is_not_a_tenth_is_rounded_up(bed):
    """250m are three tenths; the pod's annotation says one CPU."""
    made = bed.kube.create(pod("quarter", cpu="250m", kwok={"run": "50ms"}))
    ended = bed.kube.wait_phase("quarter", "Succeeded", timeout=60)
    equal(job_in_state(bed, made, "COMPLETED")["NumCPUs"], "3")
    equal(ended["metadata"]["annotations"]["allocation.slurm-kube.io/cpus"], "1")


def test_options_are_in_cpus(bed):
    """The option requests more than the pod, less than the pod, and more than the node has."""
    made = bed.kube.create(
        pod("asks", cpu="100m", kwok={"run": "50ms"}, annotations={CPU_OPTION: "1500m"})
    )
    ended = bed.kube.wait_phase("asks", "Succeeded", timeout=60)
    equal(job_in_state(bed, made, "COMPLETED")["NumCPUs"], "15")
    equal(ended["metadata"]["annotations"]["allocation.slurm-kube.io/cpus"], "2")
    bed.kube.create(pod("asks-less", cpu=2, annotations={CPU_OPTION: "1"}))
    assert "give 2 or more" in wait_reason(bed, "asks-less", "SlurmRefused")
    bed.kube.delete("Pod", "asks-less")


def test_gang_is_counted_in_tenths(bed):
    """Six pods of 250m are 18 of 20 tenths and run; eight of 300m are 24, and report that."""
    bed.kube.create(job("gang", 6, indexed=True, cpu="250m", kwok={"run": "1s"}))
    bed.kube.wait(lambda: len(_running(bed, "gang-")) == 6, "six pods to be bound", timeout=60)
    for p in bed.kube.pods("gang-").values():
        bed.kube.wait_phase(p["metadata"]["name"], "Succeeded", timeout=60)
    bed.kube.create(job("large", 8, indexed=True, cpu="300m"))
    name = next(iter(bed.kube.wait(lambda: bed.kube.pods("large-"), "pods of the large gang")))
    text = wait_reason(bed, name, "SlurmNoNode")
    assert "0.3 CPUs" in text, text
    bed.kube.delete("Job", "large")


def _cpu_unit(bed):
    return next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == "CPU unit")


def test_check_finds_the_other_unit(bed):
    """Slurm's node lines are in tenths, but the agent is configured to count whole CPUs."""
    assert _cpu_unit(bed)["ok"], _cpu_unit(bed)
    wait_no_live_jobs(bed, 60)
    bed.agent.stop()
    bed.agent.settings["nodes"] = {"cpu_unit": 1, "manage": False}
    bed.agent.start()
    found = wait_for(lambda: not _cpu_unit(bed)["ok"] and _cpu_unit(bed), "skube check to find it")
    equal(found["text"], "node node-0 has CPUs=20 in Slurm, and nodes.cpu_unit 1 makes that 2")


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=1,
            cpus=CPUS,
            agent_options={
                "settings": {
                    "nodes": {"cpu_unit": "100m"},
                    "limits": {"condition_interval_seconds": 1},
                }
            },
        )
    )
