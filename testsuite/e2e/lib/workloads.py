# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects that own pods, and questions about the Slurm jobs of such pods.

JobSets, LeaderWorkerSets and Kubernetes' own kinds have their real controllers
(Cluster(workloads=True)). Other kinds have only their CRDs: owned() creates a pod as their
controllers would, with labels and an owner reference.
"""
import json
import re

from .manifests import job, pod
from .waiting import LIMIT, wait_for

# kind -> its API path; a PodGroup of scheduling.k8s.io has its full name
PATHS = {
    "ReplicaSet": ("/apis/apps/v1", "replicasets"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
    "CronJob": ("/apis/batch/v1", "cronjobs"),
    "Job": ("/apis/batch/v1", "jobs"),
    "Pod": ("/api/v1", "pods"),
    "Service": ("/api/v1", "services"),
    "JobSet": ("/apis/jobset.x-k8s.io/v1alpha2", "jobsets"),
    "LeaderWorkerSet": ("/apis/leaderworkerset.x-k8s.io/v1", "leaderworkersets"),
    "PodGroup": ("/apis/scheduling.x-k8s.io/v1alpha1", "podgroups"),
    "MPIJob": ("/apis/kubeflow.org/v2beta1", "mpijobs"),
    "PyTorchJob": ("/apis/kubeflow.org/v1", "pytorchjobs"),
    "TrainJob": ("/apis/trainer.kubeflow.org/v1alpha1", "trainjobs"),
    "RayCluster": ("/apis/ray.io/v1", "rayclusters"),
    "PodGroup.scheduling.k8s.io": ("/apis/scheduling.k8s.io/v1beta1", "podgroups"),
}


def path_of(kind, name=""):
    group, plural = PATHS[kind]
    return f"{group}/namespaces/default/{plural}" + (f"/{name}" if name else "")


def create(bed, manifest, kind=None):
    """Creates an object of any of these kinds; returns it as the server has it."""
    return bed.kube.request("POST", path_of(kind or manifest["kind"]), manifest)


def get(bed, kind, name):
    return bed.kube.request("GET", path_of(kind, name))


def change(bed, kind, name, what):
    return bed.kube.request("PATCH", path_of(kind, name), what, "application/merge-patch+json")


def delete(bed, kind, name):
    return bed.kube.request("DELETE", path_of(kind, name) + "?propagationPolicy=Background")


# ---- manifests ----


def template(cpu=1, labels=None, restart="Never", **options):
    """A pod template; options as those of manifests.pod."""
    made = pod("unnamed", cpu=cpu, **options)
    made["spec"]["restartPolicy"] = restart
    return {
        "metadata": {"annotations": made["metadata"]["annotations"], "labels": labels or {}},
        "spec": made["spec"],
    }


def replicated_job(name, pods=1, replicas=1, depends_on=None, **options):
    """One role of a JobSet: replicas Jobs of pods pods each. depends_on: {other role: "Ready" or
    "Complete"}.
    """
    inner = job("unnamed", pods, indexed=True, **options)["spec"]
    waits = [{"name": n, "status": s} for n, s in (depends_on or {}).items()]
    return {
        "name": name,
        "replicas": replicas,
        "template": {"spec": inner},
        **({"dependsOn": waits} if waits else {}),
    }


def job_set(name, *roles, annotations=None, **spec):
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"replicatedJobs": list(roles), **spec},
    }


def leader_worker_set(
    name,
    size,
    replicas=1,
    startup="LeaderCreated",
    restart="RecreateGroupOnPodRestart",
    leader=None,
    **options,
):
    """leader: options of the leader's template, if it has its own."""
    sizes = {
        "size": size,
        "restartPolicy": restart,
        "workerTemplate": template(restart="Always", **options),
    }
    if leader is not None:
        sizes["leaderTemplate"] = template(restart="Always", **leader)
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "startupPolicy": startup, "leaderWorkerTemplate": sizes},
    }


def owned(owner, name, labels, **options):
    """Creates a pod as the controller of that object (as the server has it) does."""
    made = pod(name, **options)
    made["metadata"]["labels"] = labels
    made["metadata"]["ownerReferences"] = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    return made


# ---- pods and jobs ----


def pods_of(bed, prefix):
    """{name: pod} of pods that are not being deleted."""
    return {
        n: p
        for n, p in bed.kube.pods(f"{prefix}-").items()
        if "deletionTimestamp" not in p["metadata"]
    }


def wait_pods(bed, prefix, count, timeout=LIMIT):
    return bed.kube.wait(
        lambda: len(pods_of(bed, prefix)) == count and pods_of(bed, prefix),
        f"{count} pods {prefix}-*",
        timeout,
    )


def wait_none(bed, prefix, timeout=LIMIT):
    bed.kube.wait(lambda: not bed.kube.pods(f"{prefix}-"), f"pods {prefix}-* to be gone", timeout)


def wait_bound(bed, prefix, count, timeout=LIMIT):
    """Waits until count pods have a node, whether they still run or have ended; returns them."""

    def bound():
        found = {n: p for n, p in pods_of(bed, prefix).items() if p["spec"].get("nodeName")}
        return found if len(found) == count else None

    return bed.kube.wait(bound, f"{count} pods {prefix}-* to be bound", timeout)


def wait_all(bed, prefix, phase, count, timeout=LIMIT):
    bed.kube.wait(
        lambda: sum(p["status"].get("phase") == phase for p in pods_of(bed, prefix).values())
        == count,
        f"{count} pods {prefix}-* to be {phase}",
        timeout,
    )


def jobs_of(bed, uid):
    """All Slurm jobs of an object, of its parts and of their components, oldest first."""

    def belongs(record):
        try:
            return owner_uid(json.loads(record.get("AdminComment", "")).get("uid", "")) == uid
        except ValueError:
            return False

    return [j for _, j in sorted(bed.slurm.jobs().items()) if belongs(j)]


def owner_uid(marker_uid):
    """The owner's uid from a marker's uid: "/n" denotes a part of the object, "+n" a component."""
    return re.split("[/+]", marker_uid)[0]


def uid_of(record):
    return json.loads(record["AdminComment"])["uid"]


def wait_jobs(bed, uid, count=1, timeout=LIMIT):
    """Waits for count Slurm jobs of an object; returns them."""
    return wait_for(
        lambda: len(jobs_of(bed, uid)) == count and jobs_of(bed, uid),
        f"{count} Slurm jobs of {uid}",
        timeout,
    )


def annotation(a_pod, key):
    return a_pod["metadata"]["annotations"].get(f"allocation.slurm-kube.io/{key}")


def job_ids(pods):
    return {annotation(p, "job-id") for p in pods.values()}


def sizes_of(record):
    return record["NumTasks"], record["NumCPUs"]
