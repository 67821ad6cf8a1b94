#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods of the scheduler slurm and native jobs on a hybrid node of which nothing is played (see
lib/hybrid_testbed.py).

HYBRID_STARTS=N HYBRID_SEED=N: how many pods and native jobs start at random, and the seed.
"""
import os
import signal
from contextlib import suppress

from lib import equal, pod, run, wait_for
from lib.cpusets import Sampler, cpuset_of_job, processes_of_pods
from lib.expect import job_in_state, only_job, uid_of, wait_no_live_jobs
from lib.hybrid_crowd import Crowd
from lib.hybrid_testbed import SLOW, SYSTEM, HybridTestbed

NODE = f"whole{os.getpid()}"
STARTS = int(os.environ.get("HYBRID_STARTS", "24"))
SEED = int(os.environ.get("HYBRID_SEED", "1"))


def test_a_pod_has_the_processors_of_its_job(bed):
    """From its creation to its end, whose exit code becomes the job's."""
    made = bed.make("life", "trap 'exit 3' USR1; while :; do sleep 0.05; done")
    cpus = bed.wait_running(made)
    job = only_job(bed, made)
    equal(str(*cpus), cpuset_of_job(NODE, job["JobId"]))
    equal((job["JobState"], job["NodeList"]), ("RUNNING", NODE))
    for pid in processes_of_pods(bed.containers)[uid_of(made)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGUSR1)
    equal(job_in_state(bed, made, "FAILED", timeout=SLOW)["ExitCode"], "3:0")
    bed.wait_idle()
    bed.delete("life")


def _end_in_turn(bed, number, name, pod_first):
    """One of them ends, and something else has its processor while the other one goes on."""
    if pod_first:
        bed.delete(name)
        second = bed.start_native("exec srun sleep 600")
        bed.slurm.wait_job(second, "RUNNING", timeout=SLOW)
        bed.slurm.run("scancel", str(number), str(second))
    else:
        bed.slurm.run("scancel", str(number))
        second = bed.make(f"{name}-2")
        bed.wait_running(second)
        bed.delete(name)
        bed.delete(f"{name}-2")


def test_a_pod_and_a_native_job_beside_each_other(bed):
    """Both orders of start and of end: each has a processor of its own, at every look, also while
    another pod takes the processor of the one that ended.
    """
    for name, native_first in (("second", True), ("first", False)):
        with Sampler(NODE, bed.containers) as sampler:
            number = bed.start_native("exec srun sleep 600") if native_first else None
            if number:
                bed.slurm.wait_job(number, "RUNNING")
            made = bed.make(name)
            bed.wait_running(made)
            number = number or bed.start_native("exec srun sleep 600")
            seen = wait_for(lambda: sampler.together or None, "a look at both", timeout=SLOW)
            wait_for(lambda seen=seen: sampler.together >= seen + 100, "100 more looks")
            _end_in_turn(bed, number, name, native_first)
        equal(sampler.shared, [])
        bed.wait_idle()


def test_scancel_keeps_the_node_until_the_processes_are_gone(bed):
    """The agent deletes the pod, whose program takes three seconds to end. A native job of all
    processors starts after that.
    """
    made = bed.make(
        "slow",
        "trap 'sleep 3; exit 0' TERM; while :; do sleep 0.05; done",
        spec={"terminationGracePeriodSeconds": 10},
    )
    bed.wait_running(made)
    number = bed.start_native("exec srun sleep 600", "--cpus-per-task=2")
    with Sampler(NODE, bed.containers) as sampler:
        bed.slurm.run("scancel", only_job(bed, made)["JobId"])
        bed.slurm.wait_job(number, "RUNNING", timeout=SLOW)
        equal(bed.cpus_of(made), set())
        wait_for(lambda: cpuset_of_job(NODE, number) == "0-1", "the native job's processors")
        bed.slurm.run("scancel", str(number))
    equal(sampler.shared, [])
    bed.kube.wait_gone("slow", timeout=SLOW)
    bed.wait_idle()


def test_containers_of_others_have_the_systems_processors(bed):
    made = bed.kube.create(pod("system", scheduler="none", cpu="100m", shell="sleep 3600"))
    bed.kube.bind("system", NODE)
    equal(bed.wait_running(made), {SYSTEM})
    bed.delete("system")


def test_random_starts_and_ends(bed):
    """Nobody ever shares a processor."""
    with Sampler(NODE, bed.containers) as sampler:
        crowd = Crowd(bed, SEED)
        crowd.run(lambda: crowd.started >= STARTS)
        crowd.wait_ended()
    print(f"# {crowd.counts}, {sampler.looks} looks, {sampler.together} at both kinds")
    equal(sampler.shared, [])
    assert sampler.together, "no pod ran beside a native job"
    bed.wait_idle()


def test_no_job_is_left(bed):
    wait_no_live_jobs(bed, 60)


if __name__ == "__main__":
    run(lambda build: HybridTestbed(build, NODE))
