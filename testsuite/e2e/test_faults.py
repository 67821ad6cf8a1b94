#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Job of 200 pods on 32 CPUs while one component after the other is restarted or killed with -9.
Every pod runs once and is never deleted, every Slurm job gets the true result, and none is left. A
fault occurs after a random number of watch events of the burst; SLURM_KUBE_SEED repeats a run.
"""
import os
import random
import time

from lib import Cluster, equal, job, run, wait_for
from lib.expect import jobs_by_uid, uid_of, wait_no_live_jobs
from lib.kube import condition, name_of

PODS, NODES = 200, 4
SEED = os.environ.get("SLURM_KUBE_SEED") or str(random.randrange(1 << 32))
RANDOM = random.Random(SEED)
SLURM_KILLED = []  # (from, until)


class Burst:
    """A Job under way. A pod causes at least five events: created, bound, running, ended,
    counted.
    """

    def __init__(self, bed, name, run_time="600ms"):
        self.bed, self.name, self.start = bed, name, len(bed.kube.history["Pod"])
        bed.kube.create(job(name, PODS, kwok={"run": run_time}))

    def wait_events(self, count):
        history = self.bed.kube.history["Pod"]
        self.bed.kube.wait(
            lambda: len(history) - self.start >= count, f"{count} events of {self.name}", 60
        )

    def moments(self, count):
        """Random positions in the middle of the burst, in order."""
        return sorted(RANDOM.sample(range(20, 4 * PODS), count))

    def pods(self):
        return {n: p for n, p in self.bed.kube.pods(f"{self.name}-").items()}

    def all_ran_once(self, creations_lost=False):
        """In Kubernetes: every existing pod has succeeded, and no deletion was requested. There are
        200 pods; creations_lost: or more, if the Job controller repeated creations whose answer was
        lost, which is not our concern.
        """

        def over():
            status, phases = self.bed.kube.get("Job", self.name)["status"], [
                p["status"].get("phase") for p in self.pods().values()
            ]
            assert (
                status.get("succeeded", 0) >= PODS
                and not status.get("failed")
                and not status.get("active")
            ), status
            assert len(phases) >= PODS and set(phases) == {
                "Succeeded"
            }, f"{len(phases)} pods: {set(phases)}"
            return len(phases)

        count = wait_for(over, f"all pods of Job {self.name} to succeed, {PODS} at least", 120, 0.2)
        assert creations_lost or count == PODS, f"{count} pods"
        disrupted = {
            name_of(p)
            for _, _, p in self.bed.kube.history["Pod"][self.start :]
            if condition(p, "DisruptionTarget")
        }
        equal(disrupted, set(), "pods that somebody wanted to delete")

    def all_jobs_completed(self, answers_lost=False):
        """In Slurm, if it has lost nothing: each pod has one job that ran, COMPLETED, on the pod's
        node. answers_lost: slurmctld kills an allocation that it cannot report to the killed agent,
        and the pod gets another job.
        """
        wait_no_live_jobs(self.bed)
        jobs = jobs_by_uid(self.bed)
        for name, pod in self.pods().items():
            ran = [j for j in jobs[uid_of(pod)] if j["NodeList"] not in ("", "(null)")]
            mine = pod["metadata"]["annotations"]["allocation.slurm-kube.io/job-id"]
            if answers_lost:
                ran = [
                    j
                    for j in ran
                    if j["JobId"] == mine or (j["JobState"], j["ExitCode"]) != ("FAILED", "0:15")
                ]
            equal(
                [(j["JobState"], j["ExitCode"], j["NodeList"]) for j in ran],
                [("COMPLETED", "0:0", pod["spec"]["nodeName"])],
                name,
            )

    def clear(self):
        self.bed.kube.delete("Job", self.name)
        self.bed.kube.wait(lambda: not self.pods(), f"the pods of {self.name} to be gone", 60)


def test_agent_killed_at_ten_moments(bed):
    """The agent is killed with -9 and started ten times; some kills hit it while it is still
    starting.
    """
    burst = Burst(bed, "agent", "1s")
    for moment in burst.moments(10):
        burst.wait_events(moment)
        bed.agent.kill9()
        bed.agent.start(wait=False)
    burst.all_ran_once()
    burst.all_jobs_completed(answers_lost=True)
    burst.clear()


def test_agent_restarted_with_nothing_to_do(bed):
    """Running and waiting pods are the same before and after the restart: no write, no job, no
    event.
    """
    burst = Burst(bed, "calm", "1s")
    burst.wait_events(3 * PODS // 2)
    bed.agent.restart()
    burst.all_ran_once()
    burst.all_jobs_completed(answers_lost=True)
    burst.clear()


def test_slurmctld_restarted(bed):
    """A normal restart in the middle of the burst: Slurm saves its state, and the plugin reconnects
    and sends a snapshot.
    """
    burst = Burst(bed, "restart")
    burst.wait_events(burst.moments(1)[0])
    bed.slurm.restart()
    burst.all_ran_once()
    burst.all_jobs_completed()
    burst.clear()


def test_slurmctld_reconfigured(bed):
    """Three times; from 23.11 on each reconfigure starts a new process."""
    burst = Burst(bed, "reconfigure")
    for moment in burst.moments(3):
        burst.wait_events(moment)
        bed.slurm.reconfigure()
    burst.all_ran_once()
    burst.all_jobs_completed()
    burst.clear()


def test_slurmctld_killed(bed):
    """kill -9: Slurm forgets what it had not saved (5 s). Its jobs may be lost, revived or end
    differently; no pod is affected.
    """
    burst = Burst(bed, "killed")
    burst.wait_events(burst.moments(1)[0])
    killed = time.time()
    bed.slurm.kill9()
    bed.slurm.start_slurmctld()
    SLURM_KILLED.append((killed, time.time()))
    burst.all_ran_once()
    wait_no_live_jobs(bed)
    jobs = jobs_by_uid(bed)
    for name, pod in burst.pods().items():
        done = [j for j in jobs[uid_of(pod)] if j["JobState"] == "COMPLETED"]
        assert len(done) <= 1, f"{name} has {len(done)} COMPLETED jobs"
    known = sum(1 for pod in burst.pods().values() if jobs[uid_of(pod)])
    print(f"# Slurm remembers jobs of {known} of {PODS} pods", flush=True)
    burst.clear()


def test_api_server_restarted(bed):
    """A normal restart: watches end, writes fail, and all of them are resumed."""
    burst = Burst(bed, "apirestart")
    burst.wait_events(burst.moments(1)[0])
    bed.plane.restart("kube-apiserver")
    burst.all_ran_once(creations_lost=True)
    burst.all_jobs_completed()
    burst.clear()


def test_api_server_killed(bed):
    """kill -9, twice: answers to bindings are lost."""
    burst = Burst(bed, "apikilled")
    for moment in burst.moments(2):
        burst.wait_events(moment)
        bed.plane.kill9("kube-apiserver")
        bed.plane.revive("kube-apiserver")
    burst.all_ran_once(creations_lost=True)
    burst.all_jobs_completed()
    burst.clear()


def test_all_at_once(bed):
    """The agent is killed while slurmctld is down, and starts again before slurmctld does."""
    burst = Burst(bed, "both")
    burst.wait_events(burst.moments(1)[0])
    bed.slurm.slurmctld.stop()
    bed.agent.kill9()
    bed.agent.start(wait=False)
    bed.slurm.start_slurmctld()
    bed.agent.wait_ready()
    burst.all_ran_once()
    burst.all_jobs_completed(answers_lost=True)
    burst.clear()


def test_no_pod_and_no_job_is_left(bed):
    """No pod is left, and no job of ours in Slurm."""
    wait_for(lambda: not bed.kube.pods(), "all pods to be gone")
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    print(f"# SLURM_KUBE_SEED={SEED}", flush=True)
    run(
        lambda build: Cluster(
            build,
            kwok=NODES,
            cpus=8,
            agent_options={"settings": {"limits": {"condition_interval_seconds": 1}}},
        ),
        forgets=SLURM_KILLED,
    )
