#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods as created by their controllers: the managers of JobSet and LeaderWorkerSet, Kubernetes' own
controllers, and the tests themselves for other kinds.

Four simulated nodes of eight CPUs.
"""
from lib import ApiError, Cluster, equal, pod, run, wait_for
from lib.expect import job_in_state, wait_reason
from lib.kubelets import end_pod, restart_container
from lib.workloads import (
    PATHS,
    annotation,
    change,
    create,
    delete,
    get,
    job_ids,
    job_set,
    jobs_of,
    leader_worker_set,
    owned,
    path_of,
    pods_of,
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
LAST_NODE = {
    "nodeSelector": {"pool": "last"}
}  # node-3 only, whereas Slurm takes the first suitable node


def make(bed, manifest, kind=None):
    """Creates an object, and returns its uid."""
    return create(bed, manifest, kind)["metadata"]["uid"]


def finished(bed, uid, state="COMPLETED", count=1):
    """Waits until all Slurm jobs of an object have this state; returns them."""
    return [
        bed.slurm.wait_job(int(j["JobId"]), state, timeout=60) for j in wait_jobs(bed, uid, count)
    ]


def label_last_node(bed):
    bed.plane.kubectl("label", "node", "node-3", "--overwrite", "pool=last")


def cleared(bed, kind, name):
    delete(bed, kind, name)
    wait_none(bed, name)


# ---- the test bed itself ----


def test_bed_has_the_real_controllers(bed):
    """JobSet's webhook refuses what the CRD's schema accepts, and its manager creates pods with its
    labels.
    """
    try:
        create(
            bed,
            job_set(
                "wrong",
                replicated_job("a"),
                successPolicy={"operator": "Any", "targetReplicatedJobs": ["b"]},
            ),
        )
        raise AssertionError("the webhook of JobSet is not asked")
    except ApiError as e:
        assert "vjobset.kb.io" in str(e), e
    create(bed, job_set("right", replicated_job("a", 2, scheduler="nobody")))
    labels = {
        p["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"]
        for p in wait_pods(bed, "right", 2).values()
    }
    equal(labels, {"a"})
    cleared(bed, "JobSet", "right")


def test_bed_knows_all_kinds(bed):
    """Including those that only have a CRD, and the API server's own PodGroups, which are off by
    default.
    """
    for kind in PATHS:
        equal(
            bed.kube.request("GET", path_of(kind) + "?limit=1")["kind"],
            kind.partition(".")[0] + "List",
        )


# ---- JobSet ----


def test_job_set_of_unlike_roles_is_one_job(bed):
    """One driver of one CPU and four workers of four: one Slurm job, ranks in the order of the
    roles, COMPLETED when all are.
    """
    uid = make(
        bed,
        job_set(
            "unlike",
            replicated_job("driver", cpu=1, kwok={"run": "2s"}),
            replicated_job("workers", 2, replicas=2, cpu=4, kwok={"run": "2s"}),
        ),
    )
    pods = wait_bound(bed, "unlike", 5)
    equal(len(job_ids(pods)), 1, "Slurm jobs of its pods")
    ranks = {
        int(annotation(p, "rank")): (
            p["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"],
            p["metadata"]["labels"]["jobset.sigs.k8s.io/job-index"],
            p["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"],
        )
        for p in pods.values()
    }
    equal(
        ranks,
        {
            0: ("driver", "0", "0"),
            1: ("workers", "0", "0"),
            2: ("workers", "0", "1"),
            3: ("workers", "1", "0"),
            4: ("workers", "1", "1"),
        },
    )
    equal([j["ExitCode"] for j in finished(bed, uid)], ["0:0"])
    wait_for(
        lambda: get(bed, "JobSet", "unlike")["status"]["terminalState"] == "Completed",
        "the JobSet to be Completed",
    )


def test_excess_of_unlike_roles_is_told(bed):
    """A driver of three CPUs and two workers of four: three tasks of four, because that wastes
    little. Each waiting pod reports the excess, then the event of the first pod's binding does, and
    skube why.
    """
    held = {"slurm-kube.io/hold": "true"}
    excess = (
        "the job has more than its pods ask for (12 CPUs for 11 CPUs), because all tasks of a job"
        " have one size"
    )
    uid = make(
        bed,
        job_set(
            "excess",
            replicated_job("driver", cpu=3, memory="64Mi", annotations=held),
            replicated_job("workers", 2, cpu=4, memory="64Mi", annotations=held),
        ),
    )
    waiting = wait_jobs(bed, uid)[0]
    equal(sizes_of(waiting), ("3", "12"))
    names = list(wait_pods(bed, "excess", 3))
    for name in names:
        wait_reason(bed, name, "SlurmPending", f"is pending: JobHeldUser; {excess}")
    assert excess in next(
        line["text"]
        for line in bed.agent.skube("why", names[0])["lines"]
        if line["about"] == "asks for"
    )
    bed.slurm.run("scontrol", "release", waiting["JobId"])
    first = next(p for p in wait_bound(bed, "excess", 3).values() if annotation(p, "rank") == "0")

    def told():
        return any(
            e["reason"] == "SlurmBound" and e["note"].endswith("; " + excess)
            for e in bed.kube.list("Event")
            if e["regarding"].get("uid") == first["metadata"]["uid"]
        )

    wait_for(told, "the event SlurmBound to tell it")
    cleared(bed, "JobSet", "excess")


def test_job_set_in_order_does_not_wait_for_itself(bed):
    """startupPolicy InOrder: the workers' Job is created when the driver is Ready, for which the
    driver must be bound. The one Slurm job has room for both, on nodes that suit both. For roles on
    different nodes see test_unlike.
    """
    label_last_node(bed)
    uid = make(
        bed,
        job_set(
            "inorder",
            replicated_job("driver", kwok={"run": "4s"}, spec=LAST_NODE),
            replicated_job("workers", 3, kwok={"run": "1s"}, spec=LAST_NODE),
            startupPolicy={"startupPolicyOrder": "InOrder"},
        ),
    )
    pods = wait_bound(bed, "inorder", 4)
    equal({p["spec"]["nodeName"] for p in pods.values()}, {"node-3"})
    equal(len(job_ids(pods)), 1, "Slurm jobs of its pods")
    driver, *workers = sorted(p["metadata"]["creationTimestamp"] for p in pods.values())
    assert all(driver <= w for w in workers)
    equal(sizes_of(finished(bed, uid)[0])[0], "4")


def test_job_set_depends_on_ready(bed):
    """dependsOn with Ready: as InOrder, but specified by the role that waits."""
    uid = make(
        bed,
        job_set(
            "ready",
            replicated_job("first", kwok={"run": "4s"}),
            replicated_job("second", 2, depends_on={"first": "Ready"}, kwok={"run": "1s"}),
        ),
    )
    equal(len(job_ids(wait_bound(bed, "ready", 3))), 1, "Slurm jobs of its pods")
    finished(bed, uid)


def test_job_set_depends_on_complete_is_a_job_per_stage(bed):
    """Stages never run together, so no node is held for the second while the first runs: two Slurm
    jobs, the second submitted when the first has ended.
    """
    uid = make(
        bed,
        job_set(
            "stages",
            replicated_job("load", 2, kwok=FOREVER),
            replicated_job("train", 3, cpu=2, depends_on={"load": "Complete"}, kwok={"run": "1s"}),
        ),
    )
    pods = wait_bound(bed, "stages", 2)
    equal(
        [sizes_of(j)[0] for j in jobs_of(bed, uid)],
        ["2"],
        "sizes of the jobs while the first stage runs",
    )
    for name in pods:
        end_pod(bed, name)
    both = finished(bed, uid, count=2)
    equal([sizes_of(j) for j in both], [("2", "2"), ("3", "6")])
    equal([uid_of(j) for j in both], [uid, f"{uid}/1"])


def test_job_set_restart_keeps_the_allocation(bed):
    """A pod fails, and failurePolicy recreates all Jobs: the new pods get the same ranks on the
    same nodes, in the same Slurm job.
    """
    uid = make(
        bed,
        job_set(
            "restart",
            replicated_job("a", 2, cpu=4, kwok=FOREVER),
            replicated_job("b", 2, cpu=4, kwok=FOREVER),
            failurePolicy={"maxRestarts": 2},
        ),
    )
    before = wait_bound(bed, "restart", 4)
    old = {p["metadata"]["uid"] for p in before.values()}
    end_pod(bed, next(n for n in before if n.startswith("restart-b-0-1")), 3)
    bed.kube.wait(
        lambda: len(pods_of(bed, "restart")) == 4
        and not old & {p["metadata"]["uid"] for p in pods_of(bed, "restart").values()},
        "four new pods",
        60,
    )
    after = wait_bound(bed, "restart", 4)
    equal(
        {p["metadata"]["labels"]["jobset.sigs.k8s.io/restart-attempt"] for p in after.values()},
        {"1"},
    )
    equal(
        sorted((int(annotation(p, "rank")), p["spec"]["nodeName"]) for p in after.values()),
        sorted((int(annotation(p, "rank")), p["spec"]["nodeName"]) for p in before.values()),
    )
    equal(job_ids(after), job_ids(before))
    equal([j["JobState"] for j in jobs_of(bed, uid)], ["RUNNING"])
    cleared(bed, "JobSet", "restart")
    finished(bed, uid, "CANCELLED")


def test_job_set_suspended_gives_its_nodes_back(bed):
    """Suspending ends the Slurm job at once, because other workloads may need its nodes: that is
    how Kueue preempts. Resuming creates another Slurm job.
    """
    uid = make(bed, job_set("pausing", replicated_job("a", 3, cpu=4, kwok=FOREVER)))
    first = job_ids(wait_bound(bed, "pausing", 3))
    change(bed, "JobSet", "pausing", {"spec": {"suspend": True}})
    ended = finished(bed, uid, "CANCELLED")
    equal({j["JobId"] for j in ended}, first)
    wait_none(bed, "pausing")
    change(bed, "JobSet", "pausing", {"spec": {"suspend": False}})
    second = job_ids(wait_bound(bed, "pausing", 3))
    assert not first & second, (first, second)
    equal(len(wait_jobs(bed, uid, 2)), 2)
    cleared(bed, "JobSet", "pausing")


def test_job_set_succeeds_by_its_policy(bed):
    """successPolicy: the JobSet succeeds when the driver does, and its workers are stopped. The
    Slurm job is COMPLETED, like the JobSet.
    """
    uid = make(
        bed,
        job_set(
            "policy",
            replicated_job("driver", kwok=FOREVER),
            replicated_job("workers", 2, kwok=FOREVER),
            successPolicy={"operator": "Any", "targetReplicatedJobs": ["driver"]},
        ),
    )
    end_pod(bed, next(n for n in wait_bound(bed, "policy", 3) if n.startswith("policy-driver")))
    wait_for(
        lambda: get(bed, "JobSet", "policy")["status"].get("terminalState") == "Completed",
        "the JobSet to be Completed",
    )
    finished(bed, uid)


# ---- LeaderWorkerSet ----


def test_leader_worker_set_leader_ready(bed):
    """Workers are created when the leader is Ready. Each group is one Slurm job of its size, with
    the leader as rank 0. For leaders on other nodes see test_unlike.
    """
    label_last_node(bed)
    uid = make(
        bed,
        leader_worker_set(
            "serving",
            3,
            replicas=2,
            startup="LeaderReady",
            leader={"cpu": 1, "spec": LAST_NODE},
            spec=LAST_NODE,
        ),
    )
    pods = wait_bound(bed, "serving", 6)
    jobs = wait_jobs(bed, uid, 2)
    equal({uid_of(j) for j in jobs}, {f"{uid}/0", f"{uid}/1"})
    equal({sizes_of(j) for j in jobs}, {("3", "3")})
    equal({p["spec"]["nodeName"] for p in pods.values()}, {"node-3"})
    for p in pods.values():
        labels = p["metadata"]["labels"]
        equal(annotation(p, "rank"), labels["leaderworkerset.sigs.k8s.io/worker-index"])
        equal(
            annotation(p, "job-id"),
            next(
                j["JobId"]
                for j in jobs
                if uid_of(j).endswith("/" + labels["leaderworkerset.sigs.k8s.io/group-index"])
            ),
        )
    cleared(bed, "LeaderWorkerSet", "serving")
    finished(bed, uid, "CANCELLED", 2)


def test_leader_worker_set_recreates_a_group(bed):
    """A worker's container restarts, and the controller recreates the group. It runs again, in its
    former allocation or in another; the other group is not touched.
    """
    uid = make(bed, leader_worker_set("again", 3, replicas=2, cpu=2))
    before = wait_bound(bed, "again", 6)
    bed.kube.wait_phase(
        "again-1-2", "Running", timeout=60
    )  # a later status of kwok would undo this test's
    restart_container(
        bed, "again-1-2"
    )  # a failed pod could be gone before its controller has looked
    gone = {p["metadata"]["uid"] for n, p in before.items() if n.startswith("again-1")}
    bed.kube.wait(
        lambda: not gone & {p["metadata"]["uid"] for p in bed.kube.pods("again-").values()},
        "the three pods of the group to be gone",
        60,
    )
    after = wait_bound(bed, "again", 6)
    equal(
        {n: p["metadata"]["uid"] for n, p in after.items() if n.startswith("again-0")},
        {n: p["metadata"]["uid"] for n, p in before.items() if n.startswith("again-0")},
    )
    equal(len({annotation(p, "job-id") for n, p in after.items() if n.startswith("again-1")}), 1)
    wait_for(
        lambda: sorted(uid_of(j) for j in jobs_of(bed, uid) if j["JobState"] == "RUNNING")
        == [f"{uid}/0", f"{uid}/1"],
        "one job for each group",
    )
    cleared(bed, "LeaderWorkerSet", "again")


def test_leader_worker_set_with_unlike_leader(bed):
    """A leader of one CPU and three workers of two: one job with room for all, and it can be scaled
    down.
    """
    uid = make(bed, leader_worker_set("mixed", 4, replicas=2, cpu=2, leader={"cpu": 1}))
    wait_bound(bed, "mixed", 8)
    change(bed, "LeaderWorkerSet", "mixed", {"spec": {"replicas": 1}})
    ended = next(j for j in wait_jobs(bed, uid, 2) if uid_of(j) == f"{uid}/1")
    bed.slurm.wait_job(int(ended["JobId"]), "CANCELLED", timeout=60)
    equal(len(wait_bound(bed, "mixed", 4)), 4)
    cleared(bed, "LeaderWorkerSet", "mixed")


# ---- PodGroups ----


def grouped(name, group, **options):
    made = pod(name, **options)
    made["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": group}
    return made


def test_pod_group_of_at_least_three(bed):
    """minMember 3: two pods wait and give the reason; with the third they are one Slurm job. Two
    later pods run, too.
    """
    uid = make(
        bed,
        {
            "apiVersion": "scheduling.x-k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": {"name": "three"},
            "spec": {"minMember": 3},
        },
    )
    for i in range(2):
        create(bed, grouped(f"pg-{i}", "three", cpu=2, kwok={"run": "6s"}))
    bed.kube.wait(
        lambda: sum(
            "2 of at least 3" in str(p["status"].get("conditions"))
            for p in pods_of(bed, "pg").values()
        )
        == 2,
        "the pods to say what they wait for",
    )
    equal(jobs_of(bed, uid), [])
    create(bed, grouped("pg-2", "three", cpu=2, kwok={"run": "6s"}))
    first = wait_bound(bed, "pg", 3)
    for i in (3, 4):
        create(bed, grouped(f"pg-{i}", "three", cpu=2, kwok={"run": "1s"}))
    wait_all(bed, "pg", "Succeeded", 5)
    equal(len(job_ids(first)), 1)
    equal([sizes_of(j) for j in finished(bed, uid)], [("3", "6")])
    late = {
        annotation(p, "job-id") for n, p in bed.kube.pods("pg-").items() if n in ("pg-3", "pg-4")
    }
    equal(
        [bed.slurm.wait_job(int(i), "COMPLETED")["JobState"] for i in late],
        ["COMPLETED"] * len(late),
    )


def scheduled(name, group, **options):
    made = pod(name, **options)
    made["spec"]["schedulingGroup"] = {"podGroupName": group}
    return made


def built_in(name, policy):
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": policy},
    }


def test_built_in_pod_group(bed):
    """The API server's own kind. Its pods may be created before it, and wait; a gang is one Slurm
    job.
    """
    for i in range(2):
        create(bed, scheduled(f"own-{i}", "own", cpu=2, kwok={"run": "3s"}))
    bed.kube.wait(
        lambda: sum(
            "does not exist yet" in str(p["status"].get("conditions"))
            for p in pods_of(bed, "own").values()
        )
        == 2,
        "the pods to say what they wait for",
    )
    uid = make(bed, built_in("own", {"gang": {"minCount": 3}}), "PodGroup.scheduling.k8s.io")
    create(bed, scheduled("own-2", "own", cpu=2, kwok={"run": "3s"}))
    equal(len(job_ids(wait_bound(bed, "own", 3))), 1)
    equal([sizes_of(j) for j in finished(bed, uid)], [("3", "6")])


def test_built_in_pod_group_that_is_no_gang(bed):
    """policy basic: its pods are a group by name only. From 1.37 on plain Jobs have such groups."""
    uid = make(bed, built_in("basic", {"basic": {}}), "PodGroup.scheduling.k8s.io")
    for i in range(2):
        create(bed, scheduled(f"single-{i}", "basic", kwok={"run": "500ms"}))
    wait_all(bed, "single", "Succeeded", 2)
    equal(len(job_ids(pods_of(bed, "single"))), 2)
    equal(jobs_of(bed, uid), [])


# ---- kinds of Kubeflow and Ray: the tests create their pods as their controllers would ----


def roles_of(**roles):
    """{role: {"replicas": pods, "template": ...}} from role=(pods, options)."""
    made = {}
    for name, (pods, options) in roles.items():
        one = template(**options)
        one["spec"]["containers"][0]["name"] = "pytorch"
        made[name] = {"replicas": pods, "restartPolicy": "Never", "template": one}
    return made


def test_mpi_job(bed):
    """Two workers, and a launcher that its controller creates when they are Ready: one Slurm job of
    three from the start. The launcher is a Job's pod and rank 0; when it has ended, its controller
    deletes the workers, and the Slurm job is COMPLETED.
    """
    small, large = {"cpu": 1}, {"cpu": 2, "kwok": FOREVER}
    owner = create(
        bed,
        {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "metadata": {"name": "mpi"},
            "spec": {
                "launcherCreationPolicy": "WaitForWorkersReady",
                "mpiReplicaSpecs": roles_of(Launcher=(1, small), Worker=(2, large)),
            },
        },
    )
    labels = {
        "training.kubeflow.org/job-name": "mpi",
        "training.kubeflow.org/operator-name": "mpi-operator",
    }
    for i in range(2):
        create(
            bed,
            owned(
                owner,
                f"mpi-worker-{i}",
                {
                    **labels,
                    "training.kubeflow.org/job-role": "worker",
                    "training.kubeflow.org/replica-index": str(i),
                },
                **large,
            ),
        )
    wait_all(bed, "mpi", "Running", 2)
    launcher = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": owned(owner, "mpi-launcher", labels)["metadata"],
        "spec": {
            "backoffLimit": 0,
            "template": template(
                labels={**labels, "training.kubeflow.org/job-role": "launcher"},
                cpu=1,
                kwok={"run": "2s"},
            ),
        },
    }
    create(bed, launcher)
    pods = wait_bound(bed, "mpi", 3)
    equal(len(job_ids(pods)), 1)
    equal(
        {
            n.rpartition("-")[0] if "launcher" in n else n: annotation(p, "rank")
            for n, p in pods.items()
        },
        {"mpi-launcher": "0", "mpi-worker-0": "1", "mpi-worker-1": "2"},
    )
    bed.kube.wait(
        lambda: sum(
            p["status"].get("phase") == "Succeeded" for p in bed.kube.pods("mpi-launcher").values()
        )
        == 1,
        "the launcher to succeed",
    )
    (
        change(
            bed,
            "MPIJob",
            "mpi",
            {"status": {"conditions": [{"type": "Succeeded", "status": "True"}]}},
        )
        if "status" not in _subresources(bed, "mpijobs.kubeflow.org")
        else bed.kube.request(
            "PATCH",
            path_of("MPIJob", "mpi") + "/status",
            {
                "status": {
                    "conditions": [{"type": "Succeeded", "status": "True"}],
                    "replicaStatuses": {},
                }
            },
            "application/merge-patch+json",
        )
    )
    for i in range(2):
        bed.kube.delete("Pod", f"mpi-worker-{i}")
    finished(bed, owner["metadata"]["uid"])
    delete(bed, "MPIJob", "mpi")
    wait_none(bed, "mpi")


def _subresources(bed, crd):
    return bed.kube.request(
        "GET", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}"
    )["spec"]["versions"][0].get("subresources", {})


def test_pytorch_job(bed):
    """A master and three workers: one Slurm job of four, with the master as rank 0, whatever its
    pod's name.
    """
    one = {"cpu": 2, "kwok": {"run": "2s"}}
    owner = create(
        bed,
        {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "metadata": {"name": "torch"},
            "spec": {"pytorchReplicaSpecs": roles_of(Worker=(3, one), Master=(1, one))},
        },
    )
    for role, i in [("worker", 0), ("worker", 1), ("worker", 2), ("master", 0)]:
        labels = {
            "training.kubeflow.org/job-name": "torch",
            "training.kubeflow.org/replica-type": role,
            "training.kubeflow.org/replica-index": str(i),
        }
        create(bed, owned(owner, f"torch-{role}-{i}", labels, **one))
    pods = wait_bound(bed, "torch", 4)
    equal(
        {n: annotation(p, "rank") for n, p in pods.items()},
        {
            "torch-master-0": "0",
            "torch-worker-0": "1",
            "torch-worker-1": "2",
            "torch-worker-2": "3",
        },
    )
    equal([sizes_of(j) for j in finished(bed, owner["metadata"]["uid"])], [("4", "8")])
    delete(bed, "PyTorchJob", "torch")


def test_ray_cluster(bed):
    """A head and two workers of a group: one Slurm job, although workers have random names and no
    index.
    """
    group = {
        "groupName": "small",
        "replicas": 2,
        "minReplicas": 1,
        "maxReplicas": 4,
        "rayStartParams": {},
        "template": template(cpu=2, restart="Always"),
    }
    owner = create(
        bed,
        {
            "apiVersion": "ray.io/v1",
            "kind": "RayCluster",
            "metadata": {"name": "ray"},
            "spec": {
                "headGroupSpec": {
                    "rayStartParams": {},
                    "template": template(cpu=1, restart="Always"),
                },
                "workerGroupSpecs": [group],
            },
        },
    )
    create(
        bed,
        owned(
            owner,
            "ray-head-x7s",
            {"ray.io/cluster": "ray", "ray.io/node-type": "head", "ray.io/group": "headgroup"},
            cpu=1,
        ),
    )
    for name in ("q2x8b", "a5fzc"):
        create(
            bed,
            owned(
                owner,
                f"ray-small-worker-{name}",
                {"ray.io/cluster": "ray", "ray.io/node-type": "worker", "ray.io/group": "small"},
                cpu=2,
            ),
        )
    pods = wait_bound(bed, "ray", 3)
    equal(len(job_ids(pods)), 1)
    equal(sorted(annotation(p, "rank") for p in pods.values()), ["0", "1", "2"])
    equal(annotation(pods["ray-head-x7s"], "rank"), "0")
    cleared(bed, "RayCluster", "ray")
    finished(bed, owner["metadata"]["uid"], "CANCELLED")


def test_train_job(bed):
    """TrainJob's controller creates a JobSet, which is the gang; an option on the TrainJob applies
    to its pods.
    """
    train = create(
        bed,
        {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {"name": "tune", "annotations": {"slurm-kube.io/comment": "fine tuning"}},
            "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 2}},
        },
    )
    made = job_set("tune", replicated_job("node", 2, kwok={"run": "1s"}))
    made["metadata"]["ownerReferences"] = owned(train, "x", {})["metadata"]["ownerReferences"]
    uid = make(bed, made)
    done = finished(bed, uid)[0]
    equal((sizes_of(done), done["Comment"]), (("2", "2"), "fine tuning"))
    delete(bed, "TrainJob", "tune")


# ---- standalone pods that inherit options from their owners ----


def deployment(kind, name, pods, comment):
    spec = {
        "replicas": pods,
        "selector": {"matchLabels": {"app": name}},
        "template": template(labels={"app": name}, restart="Always"),
    }
    if kind == "StatefulSet":
        spec["serviceName"] = name
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "annotations": {"slurm-kube.io/comment": comment}},
        "spec": spec,
    }


def comments_of(bed, pods):
    return {bed.slurm.jobs()[int(i)]["Comment"] for i in job_ids(pods)}


def test_deployment_and_stateful_set(bed):
    """Each pod has its own Slurm job, with the options of its owner's owner: Deployment,
    ReplicaSet, pod.
    """
    for kind, name in (("Deployment", "web"), ("StatefulSet", "db")):
        create(bed, deployment(kind, name, 3, f"of {name}"))
        pods = wait_bound(bed, name, 3)
        equal(len(job_ids(pods)), 3, f"Slurm jobs of {kind}")
        equal(comments_of(bed, pods), {f"of {name}"})
        cleared(bed, kind, name)


def test_cron_job(bed):
    """A Job created by a CronJob: its pod inherits the CronJob's option, and the Job's own option
    wins where both have one.
    """
    create(
        bed,
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {
                "name": "nightly",
                "annotations": {
                    "slurm-kube.io/comment": "nightly",
                    "slurm-kube.io/job-name": "far",
                },
            },
            "spec": {
                "schedule": "0 0 1 1 *",
                "jobTemplate": {
                    "metadata": {"annotations": {"slurm-kube.io/job-name": "near"}},
                    "spec": {"template": template(kwok={"run": "500ms"})},
                },
            },
        },
    )
    bed.plane.kubectl("create", "job", "--from=cronjob/nightly", "tonight")
    pods = wait_bound(bed, "tonight", 1)
    job = bed.slurm.wait_job(int(job_ids(pods).pop()), "COMPLETED")
    equal((job["Comment"], job["JobName"]), ("nightly", "near"))
    delete(bed, "CronJob", "nightly")


def test_gated_pods_are_left_alone(bed):
    """Gated as by Kueue: no Slurm job and no condition of ours until the gate is removed."""
    create(
        bed,
        pod(
            "gated-0",
            kwok={"run": "1s"},
            spec={"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
        ),
    )
    create(bed, pod("gated-later", kwok={"run": "500ms"}))
    bed.kube.wait_phase("gated-later", "Succeeded")
    seen = bed.kube.pods("gated-0")["gated-0"]
    equal([c["reason"] for c in seen["status"]["conditions"]], ["SchedulingGated"])
    equal(bed.slurm.job_of_pod(seen["metadata"]["uid"]), [])
    change(bed, "Pod", "gated-0", {"spec": {"schedulingGates": []}})
    bed.kube.wait_phase("gated-0", "Succeeded")
    job_in_state(bed, seen, "COMPLETED")


def test_gated_gang_starts_when_its_gates_are_removed(bed):
    """A JobSet whose pods are gated: no job is submitted before the last gate is removed."""
    gate = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
    uid = make(bed, job_set("quota", replicated_job("a", 2, kwok={"run": "1s"}, spec=gate)))
    names = list(wait_pods(bed, "quota", 2))
    change(bed, "Pod", names[0], {"spec": {"schedulingGates": []}})
    create(bed, pod("after-quota", kwok={"run": "500ms"}))
    bed.kube.wait_phase("after-quota", "Succeeded")
    equal([j["JobState"] for j in jobs_of(bed, uid) if j["JobState"] != "PENDING"], [])
    change(bed, "Pod", names[1], {"spec": {"schedulingGates": []}})
    finished(bed, uid)


if __name__ == "__main__":
    run(lambda build: Cluster(build, kwok=4, cpus=8, workloads=True))
