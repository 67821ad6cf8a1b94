#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods that start together: one Slurm job for all of them, placed as a whole, ended as a whole.

Four simulated nodes of eight CPUs. An Indexed Job with as many completions as it runs at once is
the simplest gang.
"""
from lib import Cluster, equal, job, run, wait_for


def gang(name, pods, **options):
    return job(name, pods, indexed=True, **options)


def create(bed, manifest, pods):
    """Creates an owner; returns its uid when pods pods exist."""
    uid = bed.kube.create(manifest)["metadata"]["uid"]
    bed.kube.wait(lambda: len(members(bed, manifest["metadata"]["name"])) >= pods, f"{pods} pods")
    return uid


def members(bed, name):
    return bed.kube.pods(f"{name}-")


def jobs_of(bed, uid):
    """All Slurm jobs of a gang, parts of it included, oldest first."""
    return [
        j
        for _, j in sorted(bed.slurm.jobs().items())
        if f'"uid":"{uid}' in j.get("AdminComment", "")
    ]


def the_job(bed, uid):
    found = wait_for(lambda: jobs_of(bed, uid), "a job of the gang")
    equal(len(found), 1, "jobs of the gang")
    return found[0]


def wait_bound(bed, name, pods):
    bed.kube.wait(
        lambda: sum(bool(p["spec"].get("nodeName")) for p in members(bed, name).values()) == pods,
        f"{pods} pods of {name} to be bound",
    )


def annotation(a_pod, key):
    return a_pod["metadata"]["annotations"].get(f"allocation.slurm-kube.io/{key}")


def nodes_by_rank(bed, name):
    return [
        p["spec"].get("nodeName")
        for p in sorted(members(bed, name).values(), key=lambda p: int(annotation(p, "rank")))
    ]


def test_gang_is_one_job(bed):
    """Eight pods of four CPUs are one job of eight tasks. Rank i is completion index i, ranks fill
    the nodes in the order of squeue's list, and all end as one COMPLETED job.
    """
    uid = create(bed, gang("eight", 8, cpu=4, kwok={"run": "3s"}), 8)
    wait_bound(bed, "eight", 8)
    one = the_job(bed, uid)
    equal((one["NumTasks"], one["NumCPUs"], one["NumNodes"]), ("8", "32", "4"))
    equal(nodes_by_rank(bed, "eight"), [n for n in sorted(bed.names) for _ in range(2)])
    for p in members(bed, "eight").values():
        equal(
            annotation(p, "rank"),
            p["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"],
        )
        equal(
            (annotation(p, "size"), annotation(p, "job-id"), annotation(p, "nodes")),
            ("8", one["JobId"], ",".join(sorted(bed.names))),
        )
    bed.kube.wait(
        lambda: all(
            p["status"].get("phase") == "Succeeded" for p in members(bed, "eight").values()
        ),
        "all to succeed",
    )
    equal(bed.slurm.wait_job(int(one["JobId"]), "COMPLETED")["ExitCode"], "0:0")


def test_gang_starts_as_a_whole(bed):
    """A gang uses six of eight places: another gang that needs all eight waits in squeue, and none
    of its pods is bound before the first gang is gone.
    """
    first = create(bed, gang("first", 6, cpu=4, kwok={"run": "1h"}), 6)
    wait_bound(bed, "first", 6)
    second = create(bed, gang("second", 8, cpu=4, kwok={"run": "1s"}), 8)
    waiting = the_job(bed, second)
    equal(waiting["JobState"], "PENDING")
    bed.kube.wait(
        lambda: any(
            "is pending" in str(p["status"].get("conditions"))
            for p in members(bed, "second").values()
        ),
        "the pods to say why they wait",
    )
    equal([p["spec"].get("nodeName") for p in members(bed, "second").values()], [None] * 8)
    bed.kube.delete("Job", "first")
    bed.slurm.wait_job(int(the_job(bed, first)["JobId"]), "CANCELLED")
    wait_bound(bed, "second", 8)
    bed.slurm.wait_job(int(waiting["JobId"]), "COMPLETED")


def test_result_is_that_of_the_rank_that_failed(bed):
    """One of four pods exits with code 3: so does the job, whatever the others do."""
    uid = create(bed, gang("bad", 4, kwok={"run": "500ms", "exit-code-2": 3}), 4)
    done = bed.slurm.wait_job(int(the_job(bed, uid)["JobId"]), "COMPLETED", "FAILED", "CANCELLED")
    equal((done["JobState"], done["ExitCode"]), ("FAILED", "3:0"))


def test_scancel_ends_all_pods(bed):
    """scancel of the job deletes its pods; the Job's failure is counted by its own controller."""
    uid = create(bed, gang("cancelled", 4, kwok={"run": "1h"}), 4)
    wait_bound(bed, "cancelled", 4)
    names = set(members(bed, "cancelled"))
    bed.slurm.run("scancel", the_job(bed, uid)["JobId"])
    bed.kube.wait(lambda: not names & set(members(bed, "cancelled")), "the four pods to be gone")
    bed.kube.delete("Job", "cancelled")


def test_fractions_of_a_cpu_are_summed(bed):
    """Ten pods of 100m need one CPU; as separate tasks they would need ten."""
    uid = create(bed, gang("tenths", 10, cpu="100m", memory="10Mi", kwok={"run": "1s"}), 10)
    wait_bound(bed, "tenths", 10)
    one = the_job(bed, uid)
    equal((one["NumTasks"], one["NumCPUs"]), ("1", "1"))
    equal(len(set(nodes_by_rank(bed, "tenths"))), 1)
    bed.slurm.wait_job(int(one["JobId"]), "COMPLETED")


def test_memory_of_small_pods_is_not_added_up(bed):
    """Four pods of half a CPU and 10 GiB on nodes of 16 GiB get a node each, not two tasks of 20
    GiB, which no node could hold.
    """
    uid = create(bed, gang("wide", 4, cpu="500m", memory="10Gi", kwok={"run": "500ms"}), 4)
    wait_bound(bed, "wide", 4)
    equal((the_job(bed, uid)["NumTasks"], nodes_by_rank(bed, "wide")), ("4", sorted(bed.names)))
    bed.slurm.wait_job(int(the_job(bed, uid)["JobId"]), "COMPLETED")


def test_pods_larger_than_their_template(bed):
    """A LimitRange sets requests that the template does not name: the job has the size of the real
    pods, and every rank starts.
    """
    bed.kube.request(
        "POST",
        "/api/v1/namespaces/default/limitranges",
        {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": {"name": "sizes"},
            "spec": {
                "limits": [
                    {
                        "type": "Container",
                        "defaultRequest": {"cpu": "3", "memory": "1Gi"},
                        "default": {"cpu": "3", "memory": "1Gi"},
                    }
                ]
            },
        },
    )
    try:
        manifest = gang("grown", 6, kwok={"run": "500ms"})
        del manifest["spec"]["template"]["spec"]["containers"][0]["resources"]
        uid = create(bed, manifest, 6)
        wait_bound(bed, "grown", 6)
        one = the_job(bed, uid)
        equal((one["NumTasks"], one["NumCPUs"]), ("6", "18"))
        bed.slurm.wait_job(int(one["JobId"]), "COMPLETED")
    finally:
        bed.kube.request("DELETE", "/api/v1/namespaces/default/limitranges/sizes")


def test_options_of_a_gang(bed):
    """One pod per node on request; and pods of an Indexed Job that opts out of gangs have a job
    each.
    """
    spread = gang("spread", 4, kwok={"run": "1s"})
    spread["metadata"]["annotations"] = {"slurm-kube.io/pods-per-node": "1"}
    uid = create(bed, spread, 4)
    wait_bound(bed, "spread", 4)
    equal(nodes_by_rank(bed, "spread"), sorted(bed.names))
    bed.slurm.wait_job(int(the_job(bed, uid)["JobId"]), "COMPLETED")
    loose = gang("loose", 3, kwok={"run": "100ms"})
    loose["metadata"]["annotations"] = {"slurm-kube.io/gang": "false"}
    create(bed, loose, 3)
    bed.kube.wait(
        lambda: all(
            p["status"].get("phase") == "Succeeded" for p in members(bed, "loose").values()
        ),
        "all to succeed",
    )
    equal(len({annotation(p, "job-id") for p in members(bed, "loose").values()}), 3)


def test_options_change_while_it_waits(bed):
    """kubectl annotate of the first pod: the gang's job changes, and is released in the
    same way.
    """
    later = gang("later", 4, kwok={"run": "100ms"})
    later["metadata"]["annotations"] = {
        "slurm-kube.io/hold": "true",
        "slurm-kube.io/timelimit": "10",
    }
    uid = create(bed, later, 4)
    number = the_job(bed, uid)["JobId"]
    equal(the_job(bed, uid)["TimeLimit"], "00:10:00")
    first = next(
        n
        for n, p in members(bed, "later").items()
        if p["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "0"
    )
    bed.kube.patch("Pod", first, {"metadata": {"annotations": {"slurm-kube.io/timelimit": "20"}}})
    wait_for(
        lambda: the_job(bed, uid)["TimeLimit"] == "00:20:00", "the job to have the new time limit"
    )
    bed.kube.patch("Pod", first, {"metadata": {"annotations": {"slurm-kube.io/hold": "false"}}})
    bed.kube.wait(
        lambda: all(
            p["status"].get("phase") == "Succeeded" for p in members(bed, "later").values()
        ),
        "all to succeed",
    )
    equal(bed.slurm.wait_job(int(number), "COMPLETED")["NumTasks"], "4")


def test_replacement_takes_the_rank(bed):
    """A deleted pod is replaced by its Job, and gets the node of its rank, in the same
    Slurm job.
    """
    manifest = gang("again", 4, cpu=4, kwok={"run": "1h"})
    manifest["spec"]["backoffLimit"] = 6
    uid = create(bed, manifest, 4)
    wait_bound(bed, "again", 4)
    before, old = nodes_by_rank(bed, "again"), {
        n for n, p in members(bed, "again").items() if annotation(p, "rank") == "2"
    }
    bed.kube.delete("Pod", *old)
    bed.kube.wait(
        lambda: len(members(bed, "again")) == 4 and not old & set(members(bed, "again")),
        "another pod",
    )
    wait_bound(bed, "again", 4)
    equal(nodes_by_rank(bed, "again"), before)
    equal(the_job(bed, uid)["JobState"], "RUNNING")
    bed.kube.delete("Job", "again")
    bed.slurm.wait_job(int(the_job(bed, uid)["JobId"]), "CANCELLED")


def test_too_large_a_gang_says_so(bed):
    """A gang that needs more than all nodes have: no job, and every pod reports that."""
    create(bed, gang("huge", 20, cpu=4), 20)
    bed.kube.wait(
        lambda: sum(
            "SlurmNoNode" in str(p["status"].get("conditions"))
            for p in members(bed, "huge").values()
        )
        == 20,
        "twenty pods to say that no node may take them",
    )
    bed.kube.delete("Job", "huge")


def test_agent_killed_between(bed):
    """The agent is killed with -9 while one gang runs and another waits: afterwards both have their
    one job, and end normally.
    """
    running = create(bed, gang("runs", 6, cpu=4, kwok={"run": "6s"}), 6)
    wait_bound(bed, "runs", 6)
    waiting = create(bed, gang("waits", 8, cpu=4, kwok={"run": "1s"}), 8)
    ids = [the_job(bed, uid)["JobId"] for uid in (running, waiting)]
    bed.agent.kill9()
    bed.agent.start()
    for job_id in ids:
        equal(
            bed.slurm.wait_job(int(job_id), "COMPLETED", "FAILED", "CANCELLED", timeout=60)[
                "JobState"
            ],
            "COMPLETED",
        )
    equal([the_job(bed, uid)["JobId"] for uid in (running, waiting)], ids)


def test_gangs_compete_without_deadlock(bed):
    """Five gangs, each larger than half of the cluster, run one after another, each as a whole."""
    uids = [create(bed, gang(f"rival{i}", 5, cpu=4, kwok={"run": "500ms"}), 5) for i in range(5)]
    for uid in uids:
        bed.slurm.wait_job(int(the_job(bed, uid)["JobId"]), "COMPLETED", timeout=60)


if __name__ == "__main__":
    run(lambda build: Cluster(build, kwok=4, cpus=8))
