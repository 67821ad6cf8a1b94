#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Other ends: cancelled in Slurm, deleted in Kubernetes, node lost. There is one node of 8 CPUs, so
that the next pod needs what the former one held. With kwok's "stop" annotation a deleted pod takes
its time to end, as real ones do, until the test ends it.
"""
from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import (
    Sight,
    bound,
    disruption,
    fill,
    free,
    gone,
    job_in_state,
    jobs_by_uid,
    number_of,
    only_job,
    uid_of,
    wait_no_live_jobs,
    wait_reason,
)
from lib.kube import condition
from lib.kubelets import end_pod, not_ready

HOLD = 5  # seconds; forced_delete_hold_seconds


def _next_pod_waits_in_kubernetes(bed, former, next_pod):
    """Slurm has given the node to the next pod while the former one still exists: only the agent's
    check before binding keeps the next one off.
    """
    job_in_state(bed, next_pod, "RUNNING")
    bed.kube.wait(
        lambda: "deletionTimestamp" in bed.kube.pods()[former["metadata"]["name"]]["metadata"],
        "the former pod to be deleted",
    )
    assert not bed.kube.pods()[next_pod["metadata"]["name"]]["spec"].get(
        "nodeName"
    ), "bound beside a pod that is still ending"


def test_scancel_of_a_running_pod(bed):
    """The pod is deleted with a condition that gives the reason. The next one has its job at once,
    but is bound only when the first is gone.
    """
    (first,) = fill(bed, "first", 8, kwok={"stop": "1h"})
    second = bed.kube.create(pod("second", cpu=8, kwok={"run": "100ms"}))
    job_in_state(bed, second, "PENDING")
    number = number_of(only_job(bed, first))
    bed.slurm.run("scancel", str(number))
    _next_pod_waits_in_kubernetes(bed, first, second)
    why = disruption(bed, "first-0")
    end_pod(bed, "first-0", 143)
    bed.kube.wait_phase("second", "Succeeded")
    equal((why["status"], why["reason"]), ("True", "SlurmJobEnded"))
    assert str(number) in why["message"] and "cancelled" in why["message"], why["message"]
    assert (
        Sight(bed, "first-0", free).place < Sight(bed, "second", bound).place
    ), "second was bound too early"
    equal(job_in_state(bed, first, "CANCELLED")["JobId"], str(number))
    job_in_state(bed, second, "COMPLETED")


def test_scancel_of_a_waiting_pod(bed):
    """A job that never ran: its pod is deleted, with the reason; the running pod stays."""
    (holder,) = fill(bed, "holder", 8)
    waiter = bed.kube.create(pod("waiter", cpu=8))
    number = number_of(job_in_state(bed, waiter, "PENDING"))
    bed.slurm.run("scancel", str(number))
    bed.kube.wait_gone("waiter")
    why = condition(Sight(bed, "waiter", gone).pod, "DisruptionTarget")
    assert str(number) in why.get("message", ""), f"condition DisruptionTarget: {why}"
    job_in_state(bed, waiter, "CANCELLED")
    equal(only_job(bed, holder)["JobState"], "RUNNING")
    bed.kube.delete("Pod", "holder-0")
    wait_no_live_jobs(bed)


def test_delete_of_a_waiting_pod(bed):
    """kubectl delete pod of a waiting pod: its job leaves the queue."""
    fill(bed, "busy", 8)
    waiter = bed.kube.create(pod("dropped", cpu=8))
    job_in_state(bed, waiter, "PENDING")
    bed.plane.kubectl("delete", "pod", "dropped", "--wait=false")
    job_in_state(bed, waiter, "CANCELLED")
    bed.kube.delete("Pod", "busy-0")
    wait_no_live_jobs(bed)


def test_delete_of_a_running_pod(bed):
    """The job holds its node until the pod has really ended, then it is CANCELLED."""
    (made,) = fill(bed, "stopped", 8, kwok={"stop": "1h"})
    bed.plane.kubectl("delete", "pod", "stopped-0", "--wait=false")
    bed.kube.wait(
        lambda: "deletionTimestamp" in bed.kube.pods()["stopped-0"]["metadata"],
        "the deletion to begin",
    )
    witness = bed.kube.create(
        pod("witness", cpu=8)
    )  # once the agent has seen this later pod, it has also seen the deletion
    job_in_state(bed, witness, "PENDING")
    equal(only_job(bed, made)["JobState"], "RUNNING", "the job while the pod is ending")
    bed.kube.delete("Pod", "witness")
    job_in_state(bed, witness, "CANCELLED")
    end_pod(bed, "stopped-0", 143)
    bed.kube.wait_gone("stopped-0")
    job_in_state(bed, made, "CANCELLED")


def test_delete_of_a_job_with_running_and_waiting_pods(bed):
    """kubectl delete job: of twelve pods eight run and four wait. All twelve Slurm jobs end
    CANCELLED.
    """
    bed.kube.create(job("twelve", 12, kwok={"run": "1h"}))
    wait_for(
        lambda: sorted(j["JobState"] for js in _jobs_of(bed, "twelve-") for j in js)
        == ["PENDING"] * 4 + ["RUNNING"] * 8,
        "eight to run and four to wait",
    )
    uids = [uid_of(p) for p in bed.kube.pods("twelve-").values()]
    bed.plane.kubectl("delete", "job", "twelve", "--wait=false")
    wait_no_live_jobs(bed)
    jobs = jobs_by_uid(bed)
    equal([[j["JobState"] for j in jobs[u]] for u in uids], [["CANCELLED"]] * 12)
    bed.kube.wait(lambda: not bed.kube.pods("twelve-"), "the pods to be gone")


def _jobs_of(bed, prefix):
    jobs = jobs_by_uid(bed)
    return [jobs[uid_of(p)] for p in bed.kube.pods(prefix).values()]


def test_forced_delete_holds_the_node_for_a_while(bed):
    """kubectl delete --force: the object is gone at once, but its containers are not. The next pod
    waits for the configured time.
    """
    (forced,) = fill(bed, "forced", 8)
    after = bed.kube.create(pod("after-force", cpu=8, kwok={"run": "100ms"}))
    job_in_state(bed, after, "PENDING")
    bed.plane.kubectl("delete", "pod", "forced-0", "--force", "--grace-period=0", "--wait=false")
    job_in_state(bed, forced, "CANCELLED")
    bed.kube.wait_phase("after-force", "Succeeded")
    held = Sight(bed, "after-force", bound).time - Sight(bed, "forced-0", gone).time
    assert held > HOLD - 2.0, f"the next pod was bound {held:.2f} s after a forced deletion"


def test_finished_pod_may_be_deleted(bed):
    """Deleting an ended pod changes nothing in Slurm."""
    made = bed.kube.create(pod("over", kwok={"run": "10ms", "exit-code": 2}))
    job_in_state(bed, made, "FAILED")
    bed.kube.delete("Pod", "over")
    bed.kube.wait_gone("over")
    equal(job_in_state(bed, made, "FAILED")["ExitCode"], "2:0")


def test_lost_node_fails_its_job(bed):
    """The node is NotReady for longer than not_ready_after: it is set DOWN, its job ends NODE_FAIL,
    the pod is deleted; then the node comes back.
    """
    (lost,) = fill(bed, "lost", 8)
    heir = bed.kube.create(pod("heir", cpu=8, kwok={"run": "100ms"}))
    job_in_state(bed, heir, "PENDING")
    bed.plane.freeze("kwok")
    not_ready(bed, "node-0")
    job_in_state(bed, lost, "NODE_FAIL")
    bed.kube.wait(
        lambda: "deletionTimestamp" in bed.kube.pods()["lost-0"]["metadata"],
        "the pod to be deleted",
    )
    assert "node failed" in disruption(bed, "lost-0")["message"]
    wait_for(lambda: bed.slurm.node("node-0")["State"].startswith("DOWN"), "node-0 to be DOWN")
    bed.plane.thaw("kwok")
    bed.kube.wait_phase("heir", "Succeeded")
    assert Sight(bed, "lost-0", free).place < Sight(bed, "heir", bound).place
    job_in_state(bed, heir, "COMPLETED")


def test_refused_by_the_kubelet(bed):
    """A pod that ends with a reason but without exit code: FAILED, not CANCELLED."""
    made = bed.kube.create(
        pod("refused", kwok={"run": "10ms", "exit-code": 1, "reason": "OutOfcpu"})
    )
    bed.kube.wait_phase("refused", "Failed")
    equal(job_in_state(bed, made, "FAILED", "COMPLETED")["ExitCode"], "1:0")


def test_held_job_says_so_and_runs_when_released(bed):
    """scontrol hold and release belong to Slurm: the pod reports the hold, and runs after the
    release.
    """
    fill(bed, "front", 8)
    made = bed.kube.create(pod("held", cpu=1, kwok={"run": "10ms"}))
    number = job_in_state(bed, made, "PENDING")["JobId"]
    bed.slurm.run("scontrol", "hold", number)
    wait_reason(bed, "held", "SlurmPending", "Held")
    bed.kube.delete("Pod", "front-0")
    bed.kube.wait_gone("front-0")
    equal(only_job(bed, made)["JobState"], "PENDING")
    bed.slurm.run("scontrol", "release", number)
    bed.kube.wait_phase("held", "Succeeded")
    job_in_state(bed, made, "COMPLETED")


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=1,
            cpus=8,
            agent_options={
                "settings": {
                    "nodes": {"manage": True, "not_ready_after": 1},
                    "limits": {"condition_interval_seconds": 1, "forced_delete_hold_seconds": HOLD},
                }
            },
        )
    )
