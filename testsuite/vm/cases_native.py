# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods within native jobs of their user."""
import time
from pathlib import Path

from node import (
    SLURM,
    cancel,
    delete,
    equal,
    job_cpuset,
    job_processes,
    make_pod,
    native,
    phase,
    pod_processes,
    run,
    state,
    wait_for,
    wait_idle,
    wait_refused,
    wait_running,
    wait_state,
)

JOB_MIB, POD_MIB = 200, 80
STEP_LATER = """
while [ ! -e /tmp/go-$SLURM_JOB_ID ]; do sleep 0.2; done
(while :; do cat /usr/bin/* /usr/sbin/* /usr/lib/*/*.so*; done > /dev/null 2>&1) &
sleep 2
srun --overlap --mem=50 true && touch /tmp/stepped-$SLURM_JOB_ID
exec sleep 3600"""
GRAB = "exec srun sh -c '(head -c 150m /dev/zero; sleep 3600) | tail'"


def _job(wrap="exec srun sleep 3600"):
    """A running job of the user of the namespace, which has its cpuset."""
    number = native(wrap, 1, "--uid=alice", f"--mem={JOB_MIB}", "--output=/dev/null")
    wait_state(number, "RUNNING")
    wait_for("the job's cpuset", lambda: job_cpuset(number))
    return number


def _make(name, number, **more):
    make_pod(name, memory=f"{POD_MIB}Mi", notes={"slurm-kube.io/job": str(number)}, **more)


def _limit(number):
    """Of the job's cgroup, in MiB."""
    return int((SLURM / f"job_{number}/memory.max").read_text()) >> 20


def _wait_limit(number, mib):
    wait_for(f"a limit of {mib} MiB", lambda: _limit(number) == mib)


def test_a_pod_runs_within_its_users_job():
    """It has the job's processors and a part of its memory, and ends with it."""
    number = _job()
    wait_for("processes of the job", lambda: job_processes(number))
    _make("inner", number)
    equal(wait_running("inner"), job_cpuset(number))
    equal(_limit(number), JOB_MIB - POD_MIB)
    delete("inner")
    _wait_limit(number, JOB_MIB)
    _make("inner", number)
    wait_running("inner")
    cancel(number)
    wait_idle()
    equal(pod_processes("inner"), set(), "processes after the end of the job")


def test_a_pod_waits_for_memory_that_the_job_uses():
    """Nothing of the job is killed for it."""
    number = _job(GRAB)
    wait_for("the job to use it", lambda: "tail" in _names(number))
    time.sleep(3)
    _make("later", number)
    wait_refused("later", "does not leave 80 MiB of its memory")
    equal((_limit(number), state(number)), (JOB_MIB, "RUNNING"))
    assert "tail" in _names(number)
    delete("later")
    cancel(number)
    wait_idle()


def test_a_step_that_begins_raises_the_limit_for_a_moment():
    """slurmd writes the old limit. The job reads files all the time, which stay in memory until
    slurmkube-node has lowered the limit again: the pod goes on.
    """
    number = _job(STEP_LATER)
    _make("inner", number)
    wait_running("inner")
    Path(f"/tmp/go-{number}").touch()
    wait_for("the step", Path(f"/tmp/stepped-{number}").exists)
    _wait_limit(number, JOB_MIB - POD_MIB)
    time.sleep(15)
    equal(_limit(number), JOB_MIB - POD_MIB)
    equal(phase("inner"), "Running")
    cancel(number)
    wait_idle()


def test_a_suspended_job_ends_its_pods():
    number = _job()
    _make("inner", number)
    wait_running("inner")
    run("scontrol", "suspend", number)
    wait_for("the pod to end", lambda: not pod_processes("inner"))
    run("scontrol", "resume", number)
    equal(state(number), "RUNNING")
    cancel(number)
    wait_idle()


def _names(number):
    return {
        run("ps", "-o", "comm=", "-p", pid, check=False).strip() for pid in job_processes(number)
    }
