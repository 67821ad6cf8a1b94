#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kubernetes Jobs as users see them: their pods become Slurm jobs, run where Slurm says, and end
with the true result; a pod that cannot run gives the reason.
"""
import re

from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import (
    fill,
    job_controller_status,
    job_in_state,
    jobs_by_uid,
    only_job,
    uid_of,
    wait_no_live_jobs,
    wait_reason,
)
from lib.kube import condition, exit_code

NODES, CPUS = 4, 8


def test_fifty_pods_complete(bed):
    """A Job of 50 pods on 32 CPUs runs in two waves. Each pod has one Slurm job, COMPLETED 0:0, as
    the user of its namespace, on the pod's node.
    """
    bed.kube.create(job("fifty", 50, kwok={"run": "300ms"}))
    job_controller_status(bed, "fifty", succeeded=50)
    wait_no_live_jobs(bed)
    jobs, pods = jobs_by_uid(bed), bed.kube.pods("fifty-")
    equal(len(pods), 50, "pods")
    for name, seen in pods.items():
        mine = jobs[uid_of(seen)]
        equal(
            [(j["JobState"], j["ExitCode"], j["UserId"], j["GroupId"]) for j in mine],
            [("COMPLETED", "0:0", "nobody(65534)", "nogroup(65534)")],
            name,
        )
        equal((mine[0]["NodeList"], mine[0]["Partition"]), (seen["spec"]["nodeName"], "kube"), name)
        equal(
            mine[0]["JobId"],
            seen["metadata"]["annotations"]["allocation.slurm-kube.io/job-id"],
            f"{name}'s annotation",
        )


def _ended_with(bed, name, code):
    made = bed.kube.create(pod(name, kwok={"run": "100ms", "exit-code": code}))
    equal(exit_code(bed.kube.wait_phase(name, "Failed")), code)
    return job_in_state(bed, made, "COMPLETED", "FAILED", "CANCELLED", "OUT_OF_MEMORY")


def test_exit_code_3_is_failed_3(bed):
    """A program that exits with 3: FAILED 3:0 in Slurm, as for a batch script."""
    seen = _ended_with(bed, "three", 3)
    equal((seen["JobState"], seen["ExitCode"]), ("FAILED", "3:0"))


def test_exit_code_143_is_signal_15(bed):
    """A program ended by SIGTERM (128 + 15): Slurm shows signal 15."""
    seen = _ended_with(bed, "terminated", 143)
    equal((seen["JobState"], seen["ExitCode"]), ("FAILED", "0:15"))


def test_options_reach_slurm(bed):
    """Annotations of the pod are options of its job."""
    options = {
        "timelimit": "01:30:00",
        "job-name": "given-name",
        "comment": "two words",
        "priority": "4711",
    }
    made = bed.kube.create(
        pod(
            "options",
            cpu=2,
            memory="1Gi",
            kwok={"run": "100ms"},
            annotations={f"slurm-kube.io/{k}": v for k, v in options.items()},
        )
    )
    seen = job_in_state(bed, made, "COMPLETED")
    equal(
        {
            k: seen[k]
            for k in ("TimeLimit", "JobName", "Comment", "Priority", "NumCPUs", "MinMemoryNode")
        },
        {
            "TimeLimit": "01:30:00",
            "JobName": "given-name",
            "Comment": "two words",
            "Priority": "4711",
            "NumCPUs": "2",
            "MinMemoryNode": "1G",
        },
    )


def test_unknown_option_is_refused(bed):
    """A misspelt option is not ignored: the pod names it, and no job is submitted."""
    made = bed.kube.create(pod("misspelt", annotations={"slurm-kube.io/time-limit": "10"}))
    text = wait_reason(bed, "misspelt", "SlurmRefused")
    assert "slurm-kube.io/time-limit" in text and "timelimit" in text, text
    equal(bed.slurm.job_of_pod(uid_of(made)), [], "jobs of a refused pod")
    bed.kube.delete("Pod", "misspelt")
    bed.kube.wait_gone("misspelt")


def test_pod_larger_than_any_node_is_not_submitted(bed):
    """The pod reports its request and the size of the largest node; Slurm gets no job that would
    fail every minute.
    """
    made = bed.kube.create(pod("huge", cpu=CPUS + 1))
    text = wait_reason(bed, "huge", "SlurmNoNode")
    assert f"asks for {CPUS + 1} CPUs" in text and f"has {CPUS} CPUs" in text, text
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    bed.kube.delete("Pod", "huge")


def test_namespace_without_rule_is_refused(bed):
    """The configuration lists the namespaces that may use Slurm; a pod of another namespace reports
    that it may not.
    """
    bed.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "stranger"}})
    bed.plane.default_account("stranger")
    manifest = pod("alone")
    manifest["metadata"]["namespace"] = "stranger"
    made = bed.kube.create(manifest)
    assert "stranger" in wait_reason(bed, "stranger/alone", "SlurmRefused")
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    bed.kube.delete("Pod", "stranger/alone")


def test_pod_of_another_scheduler_is_left_alone(bed):
    """No condition, no job, no binding, even when a later pod of ours has run."""
    made = bed.kube.create(pod("other", scheduler="other"))
    bed.kube.create(pod("ours", kwok={"run": "10ms"}))
    bed.kube.wait_phase("ours", "Succeeded")
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    equal(bed.kube.get("Pod", "other")["status"].get("conditions"), None)
    bed.kube.delete("Pod", "other")


def test_full_cluster_makes_the_rest_wait(bed):
    """Four pods fill the four nodes. Six more wait in squeue, each with Slurm's reason in its
    condition; when two of the four end, all six run.
    """
    fill(bed, "full", CPUS, NODES)
    waiting = [bed.kube.create(pod(f"next-{i}", cpu=4, kwok={"run": "200ms"})) for i in range(6)]
    for i, made in enumerate(waiting):
        number = job_in_state(bed, made, "PENDING")["JobId"]
        text = wait_reason(bed, f"next-{i}", "SlurmPending", f"job {number} is pending: ")
        assert re.search(r": (Resources|Priority)\b", text), text

    def same_in_squeue():
        reasons = dict(
            line.split()
            for line in bed.slurm.run("squeue", "-h", "-t", "PD", "-o", "%i %r").splitlines()
        )
        for i, made in enumerate(waiting):
            reason = reasons[only_job(bed, made)["JobId"]]
            said = condition(bed.kube.pods()[f"next-{i}"], "PodScheduled")["message"]
            assert (
                reason in ("Resources", "Priority") and f": {reason}" in said
            ), f"squeue says {reason}, next-{i}: {said}"
        return True

    wait_for(same_in_squeue, "squeue and the pods to give the same reasons")
    for i in range(2):
        bed.kube.delete("Pod", f"full-{i}")
    for i, made in enumerate(waiting):
        bed.kube.wait_phase(f"next-{i}", "Succeeded")
        job_in_state(bed, made, "COMPLETED")
    equal([bed.kube.pods()[f"full-{i}"]["status"]["phase"] for i in (2, 3)], ["Running"] * 2)
    for i in (2, 3):
        bed.kube.delete("Pod", f"full-{i}")
    wait_no_live_jobs(bed)


def _all_ended_in_slurm(bed):
    """Asks the agent, because a request to Slurm would be counted."""
    states = {j["state"] for j in bed.agent.skube("show", "jobs")["jobs"]}
    return not states & {"pending", "running", "suspended"}


def _rpcs(bed):
    return {k: n for k, n in bed.slurm.rpcs().items() if k != "REQUEST_STATS_INFO"}


def _burst_within_budget(bed, name, pods, before, jobs):
    job_controller_status(bed, name, succeeded=pods)
    wait_for(lambda: _all_ended_in_slurm(bed), "all jobs to have ended")
    spent = {k: n - before.get(k, 0) for k, n in _rpcs(bed).items() if n > before.get(k, 0)}
    print(f"# {name}: {sum(spent.values()) / jobs:.2f} RPCs a pod: {spent}", flush=True)
    assert sum(spent.values()) <= 3 * jobs, f"{sum(spent.values())} RPCs for {jobs} pods: {spent}"


def test_at_most_three_rpcs_for_a_pod(bed):
    """Compares sdiag's counts before and after 200 pods."""
    before = _rpcs(bed)
    bed.kube.create(job("cheap", 200, kwok={"run": "100ms"}))
    _burst_within_budget(bed, "cheap", 200, before, 200)


def test_waiting_pods_cost_no_rpcs(bed):
    """The same if all 200 wait until each has its condition: no RPC asks Slurm about them
    meanwhile.
    """
    before = _rpcs(bed)
    fill(bed, "block", CPUS, NODES)
    bed.kube.create(job("patient", 200, kwok={"run": "100ms"}))
    bed.kube.wait(lambda: len(bed.kube.pods("patient-")) == 200, "200 pods")
    for name in bed.kube.pods("patient-"):
        wait_reason(bed, name, "SlurmPending", "is pending", timeout=60)
    for i in range(NODES):
        bed.kube.delete("Pod", f"block-{i}")
    _burst_within_budget(bed, "patient", 200, before, 200 + NODES)


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=NODES,
            cpus=CPUS,
            agent_options={
                "namespaces": [
                    {
                        "name": "default",
                        "user": "nobody",
                        "group": "nogroup",
                        "permissions": ["may_set_priority"],
                    }
                ],
                "settings": {"limits": {"condition_interval_seconds": 1}},
            },
        )
    )
