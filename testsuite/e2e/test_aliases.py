#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""scheduler_aliases: pods that name an earlier scheduler run through Slurm as well, and those that
it has bound already go on and are counted.
"""
from lib import Cluster, equal, kubelets, pod, run
from lib.admin import skube
from lib.expect import job_in_state, uid_of, wait_no_live_jobs
from lib.kube import condition

ALIASES = ["older", "oldest"]


def _alias(bed, *names):
    bed.agent.settings["scheduler_aliases"] = list(names)
    bed.agent.restart()


def _is_running(bed, made):
    now = bed.kube.get("Pod", made["metadata"]["name"])
    equal((uid_of(now), now["status"]["phase"]), (uid_of(made), "Running"))
    assert "deletionTimestamp" not in now["metadata"] and not condition(
        now, "DisruptionTarget"
    ), now


def test_pods_of_each_name_run_through_slurm(bed):
    """With options as always; a pod with another name is left alone."""
    made = {
        name: bed.kube.create(
            pod(
                f"of-{name}",
                scheduler=name,
                kwok={"run": "50ms"},
                annotations={"slurm-kube.io/job-name": f"named-{name}"},
            )
        )
        for name in ("slurm", *ALIASES)
    }
    other = bed.kube.create(pod("of-another", scheduler="another"))
    for name, one in made.items():
        equal(job_in_state(bed, one, "COMPLETED")["JobName"], f"named-{name}")
    equal(bed.slurm.job_of_pod(uid_of(other)), [])
    assert "nodeName" not in bed.kube.get("Pod", "of-another")["spec"]
    said = skube(bed, "why", "of-another").stderr
    assert "with schedulerName slurm or older or oldest has been seen" in said, said
    bed.kube.delete("Pod", "of-another")


def test_a_name_that_is_removed_harms_no_pod(bed):
    """The running pod and its job go on; when the name is back, the job gets the pod's end."""
    made = bed.kube.create(pod("stays", scheduler="older", kwok={"run": "1h"}))
    bed.kube.wait_phase("stays", "Running")
    job = job_in_state(bed, made, "RUNNING")
    _alias(bed)
    later = bed.kube.create(pod("later", kwok={"run": "50ms"}))
    job_in_state(bed, later, "COMPLETED")
    _is_running(bed, made)
    equal(job_in_state(bed, made, "RUNNING")["JobId"], job["JobId"])
    _alias(bed, *ALIASES)
    kubelets.end_pod(bed, "stays")
    equal(job_in_state(bed, made, "COMPLETED")["JobId"], job["JobId"])


def test_a_pod_that_the_earlier_scheduler_bound_goes_on(bed):
    """It gets a job on its node before pods that wait there, so that Slurm counts it, and the job
    gets its end. While the node is drained, the job waits, and pods start elsewhere.
    """
    _alias(bed)
    made = bed.kube.create(pod("moved", cpu=3, scheduler="older", kwok={"run": "1h"}))
    bed.kube.bind("moved", "node-2")
    bed.kube.wait_phase("moved", "Running")
    bed.slurm.run("scontrol", "update", "PartitionName=kube", "State=DOWN")
    there = {"slurm-kube.io/required-nodes": "node-2"}
    other = bed.kube.create(
        pod("waits", cpu=6, scheduler="older", annotations=there, kwok={"run": "1s"})
    )
    _alias(bed, *ALIASES)
    job_in_state(bed, other, "PENDING")
    job_in_state(bed, made, "PENDING", timeout=60)
    bed.slurm.run("scontrol", "update", "NodeName=node-2", "State=DRAIN", "Reason=test")
    bed.slurm.run("scontrol", "update", "PartitionName=kube", "State=UP")
    elsewhere = bed.kube.create(pod("elsewhere", kwok={"run": "50ms"}))
    job_in_state(bed, elsewhere, "COMPLETED")
    equal(job_in_state(bed, made, "PENDING")["JobState"], "PENDING")
    bed.slurm.run("scontrol", "update", "NodeName=node-2", "State=RESUME")
    job = job_in_state(bed, made, "RUNNING", timeout=60)
    equal((job["NodeList"], job["NumCPUs"]), ("node-2", "3"))
    equal(job_in_state(bed, other, "PENDING")["JobState"], "PENDING")
    _is_running(bed, made)
    kubelets.end_pod(bed, "moved")
    equal(job_in_state(bed, made, "COMPLETED")["JobId"], job["JobId"])
    job_in_state(bed, other, "COMPLETED")


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed, 60)


class _Aliases(Cluster):
    def __init__(self, build):
        super().__init__(build, kwok=3, agent_options={"settings": {"scheduler_aliases": ALIASES}})


if __name__ == "__main__":
    run(_Aliases)
