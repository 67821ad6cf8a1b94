#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Roles that do not fit into one job of equal tasks: each set of similar roles is a component with
its own Slurm job. All components start together, and the end of one ends all.

One node without devices, and two with GPUs and a taint, of eight CPUs each (lib/components.py).
test_unlike_waits.py has the cases in which such workloads wait and slurmkubed dies,
test_unlike_lives.py those in which their owners restart, are suspended or are resized.
"""
from lib import equal, run, wait_for
from lib.components import (
    GPU,
    GPU_NODES,
    HEAD,
    ON_CPU,
    ON_GPU,
    TOLERANT,
    URGENT,
    WORKER,
    PoolTestbed,
    Ray,
    codes_of,
    component_of,
    job_of,
    ranks_of,
    started_whole,
    told,
    torch,
)
from lib.expect import LIVE, disruption, fill, wait_no_live_jobs
from lib.kubelets import end_pod
from lib.workloads import (
    change,
    create,
    delete,
    get,
    job_set,
    jobs_of,
    leader_worker_set,
    replicated_job,
    sizes_of,
    uid_of,
    wait_bound,
    wait_jobs,
    wait_none,
)


def each_on(pods, nodes):
    """Fails unless these pods are on all of these nodes, and nowhere else."""
    equal({p["spec"]["nodeName"] for p in pods}, set(nodes))


# ---- kinds of owners ----


def test_ray_head_without_gpus_and_workers_with(bed):
    """As in KubeRay's PyTorch sample: a head of one CPU, and four workers of one CPU and one GPU,
    which alone tolerate the taint of the GPU nodes. Each component has a job, with the result of
    its own pods."""
    ray = Ray(
        bed,
        "sample",
        {"cpu": 1, "memory": "1Gi"},
        {"cpu": 1, "memory": "1Gi", "devices": {GPU: 1}, "spec": TOLERANT},
        4,
    )
    pods = ray.wait_running()
    head, workers = pods[ray.head], [pods[n] for n in ray.workers]
    each_on([head], ["cpu-0"])
    assert {w["spec"]["nodeName"] for w in workers} <= GPU_NODES
    started_whole(bed, pods)
    jobs = ray.jobs()
    equal((len(jobs), sorted(map(uid_of, jobs))), (2, [ray.uid, ray.uid + "+1"]))
    of_head, of_workers = job_of(bed, head), job_of(bed, workers[0])
    equal({job_of(bed, w)["JobId"] for w in workers}, {of_workers["JobId"]})
    equal((sizes_of(of_head), sizes_of(of_workers)), (("1", "1"), ("4", "4")))
    assert int(of_workers["JobId"]) < int(of_head["JobId"]), "the largest is submitted first"
    for name in pods:
        end_pod(bed, name, 3 if name == ray.workers[2] else 0)
    equal(codes_of(bed, [of_head, of_workers]), [("COMPLETED", "0:0"), ("FAILED", "3:0")])
    ray.remove()


def test_ranks_and_sizes_are_of_the_workload(bed):
    """What a container can have in its environment: ranks count over both components, in the order
    of the roles; the size is that of the workload; the job is that of the pod's component."""
    ray = torch(bed, "ranks")
    pods = ray.wait_running()
    ranks = ranks_of(pods)
    equal((ranks[ray.head], sorted(ranks[n] for n in ray.workers)), (0, [1, 2, 3, 4]))
    equal(component_of(job_of(bed, pods[ray.head])), 0)
    equal({component_of(job_of(bed, pods[n])) for n in ray.workers}, {1})
    ray.remove()


def test_squeue_shows_that_they_belong_together(bed):
    """Name and comment of both jobs name the workload, and no two jobs look the same."""
    ray = torch(bed, "together")
    ray.wait_running()
    numbers = ",".join(j["JobId"] for j in ray.jobs(*LIVE))
    lines = bed.slurm.run("squeue", "-h", "-j", numbers, "-o", "%j %k").splitlines()
    equal((len(set(lines)), [ray.name in line for line in lines]), (2, [True] * 2), str(lines))
    ray.remove()


def two_pools(name, driver_runs="2s", workers=2, exit_code=0, **spec):
    """A JobSet of a driver in one pool, and of workers Jobs of workers pods in the other."""
    life = {"run": "2s", "exit-code": exit_code}
    return job_set(
        name,
        replicated_job("driver", cpu=1, kwok={"run": driver_runs}, spec=ON_CPU),
        replicated_job("workers", workers, workers, cpu=3, kwok=life, spec=ON_GPU),
        **spec,
    )


def test_job_set_of_two_pools(bed):
    """Driver and workers are placed by nodeSelector, with JobSet's real manager: COMPLETED, like
    the JobSet.
    """
    uid = create(bed, two_pools("pools"))["metadata"]["uid"]
    pods = wait_bound(bed, "pools", 5)
    started_whole(bed, pods)
    driver = [p for n, p in pods.items() if n.startswith("pools-driver")]
    workers = [p for n, p in pods.items() if n.startswith("pools-workers")]
    each_on(driver, ["cpu-0"])
    each_on(workers, GPU_NODES)
    equal(
        {n.rpartition("-")[0]: rank for n, rank in ranks_of(pods).items()},
        {
            "pools-driver-0-0": 0,
            "pools-workers-0-0": 1,
            "pools-workers-0-1": 2,
            "pools-workers-1-0": 3,
            "pools-workers-1-1": 4,
        },
    )
    jobs = wait_jobs(bed, uid, 2)
    equal({component_of(j): sizes_of(j) for j in jobs}, {0: ("1", "1"), 1: ("4", "12")})
    equal(codes_of(bed, jobs), [("COMPLETED", "0:0")] * 2)
    wait_for(
        lambda: get(bed, "JobSet", "pools")["status"]["terminalState"] == "Completed",
        "the JobSet to be Completed",
    )


def test_job_set_whose_workers_fail(bed):
    """The driver has succeeded, and the worker exits with 3: one job is COMPLETED, the other
    FAILED.
    """
    manifest = two_pools("fails", driver_runs="100ms", workers=1, exit_code=3)
    uid = create(bed, manifest)["metadata"]["uid"]
    first, second = sorted(wait_jobs(bed, uid, 2), key=component_of)
    equal(codes_of(bed, [first, second]), [("COMPLETED", "0:0"), ("FAILED", "3:0")])


def test_job_set_in_order(bed):
    """The workers' Jobs are created when the driver is Ready: both components have nodes by
    then.
    """
    in_order = {"startupPolicyOrder": "InOrder"}
    manifest = two_pools("inorder", driver_runs="4s", startupPolicy=in_order)
    uid = create(bed, manifest)["metadata"]["uid"]
    started_whole(bed, wait_bound(bed, "inorder", 5), within=10)
    equal(codes_of(bed, wait_jobs(bed, uid, 2)), [("COMPLETED", "0:0")] * 2)


def test_roles_of_unlike_size(bed):
    """Any node suits both roles, but tasks of one size would waste much: each job has the size of
    its own pods."""
    roles = (
        replicated_job("small", cpu=1, kwok={"run": "1s"}, spec=TOLERANT),
        replicated_job("large", 2, cpu=7, kwok={"run": "1s"}, spec=TOLERANT),
    )
    uid = create(bed, job_set("sizes", *roles))["metadata"]["uid"]
    pods = wait_bound(bed, "sizes", 3)
    started_whole(bed, pods)
    equal(ranks_of(pods).keys(), pods.keys())
    jobs = wait_jobs(bed, uid, 2)
    equal({component_of(j): sizes_of(j) for j in jobs}, {0: ("1", "1"), 1: ("2", "14")})
    equal(codes_of(bed, jobs), [("COMPLETED", "0:0")] * 2)


def wait_ended(bed, uid):
    """Waits until two jobs of an owner are COMPLETED; returns its jobs."""

    def look():
        jobs = jobs_of(bed, uid)
        return jobs if [j["JobState"] for j in jobs].count("COMPLETED") == 2 else None

    return wait_for(look, "two jobs to be COMPLETED")


def test_roles_that_are_larger_than_their_templates(bed):
    """A LimitRange sets requests that the workers' template does not name: the first worker
    decides.
    """
    path = "/api/v1/namespaces/default/limitranges"
    sizes = {"cpu": "3", "memory": "1Gi"}
    limits = [{"type": "Container", "defaultRequest": sizes, "default": sizes}]
    bed.kube.request("POST", path, {"metadata": {"name": "sizes"}, "spec": {"limits": limits}})
    try:
        manifest = two_pools("grown")
        workers = manifest["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]
        del workers["spec"]["containers"][0]["resources"]
        uid = create(bed, manifest)["metadata"]["uid"]
        started_whole(bed, wait_bound(bed, "grown", 5))
        done = [j for j in wait_ended(bed, uid) if j["JobState"] == "COMPLETED"]
        equal({component_of(j): sizes_of(j) for j in done}, {0: ("1", "1"), 1: ("4", "12")})
    finally:
        bed.kube.request("DELETE", path + "/sizes")


def test_many_unlike_roles(bed):
    """Nine different sizes for the same nodes exceed the limit of eight components: they share
    jobs.
    """
    options = {"cpu": 1, "kwok": {"run": "1s"}, "spec": TOLERANT}
    roles = [replicated_job(f"role{i}", memory=f"{64 + i}Mi", **options) for i in range(9)]
    uid = create(bed, job_set("nine", *roles))["metadata"]["uid"]
    pods = wait_bound(bed, "nine", 9)
    started_whole(bed, pods)
    equal(ranks_of(pods), {n: int(n[len("nine-role")]) for n in pods})
    jobs = jobs_of(bed, uid)
    assert len(jobs) <= 8, told(jobs)
    equal(set(codes_of(bed, jobs)), {("COMPLETED", "0:0")})


LEADER = {"cpu": 2, "spec": ON_CPU}
UNLIKE_LEADER = {"leader": LEADER, "cpu": 2, "devices": {GPU: 1}, "spec": ON_GPU}


def jobs_by_uid(bed, uid, count):
    return {uid_of(j).removeprefix(uid): j for j in wait_jobs(bed, uid, count)}


def test_leader_worker_set_with_unlike_leader(bed):
    """Two groups, each a leader without GPUs in one pool and two workers in the other: four jobs.
    When a group is deleted, both of its jobs end, and the other group is left alone."""
    uid = create(bed, leader_worker_set("lws", 3, replicas=2, **UNLIKE_LEADER))["metadata"]["uid"]
    pods = wait_bound(bed, "lws", 6)
    jobs = jobs_by_uid(bed, uid, 4)
    equal(
        {part: sizes_of(j) for part, j in jobs.items()},
        {"/0": ("1", "2"), "/0+1": ("2", "4"), "/1": ("1", "2"), "/1+1": ("2", "4")},
    )
    for group in ("lws-0", "lws-1"):
        of_group = {n: p for n, p in pods.items() if n.startswith(group)}
        started_whole(bed, of_group)
        equal(ranks_of(of_group), {group: 0, f"{group}-1": 1, f"{group}-2": 2})
        each_on([of_group.pop(group)], ["cpu-0"])
        assert {p["spec"]["nodeName"] for p in of_group.values()} <= GPU_NODES
    change(bed, "LeaderWorkerSet", "lws", {"spec": {"replicas": 1}})
    for part in ("/1", "/1+1"):
        bed.slurm.wait_job(int(jobs[part]["JobId"]), "CANCELLED")
    equal(
        {part: j["JobState"] for part, j in jobs_by_uid(bed, uid, 4).items() if part[1] == "0"},
        {"/0": "RUNNING", "/0+1": "RUNNING"},
    )
    delete(bed, "LeaderWorkerSet", "lws")
    wait_none(bed, "lws")


def test_leader_worker_set_leader_ready(bed):
    """Workers are created when the leader is Ready: their nodes are allocated before the leader is
    bound.
    """
    manifest = leader_worker_set("ready", 3, startup="LeaderReady", **UNLIKE_LEADER)
    uid = create(bed, manifest)["metadata"]["uid"]
    started_whole(bed, wait_bound(bed, "ready", 3), within=10)
    equal(set(jobs_by_uid(bed, uid, 2)), {"/0", "/0+1"})
    delete(bed, "LeaderWorkerSet", "ready")
    wait_none(bed, "ready")


# ---- the end of one component ends all ----


def all_go(bed, ray):
    """Every pod is deleted with the reason, and both jobs end."""
    for name in (ray.head, *ray.workers):
        equal(disruption(bed, name)["reason"], "SlurmJobEnded", f"why {name} goes")
    wait_none(bed, ray.name)
    jobs = ray.ended()
    equal(len(jobs), 2, str(told(jobs)))
    return {component_of(j): j["JobState"] for j in jobs}


def test_scancel_of_one_ends_all(bed):
    """First the head's job is cancelled, then, in another workload, the workers' job: the pods of
    both components are deleted.
    """
    for role, component in (("head", 0), ("workers", 1)):
        ray = torch(bed, f"cancel-{role}", kwok={"stop": "500ms"})
        ray.wait_running()
        bed.slurm.run("scancel", ray.wait_job_of(role, "RUNNING")["JobId"])
        states = all_go(bed, ray)
        equal(states[component], "CANCELLED")
        assert states[1 - component] != "COMPLETED", states
        ray.remove()


def test_scancel_of_the_workers_leaves_a_head_that_ends_apart(bed):
    """The owner has end-together: "false". The operator recreates the workers: they get another
    job, and the head runs all the time.
    """
    ray = Ray(
        bed,
        "apart",
        HEAD,
        {**WORKER, "kwok": {"stop": "500ms"}},
        2,
        annotations={"slurm-kube.io/end-together": "false"},
    )
    before = ray.wait_running()
    head_job = ray.wait_job_of("head", "RUNNING")["JobId"]
    first = ray.wait_job_of("workers", "RUNNING")["JobId"]
    bed.slurm.run("scancel", first)
    for name in ray.workers:
        bed.kube.wait_gone(name)
    for name in list(ray.workers):
        ray.make_again(name)
    after = ray.wait_running()
    equal(after[ray.head]["metadata"]["uid"], before[ray.head]["metadata"]["uid"])
    equal(ray.wait_job_of("head", "RUNNING")["JobId"], head_job)
    assert ray.wait_job_of("workers", "RUNNING")["JobId"] != first
    ray.remove()


def test_time_limit_of_one_ends_all(bed):
    """The test moves the end of the workers' job closer; slurmctld checks time limits twice a
    minute.
    """
    ray = torch(bed, "limit", kwok={"stop": "500ms"})
    ray.wait_running()
    number = ray.wait_job_of("workers", "RUNNING")["JobId"]
    bed.slurm.run("scontrol", "update", f"JobId={number}", "EndTime=now+10seconds")
    bed.slurm.wait_job(int(number), "TIMEOUT", timeout=90)
    states = all_go(bed, ray)
    equal(states[1], "TIMEOUT")
    assert states[0] != "COMPLETED", states
    ray.remove()


def test_node_failure_of_one_ends_all(bed):
    """The head's node is set DOWN: its job is NODE_FAIL, and the workers' pods are deleted, too."""
    ray = torch(bed, "node-fails", kwok={"stop": "500ms"})
    ray.wait_running()
    bed.slurm.run("scontrol", "update", "NodeName=cpu-0", "State=DOWN", "Reason=no power")
    states = all_go(bed, ray)
    equal(states[0], "NODE_FAIL")
    assert states[1] != "COMPLETED", states
    bed.slurm.run("scontrol", "update", "NodeName=cpu-0", "State=RESUME")
    wait_for(lambda: bed.slurm.node("cpu-0")["State"].startswith("IDLE"), "cpu-0 to be idle")
    ray.remove()


def test_preemption_of_one_ends_all(bed):
    """A pod of a preempting partition needs the head's node: it is bound when the head is gone, and
    the workers' pods are deleted, too."""
    ray = torch(bed, "preempted", kwok={"stop": "500ms"})
    ray.wait_running()
    fill(bed, "urgent", 8, spec=ON_CPU, annotations=URGENT)
    states = all_go(bed, ray)
    equal(states[0], "PREEMPTED")
    assert states[1] != "COMPLETED", states
    bed.kube.delete("Pod", "urgent-0")
    ray.remove()


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm once the workloads are deleted."""
    for kind in ("JobSet", "LeaderWorkerSet"):
        bed.plane.kubectl("delete", kind, "--all", "--wait=false")
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(PoolTestbed)
