#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""How to write an end-to-end test. Run it:

	testsuite/slurm/build 22.05.8 /tmp/build
	testsuite/k8s/build
	testsuite/e2e/test_example.py /tmp/build                 all tests of this file
	testsuite/e2e/test_example.py /tmp/build exit_code       those with that word in their name

Each function test_* gets the test bed that run() was told to create. Its docstring tells the story,
which is printed if the test fails. All tests of a file share one test bed, so that each uses names
of its own, and must clean up what would disturb the next one. Nothing sleeps: a test waits for what
it wants to see, with a limit. "bed.kube" has the pods as the API server reports them, "bed.slurm"
runs Slurm's own commands; a test trusts these two, not our agent. After a failure the run directory
is kept, with all logs.
"""
from lib import Cluster, Skip, equal, job, pod, run, wait_for
from lib.kube import exit_code


def test_pod_becomes_a_job_with_its_exit_code(bed):
    """A user creates a pod that names our scheduler. Slurm shows it as a job, places it, and keeps
    its exit code.
    """
    made = bed.kube.create(pod("example", kwok={"run": "500ms", "exit-code": 3}))

    ended = bed.kube.wait_phase("example", "Failed", "Succeeded")
    equal(exit_code(ended), 3)

    # The marker in the job's admin comment names the pod. There must be exactly one such job,
    # whatever happened meanwhile.
    jobs = wait_for(lambda: bed.slurm.job_of_pod(made["metadata"]["uid"]), "a job for the pod")
    equal(len(jobs), 1, "jobs of the pod")
    done = bed.slurm.wait_job(int(jobs[0]["JobId"]), "COMPLETED", "FAILED", "CANCELLED")
    equal((done["JobState"], done["ExitCode"]), ("FAILED", "3:0"))
    equal(done["NodeList"], ended["spec"]["nodeName"], "the node on both sides")


def test_every_pod_of_a_job_runs(bed):
    """A Job of six pods on two nodes of eight CPUs: all run, each has its Slurm job, and all of
    these are COMPLETED.
    """
    bed.kube.create(job("six", 6, kwok={"run": "200ms"}))
    bed.kube.wait(lambda: len(bed.kube.pods("six-")) == 6, "six pods")
    uids = {n: p["metadata"]["uid"] for n, p in bed.kube.pods("six-").items()}
    for name in uids:
        bed.kube.wait_phase(name, "Succeeded")
    for name, uid in uids.items():  # a pod has Succeeded before its job is COMPLETED
        wait_for(
            lambda u=uid: [j["JobState"] for j in bed.slurm.job_of_pod(u)] == ["COMPLETED"],
            f"{name}'s job to be COMPLETED",
        )


def test_real_containers_where_the_machine_can(bed):
    """Skip gives the reason why something cannot be tested; real_node() raises it itself where
    kubelets cannot run.
    """
    if bed.slurm.number < (22, 5):
        raise Skip("no such Slurm is supported")
    name = bed.plane.real_node("real")
    bed.sync_nodes([name])
    for other in bed.names:  # so that Slurm must use the real node
        bed.slurm.run(
            "scontrol", "update", f"NodeName={other}", "State=DRAIN", "Reason=for the real one"
        )
    made = pod("hello", shell="echo hello from job $SLURM_JOB_ID")
    made["spec"]["containers"][0]["env"] = [
        {
            "name": "SLURM_JOB_ID",
            "valueFrom": {
                "fieldRef": {"fieldPath": "metadata.annotations['allocation.slurm-kube.io/job-id']"}
            },
        }
    ]
    uid = bed.kube.create(made)["metadata"]["uid"]
    equal(exit_code(bed.kube.wait_phase("hello", "Succeeded", "Failed", timeout=180)), 0)
    wait_for(
        lambda: bed.kube.logs("hello")
        == f"hello from job {bed.slurm.job_of_pod(uid)[0]['JobId']}\n",
        "its log",
    )


if __name__ == "__main__":
    run(lambda build: Cluster(build, kwok=2, cpus=8))
