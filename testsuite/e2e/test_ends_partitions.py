#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Preemption between partitions in each of Slurm's modes, CANCEL, REQUEUE and SUSPEND, and a
partition that oversubscribes. There is one node of 8 CPUs, and every pod needs all of it.
"""
from lib import Cluster, equal, pod, run, wait_for
from lib.expect import (
    Sight,
    agreed,
    bound,
    disruption,
    free,
    job_in_state,
    sacct_agrees,
    wait_no_live_jobs,
    wait_reason,
)
from lib.kubelets import end_pod


def _make(bed, name, partition, **kwok):
    return bed.kube.create(
        pod(name, cpu=8, kwok=kwok, annotations={"slurm-kube.io/partition": partition})
    )


def _victim(bed, name, partition, **kwok):
    made = _make(bed, name, partition, **kwok)
    bed.kube.wait_phase(name, "Running")
    return made


def _node_is_idle(bed):
    wait_for(lambda: bed.slurm.node("node-0")["State"].split("+")[0] == "IDLE", "node-0 to be idle")


def _killed_for_another(bed, partition):
    low = _victim(bed, f"low-{partition}", partition, stop="1s")
    high = _make(bed, f"over-{partition}", "high", run="100ms")
    agreed(bed, high, "COMPLETED", "0:0", timeout=60)
    agreed(bed, low, "PREEMPTED", "0:0")
    name = low["metadata"]["name"]
    assert "preempted" in disruption(bed, name)["message"]
    assert Sight(bed, name, free).place < Sight(bed, high["metadata"]["name"], bound).place
    _node_is_idle(bed)


def test_cancel(bed):
    """PreemptMode=CANCEL: the job is PREEMPTED, its pod is deleted, and the other pod is bound when
    that one is gone.
    """
    _killed_for_another(bed, "cancel")


def test_requeue_is_a_kill(bed):
    """PreemptMode=REQUEUE: Slurm cannot requeue a job without a script, so it acts as with
    CANCEL.
    """
    _killed_for_another(bed, "requeue")


def test_suspend_is_safe(bed):
    """PreemptMode=SUSPEND: nothing here can stop a container, so the pod continues, and the other
    pod waits for its end although Slurm has started its job.
    """
    low = _victim(bed, "low-suspend", "suspend")
    high = _make(bed, "over-suspend", "high", run="100ms")
    job_in_state(bed, high, "RUNNING", timeout=60)
    job_in_state(bed, low, "SUSPENDED")
    wait_reason(
        bed,
        "over-suspend",
        "SlurmPending",
        "an earlier pod still runs: default/low-suspend. Slurm has suspended its job",
    )
    equal(bed.kube.pods()["low-suspend"]["status"]["phase"], "Running")
    bed.kube.delete("Pod", "low-suspend")
    agreed(bed, high, "COMPLETED", "0:0")
    agreed(bed, low, "CANCELLED", "0:0")
    assert Sight(bed, "low-suspend", free).place < Sight(bed, "over-suspend", bound).place
    _node_is_idle(bed)


def test_suspended_job_resumes(bed):
    """The other pod is deleted before it could run: Slurm resumes the first job, whose pod was not
    affected, and that job gets the true result.
    """
    low = _victim(bed, "low-resumed", "suspend")
    high = _make(bed, "over-resumed", "high")
    job_in_state(bed, high, "RUNNING", timeout=60)
    job_in_state(bed, low, "SUSPENDED")
    bed.kube.delete("Pod", "over-resumed")
    job_in_state(bed, low, "RUNNING")
    end_pod(bed, "low-resumed", 3)
    agreed(bed, low, "FAILED", "3:0")
    agreed(bed, high, "CANCELLED", "0:0")
    _node_is_idle(bed)


def test_a_partition_that_gives_cpus_out_twice_is_refused(bed):
    """OverSubscribe=FORCE:2: Slurm would start and charge a job whose pod cannot get the CPUs. The
    pod runs when the partition is changed.
    """
    made = _make(bed, "twice", "shared", run="100ms")
    text = wait_reason(bed, "twice", "SlurmRefused")
    assert "partition 'shared' has OverSubscribe=FORCE:2" in text, text
    equal(bed.slurm.job_of_pod(made["metadata"]["uid"]), [])
    bed.slurm.run("scontrol", "update", "PartitionName=shared", "OverSubscribe=NO")
    agreed(bed, made, "COMPLETED", "0:0", timeout=90)


def test_sacct_agrees_about_all_jobs(bed):
    """Over all these tests, state and exit code of every job of ours are the same in scontrol and
    in the database.
    """
    wait_no_live_jobs(bed)
    assert sacct_agrees(bed) > 4


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


PARTITIONS = [
    f"PartitionName={name} Nodes=kube DefMemPerCPU=10"
    f" PriorityTier={tier} PreemptMode={mode} OverSubscribe={over}"
    for name, tier, mode, over in (
        ("cancel", 1, "CANCEL", "NO"),
        ("requeue", 1, "REQUEUE", "NO"),
        ("suspend", 1, "SUSPEND", "FORCE:1"),
        ("shared", 1, "SUSPEND", "FORCE:2"),
        ("high", 10, "OFF", "NO"),
    )
]

if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=1,
            cpus=8,
            accounting=True,
            slurm_options={
                "extra": [
                    "PreemptType=preempt/partition_prio",
                    "PreemptMode=SUSPEND,GANG",
                    "SchedulerTimeSlice=5",
                    "SchedulerParameters=bf_interval=2,sched_interval=5",
                    *PARTITIONS,
                ]
            },
            agent_options={
                "namespaces": [
                    {
                        "name": "*",
                        "user": "nobody",
                        "group": "nogroup",
                        "partitions": ["kube", "cancel", "requeue", "suspend", "shared", "high"],
                    }
                ],
                "settings": {"limits": {"condition_interval_seconds": 1}},
            },
        )
    )
