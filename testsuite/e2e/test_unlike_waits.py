#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads of different roles that wait: no part runs before all can, an allocation held by a part
is given back in time, two workloads do not block each other, and slurmkubed dies meanwhile.

One node without devices, and two with GPUs and a taint, of eight CPUs each (lib/components.py).
"""
from lib import equal, pod, run, wait_for
from lib.components import (
    GPU,
    LIMITS,
    ON_CPU,
    ON_GPU,
    URGENT,
    WORKER,
    PoolTestbed,
    Ray,
    codes_of,
    component_of,
    job_of,
    kept_age,
    seconds_held,
    started_whole,
    told,
    torch,
)
from lib.expect import LIVE, fill, wait_no_live_jobs, wait_reason
from lib.kubelets import end_pod
from lib.workloads import wait_bound, wait_none

SLACK = 3  # seconds of tolerance for Slurm's whole seconds and a busy machine


# ---- all or nothing ----


def test_nothing_is_held_while_the_largest_waits(bed):
    """The workers' nodes are in use: they wait in Slurm, no job is submitted for the head, and
    others use its node meanwhile. When there is room, all start."""
    fill(bed, "block", 8, 2, spec=ON_GPU)
    ray = torch(bed, "largest")
    ray.wait_job_of("workers", "PENDING")
    wait_reason(bed, ray.head, "SlurmPending")
    fill(bed, "passes", 8, 1, spec=ON_CPU)
    equal((ray.bound(), ray.jobs("RUNNING")), ([], []))
    for name in ("passes-0", "block-0", "block-1"):
        bed.kube.delete("Pod", name)
    started_whole(bed, ray.wait_running())
    ray.remove()


def held_beside_a_full_pool(bed, name):
    """The workers have their allocation, and the head waits because a pod uses its node. Returns
    the workload and the workers' job. That pod has a name that no other case uses: kwok may
    overlook a pod that is created at the moment when one of the same name is deleted.
    """
    fill(bed, f"block-{name}", 8, 1, spec=ON_CPU)
    ray = torch(bed, name)
    return ray, ray.wait_job_of("workers", "RUNNING")


def is_given_back(bed, held):
    """Fails unless that job ends when the holding time is over. Returns the job."""
    ended = wait_for(
        lambda: (j := bed.slurm.jobs()[int(held["JobId"])])["JobState"] not in LIVE and j,
        "the allocation to be given back",
        LIMITS["components_wait_seconds"] + 10,
    )
    most = LIMITS["components_wait_seconds"] + SLACK
    assert seconds_held(ended) <= most, f"held for {seconds_held(ended)} s, at most {most}"
    return ended


def test_what_is_held_is_given_back(bed):
    """The head's node is in use: no worker is bound, their nodes are held for at most
    limits.components_wait_seconds, and waiting pods get them. All start later, and the new jobs
    have the age that the head's first job gained in the queue.
    """
    ray, held = held_beside_a_full_pool(bed, "held")
    queued = ray.wait_job_of("head", "PENDING")
    waits = [bed.kube.create(pod(f"waits-{i}", cpu=8, spec=ON_GPU)) for i in range(2)]
    is_given_back(bed, held)
    for p in waits:
        bed.kube.wait_phase(p["metadata"]["name"], "Running")
    equal((ray.bound(), ray.jobs("RUNNING")), ([], []))
    for name in ("waits-0", "waits-1", f"block-{ray.name}-0"):
        bed.kube.delete("Pod", name)
    started_whole(bed, ray.wait_running())
    for role in ("head", "workers"):
        kept_age(ray.wait_job_of(role, "RUNNING"), queued)
    ray.remove()


def test_room_that_comes_while_it_is_held(bed):
    """The head's node becomes free within the holding time: the workers keep their allocation."""
    ray, held = held_beside_a_full_pool(bed, "soon")
    ray.wait_job_of("head", "PENDING")
    bed.kube.delete("Pod", f"block-{ray.name}-0")
    pods = ray.wait_running()
    started_whole(bed, pods)
    equal({job_of(bed, pods[n])["JobId"] for n in ray.workers}, {held["JobId"]})
    ray.remove()


def test_what_is_held_is_preempted(bed):
    """No pod ran, so none is deleted: the workload is submitted again, and starts when there is
    room.
    """
    ray, held = held_beside_a_full_pool(bed, "overtaken")
    fill(bed, "urgent", 8, 2, spec=ON_GPU, annotations=URGENT)
    equal(bed.slurm.wait_job(int(held["JobId"]), "PREEMPTED")["JobState"], "PREEMPTED")
    for name in ("urgent-0", "urgent-1", f"block-{ray.name}-0"):
        bed.kube.delete("Pod", name)
    pods = ray.wait_running()
    started_whole(bed, pods)
    equal({n: p["metadata"]["uid"] for n, p in pods.items()}, ray.uids)
    ray.remove()


def test_nothing_is_held_for_a_role_without_nodes(bed):
    """No node suits the head: the workers are not submitted although their nodes are free. When a
    node gets the label, all start."""
    ray = Ray(bed, "nowhere", {"cpu": 1, "spec": {"nodeSelector": {"shelf": "top"}}}, WORKER, 4)
    for name in (ray.head, *ray.workers):
        wait_reason(bed, name, "SlurmNoNode")
    equal(told(ray.jobs()), [])
    bed.plane.kubectl("label", "node", "cpu-0", "--overwrite", "shelf=top")
    started_whole(bed, ray.wait_running())
    ray.remove()


def pools_of(bed, name, head_cpus, workers, worker):
    """A workload that needs the only node of its head, and more than half of each GPU node."""
    return Ray(bed, name, {"cpu": head_cpus, "spec": ON_CPU}, {**worker, "spec": ON_GPU}, workers)


def test_two_compete_for_the_same_pools(bed):
    """The first workload is submitted for the GPU nodes first, the second for the other node, and
    both get those at the same moment: each has what the other waits for. Both run, one after the
    other, as a whole.
    """
    fill(bed, "gpus", 8, 2, spec=ON_GPU)
    fill(bed, "cpus", 8, 1, spec=ON_CPU)
    one = pools_of(bed, "one", 5, 2, {"cpu": 5, "devices": {GPU: 4}})
    two = pools_of(bed, "two", 7, 1, {"cpu": 5})
    for ray in (one, two):
        wait_for(
            lambda r=ray: [j["JobState"] for j in r.jobs()] == ["PENDING"],
            f"the largest component of {ray.name}, alone, to be pending",
        )
    for name in ("cpus-0", "gpus-0", "gpus-1"):
        bed.kube.delete("Pod", name)
    first = bed.kube.wait(
        lambda: next((r for r in (one, two) if r.bound()), None), "one of them to be bound", 90
    )
    second = two if first is one else one
    started_whole(bed, first.wait_running())
    equal(second.bound(), [])
    first.remove()
    started_whole(bed, second.wait_running(90))
    second.remove()


def test_four_compete_for_the_same_pools(bed):
    """The same with four workloads that arrive at once and end by themselves."""
    short = {"kwok": {"run": "500ms"}}
    rays = []
    for i in range(2):
        rays.append(
            Ray(
                bed,
                f"gpu{i}",
                {"cpu": 5, "spec": ON_CPU, **short},
                {"cpu": 5, "devices": {GPU: 4}, "spec": ON_GPU, **short},
                2,
            )
        )
        rays.append(
            Ray(
                bed,
                f"cpu{i}",
                {"cpu": 7, "spec": ON_CPU, **short},
                {"cpu": 5, "spec": ON_GPU, **short},
                1,
            )
        )
    for ray in rays:
        started_whole(bed, wait_bound(bed, ray.name, ray.size, 120))
    for ray in rays:
        ended = [j for j in ray.ended() if j["JobState"] == "COMPLETED"]
        equal(len(ended), 2, f"jobs of {ray.name} that are COMPLETED")
        ray.remove()


def test_scancel_of_one_that_waits_ends_all(bed):
    """The head's job is cancelled while it waits: the workers' allocation is released, and all pods
    are deleted.
    """
    ray, _ = held_beside_a_full_pool(bed, "cancel-waiting")
    bed.slurm.run("scancel", ray.wait_job_of("head", "PENDING")["JobId"])
    wait_none(bed, ray.name)
    equal(len(ray.ended()), 2)
    bed.kube.delete("Pod", f"block-{ray.name}-0")
    ray.remove()


def test_hold_of_one_that_waits_stays(bed):
    """scontrol hold of the head's job, whose node becomes free: the workers' allocation is given
    back, the held job is not replaced by one without the hold, and all start when it is released.
    """
    ray, held = held_beside_a_full_pool(bed, "people-hold")
    number = ray.wait_job_of("head", "PENDING")["JobId"]
    bed.slurm.run("scontrol", "hold", number)
    bed.kube.delete("Pod", f"block-{ray.name}-0")
    is_given_back(bed, held)
    bed.kube.create(pod("after-hold", kwok={"run": "100ms"}, spec=ON_GPU))
    bed.kube.wait_phase("after-hold", "Succeeded")
    equal((ray.bound(), bed.slurm.jobs()[int(number)]["Reason"]), ([], "JobHeldAdmin"))
    equal(bed.slurm.jobs()[int(number)]["JobState"], "PENDING")
    bed.slurm.run("scontrol", "release", number)
    started_whole(bed, ray.wait_running())
    ray.remove()


# ---- slurmkubed dies ----


def kill_agent(bed):
    bed.agent.kill9()
    bed.agent.start()


def test_agent_killed_while_all_run(bed):
    """Both jobs and all pods are unchanged afterwards, and end with their own results."""
    ray = torch(bed, "runs")
    ray.wait_running()
    kill_agent(bed)
    equal({n: p["metadata"]["uid"] for n, p in ray.pods().items()}, ray.uids)
    equal([j["JobState"] for j in ray.jobs()], ["RUNNING"] * 2)
    for name in ray.uids:
        end_pod(bed, name, 4 if name == ray.head else 0)
    jobs = sorted(ray.ended(), key=component_of)
    equal(codes_of(bed, jobs), [("FAILED", "4:0"), ("COMPLETED", "0:0")])
    ray.remove()


def test_agent_killed_while_one_has_its_nodes(bed):
    """One component has its allocation, the other waits, and no pod is bound: the next agent
    continues with the same jobs, gives the allocation back in time, and starts all when there is
    room."""
    ray, held = held_beside_a_full_pool(bed, "killed")
    ray.wait_job_of("head", "PENDING")
    kill_agent(bed)
    live = [component_of(j) for j in ray.jobs("PENDING", "RUNNING")]
    equal(len(live), len(set(live)), "one live job for each component at most")
    is_given_back(bed, held)
    equal(ray.bound(), [])
    bed.kube.delete("Pod", f"block-{ray.name}-0")
    started_whole(bed, ray.wait_running())
    equal(sorted(component_of(j) for j in ray.jobs(*LIVE)), [0, 1])
    ray.remove()


def test_agent_killed_after_giving_back(bed):
    """The agent itself cancelled the head's job when it gave the workers' allocation back. The next
    agent must not take that for a user's wish, and deletes no pod."""
    ray, held = held_beside_a_full_pool(bed, "returned")
    is_given_back(bed, held)
    kill_agent(bed)
    bed.kube.delete("Pod", f"block-{ray.name}-0")
    pods = ray.wait_running()
    equal({n: p["metadata"]["uid"] for n, p in pods.items()}, ray.uids)
    started_whole(bed, pods)
    ray.remove()


def test_agent_killed_while_the_largest_waits(bed):
    """Only the workers' job exists, pending: the next agent submits the head's when that one
    starts.
    """
    fill(bed, "block", 8, 2, spec=ON_GPU)
    ray = torch(bed, "queued")
    waiting = ray.wait_job_of("workers", "PENDING")
    kill_agent(bed)
    equal(told(ray.jobs(*LIVE)), told([waiting]))
    for name in ("block-0", "block-1"):
        bed.kube.delete("Pod", name)
    pods = ray.wait_running()
    started_whole(bed, pods)
    equal({job_of(bed, pods[n])["JobId"] for n in ray.workers}, {waiting["JobId"]})
    ray.remove()


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(PoolTestbed)
