#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads of different roles whose owners change: they restart, are suspended or resized, create
their pods one after the other, or are deleted while they wait. Each workload has one job per
component, and no more.

One node without devices, and two with GPUs and a taint, of eight CPUs each (lib/components.py).
"""
from lib import equal, pod, run, wait_for
from lib.components import (
    GPU,
    GPU_NODES,
    ON_CPU,
    ON_GPU,
    TOLERANT,
    PoolTestbed,
    Ray,
    codes_of,
    job_of,
    ranks_of,
    started_whole,
    told,
    torch,
)
from lib.expect import LIVE, fill, wait_no_live_jobs
from lib.kubelets import end_pod, restart_container
from lib.workloads import (
    change,
    create,
    delete,
    get,
    job_set,
    jobs_of,
    leader_worker_set,
    owned,
    replicated_job,
    sizes_of,
    template,
    uid_of,
    wait_all,
    wait_bound,
    wait_jobs,
    wait_none,
    wait_pods,
)

FOREVER = {"run": "1h"}
TRAINING = "training.kubeflow.org"
GATE = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}


def two_pools(name, life=None, more=None, **spec):
    """A JobSet of a driver in one pool and two workers in the other; more: fields of both pods'
    specs.
    """
    kwok, more = life or FOREVER, more or {}
    return job_set(
        name,
        replicated_job("driver", kwok=kwok, spec={**ON_CPU, **more}),
        replicated_job("workers", 2, cpu=3, kwok=kwok, spec={**ON_GPU, **more}),
        **spec,
    )


def start(bed, manifest):
    """Creates a JobSet; returns its uid and its three pods when they are bound as a whole."""
    uid = create(bed, manifest)["metadata"]["uid"]
    pods = wait_bound(bed, manifest["metadata"]["name"], 3)
    started_whole(bed, pods)
    return uid, pods


def states_of(bed, uid):
    return {uid_of(j).removeprefix(uid): j["JobState"] for j in jobs_of(bed, uid)}


def wait_replaced(bed, prefix, uids):
    bed.kube.wait(
        lambda: not uids & {p["metadata"]["uid"] for p in bed.kube.pods(prefix).values()},
        f"{len(uids)} pods {prefix}-* to be gone",
    )


def remove(bed, kind, name):
    delete(bed, kind, name)
    wait_none(bed, name)


def test_job_set_restart_keeps_both_allocations(bed):
    """A worker fails, and failurePolicy recreates all Jobs: same ranks, nodes and Slurm jobs."""
    uid, before = start(bed, two_pools("restart", failurePolicy={"maxRestarts": 2}))
    old = {p["metadata"]["uid"] for p in before.values()}
    bed.kube.wait_phase(next(n for n in before if "workers" in n), "Running")
    end_pod(bed, next(n for n in before if "workers" in n), 3)
    wait_replaced(bed, "restart", old)
    after = wait_bound(bed, "restart", 3)

    def places(pods):
        return sorted((rank, pods[n]["spec"]["nodeName"]) for n, rank in ranks_of(pods).items())

    equal(places(after), places(before))
    equal(states_of(bed, uid), {"": "RUNNING", "+1": "RUNNING"})
    remove(bed, "JobSet", "restart")


def test_job_set_suspended_gives_all_back(bed):
    """Suspending ends both Slurm jobs; resuming creates two others."""
    uid, _ = start(bed, two_pools("pausing"))
    change(bed, "JobSet", "pausing", {"spec": {"suspend": True}})
    wait_for(
        lambda: states_of(bed, uid) == {"": "CANCELLED", "+1": "CANCELLED"},
        "both jobs to be CANCELLED",
    )
    wait_none(bed, "pausing")
    change(bed, "JobSet", "pausing", {"spec": {"suspend": False}})
    started_whole(bed, wait_bound(bed, "pausing", 3))
    equal([j["JobState"] for j in wait_jobs(bed, uid, 4)], ["CANCELLED"] * 2 + ["RUNNING"] * 2)
    remove(bed, "JobSet", "pausing")


def test_job_set_succeeds_by_its_policy(bed):
    """The JobSet succeeds when the driver does, and its workers are stopped: both jobs are
    COMPLETED.
    """
    policy = {"operator": "Any", "targetReplicatedJobs": ["driver"]}
    uid, pods = start(bed, two_pools("policy", successPolicy=policy))
    driver = next(n for n in pods if "driver" in n)
    bed.kube.wait_phase(driver, "Running")
    end_pod(bed, driver)
    wait_for(
        lambda: get(bed, "JobSet", "policy")["status"].get("terminalState") == "Completed",
        "the JobSet to be Completed",
    )
    equal(codes_of(bed, jobs_of(bed, uid)), [("COMPLETED", "0:0")] * 2)


def ungate(bed, names):
    for name in names:
        change(bed, "Pod", name, {"spec": {"schedulingGates": []}})


def test_gated_role_keeps_all_waiting(bed):
    """Both roles are gated, as by Kueue. The workers' gates are removed first: no job is submitted
    before the driver's gate is removed.
    """
    uid = create(bed, two_pools("gated", life={"run": "1s"}, more=GATE))["metadata"]["uid"]
    names = wait_pods(bed, "gated", 3)
    ungate(bed, (n for n in names if "workers" in n))
    create(bed, pod("after-gated", kwok={"run": "500ms"}))
    bed.kube.wait_phase("after-gated", "Succeeded")
    equal(told(jobs_of(bed, uid)), [])
    ungate(bed, (n for n in names if "driver" in n))
    started_whole(bed, wait_bound(bed, "gated", 3))
    equal(codes_of(bed, wait_jobs(bed, uid, 2)), [("COMPLETED", "0:0")] * 2)


def test_stages_have_components_of_their_own(bed):
    """dependsOn Complete: the second stage has different roles, so it gets two jobs when the first
    has ended.
    """
    later = {"load": "Complete"}
    life = {"kwok": {"run": "1s"}}
    roles = (
        replicated_job("load", spec=ON_CPU, **life),
        replicated_job("driver", spec=ON_CPU, depends_on=later, **life),
        replicated_job("workers", 2, spec=ON_GPU, depends_on=later, **life),
    )
    uid = create(bed, job_set("stages", *roles))["metadata"]["uid"]
    equal(codes_of(bed, wait_jobs(bed, uid, 3)), [("COMPLETED", "0:0")] * 3)
    equal(
        {uid_of(j).removeprefix(uid): sizes_of(j)[0] for j in jobs_of(bed, uid)},
        {"": "1", "/1": "1", "/1+1": "2"},
    )


def live_parts(bed, uid):
    return sorted(uid_of(j).removeprefix(uid) for j in jobs_of(bed, uid) if j["JobState"] in LIVE)


def test_leader_worker_set_recreates_a_group(bed):
    """A worker's container restarts, so the controller recreates the group: it runs again, with a
    job per component, and the other group is not touched.
    """
    options = {"replicas": 2, "leader": {"cpu": 2, "spec": ON_CPU}, "cpu": 2, "spec": ON_GPU}
    uid = create(bed, leader_worker_set("again", 3, **options))["metadata"]["uid"]
    before = wait_bound(bed, "again", 6)
    for name in before:
        bed.kube.wait_phase(name, "Running")
    restart_container(bed, "again-1-2")
    gone = {p["metadata"]["uid"] for n, p in before.items() if n.startswith("again-1")}
    wait_replaced(bed, "again", gone)
    after = wait_bound(bed, "again", 6)
    equal(
        {n: p["metadata"]["uid"] for n, p in after.items() if n.startswith("again-0")},
        {n: p["metadata"]["uid"] for n, p in before.items() if n.startswith("again-0")},
    )
    wait_for(
        lambda: live_parts(bed, uid) == ["/0", "/0+1", "/1", "/1+1"],
        "one job for each component of each group",
    )
    remove(bed, "LeaderWorkerSet", "again")


def test_mpi_job_whose_launcher_comes_last(bed):
    """The launcher needs no GPU, its workers do, and the controller creates it when they are Ready:
    its nodes are allocated before they are bound, and it is rank 0.
    """
    worker = {"cpu": 2, "devices": {GPU: 2}, "spec": TOLERANT}
    roles = {
        "Launcher": {"replicas": 1, "restartPolicy": "Never", "template": template(cpu=1)},
        "Worker": {"replicas": 2, "restartPolicy": "Never", "template": template(**worker)},
    }
    owner = create(
        bed,
        {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "metadata": {"name": "mpi"},
            "spec": {"launcherCreationPolicy": "WaitForWorkersReady", "mpiReplicaSpecs": roles},
        },
    )
    labels = {f"{TRAINING}/job-name": "mpi", f"{TRAINING}/operator-name": "mpi-operator"}
    for i in range(2):
        mine = {**labels, f"{TRAINING}/job-role": "worker", f"{TRAINING}/replica-index": str(i)}
        create(bed, owned(owner, f"mpi-worker-{i}", mine, **worker))
    wait_all(bed, "mpi", "Running", 2)
    mine = {**labels, f"{TRAINING}/job-role": "launcher"}
    create(
        bed,
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": owned(owner, "mpi-launcher", labels)["metadata"],
            "spec": {"backoffLimit": 0, "template": template(labels=mine, kwok=FOREVER)},
        },
    )
    pods = wait_bound(bed, "mpi", 3)
    started_whole(bed, pods, within=10)
    equal(
        {n[:12]: rank for n, rank in ranks_of(pods).items()},
        {"mpi-launcher": 0, "mpi-worker-0": 1, "mpi-worker-1": 2},
    )
    assert {p["spec"]["nodeName"] for n, p in pods.items() if "worker" in n} <= GPU_NODES
    equal(len(jobs_of(bed, owner["metadata"]["uid"])), 2)
    remove(bed, "MPIJob", "mpi")


def test_a_pod_is_made_again(bed):
    """A running worker is deleted, and its controller creates another: same rank, node and job."""
    ray = torch(bed, "replace")
    before = ray.wait_running()
    old = ray.workers[1]
    new = ray.make_again(old)
    after = ray.wait_running()
    equal(ranks_of(after)[new], ranks_of(before)[old])
    equal(after[new]["spec"]["nodeName"], before[old]["spec"]["nodeName"])
    equal([j["JobState"] for j in ray.jobs()], ["RUNNING"] * 2)
    ray.remove()


def test_owner_goes_while_a_part_is_held(bed):
    """Both jobs end at once, not after the holding time."""
    fill(bed, "block", 8, 1, spec=ON_CPU)
    ray = torch(bed, "gone")
    ray.wait_job_of("workers", "RUNNING")
    ray.wait_job_of("head", "PENDING")
    ray.remove()
    equal({j["JobState"] for j in ray.jobs()} - {"CANCELLED", "FAILED"}, set())
    bed.kube.delete("Pod", "block-0")


def test_agent_killed_while_it_binds(bed):
    """Some of sixty pods are bound: the next agent binds the others, under the same jobs."""
    worker = {"cpu": "200m", "memory": "8Mi", "spec": ON_GPU}
    ray = Ray(bed, "binding", {"cpu": 2, "spec": ON_CPU}, worker, 60)
    bed.kube.wait(ray.bound, "one of them to be bound")
    bed.agent.kill9()
    print(f"# {len(ray.bound())} of {ray.size} were bound", flush=True)
    bed.agent.start()
    pods = ray.wait_running()
    equal(sorted(ranks_of(pods).values()), list(range(ray.size)))
    equal([j["JobState"] for j in ray.jobs()], ["RUNNING"] * 2)
    ray.remove()


def test_resized_while_it_runs(bed):
    """Roles that waste little share a job. The owner is scaled down, and for its new size there
    would be two jobs: the running pods keep theirs, under the agent that saw the change and under
    the next one.
    """
    ray = Ray(bed, "resized", {"cpu": 1, "spec": TOLERANT}, {"cpu": 4, "spec": TOLERANT}, 4)
    before = ray.wait_running()
    equal([sizes_of(j) for j in ray.jobs()], [("5", "20")])
    ray.shrink(2)
    bed.agent.kill9()
    bed.agent.start()
    create(bed, pod("after-resize", kwok={"run": "100ms"}, spec=TOLERANT))
    bed.kube.wait_phase("after-resize", "Succeeded")
    after = ray.wait_running()
    equal(
        {n: p["metadata"]["uid"] for n, p in after.items()},
        {n: before[n]["metadata"]["uid"] for n in after},
    )
    equal(told(ray.jobs()), [(job_of(bed, after[ray.head])["JobId"], "RUNNING", ray.uid)])
    ray.remove()


def test_a_pod_is_made_again_after_a_resize(bed):
    """The same, and a running worker is deleted and recreated: it gets its place in the shared job,
    which no other pod may use."""
    ray = Ray(bed, "smaller", {"cpu": 1, "spec": TOLERANT}, {"cpu": 4, "spec": TOLERANT}, 4)
    ray.wait_running()
    ray.shrink(2)
    bed.agent.kill9()
    bed.agent.start()
    ray.make_again(ray.workers[1])
    equal({job_of(bed, p)["JobId"] for p in ray.wait_running().values()}, {ray.jobs()[0]["JobId"]})
    ray.remove()


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(PoolTestbed)
