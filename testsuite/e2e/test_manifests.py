#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Manifests of users of other schedulers (manifests/*.yaml), unchanged except for schedulerName:
each is applied, and must result in the right Slurm jobs.

The line "# expect:" of each file gives the expected result: the number of jobs, then fields of
every job. JobSet and LeaderWorkerSet have their real managers here; the pods of MPIJob, PyTorchJob
and RayCluster are created from their templates as by their controllers.
"""
import re
from pathlib import Path

from lib import Cluster, equal, run, wait_for
from lib.workloads import create, get, path_of

MANIFESTS = Path(__file__).resolve().parent / "manifests"
FIELDS = {
    "tasks": "NumTasks",
    "cpus": "NumCPUs",
    "state": "JobState",
    "name": "JobName",
    "comment": "Comment",
    "time": "TimeLimit",
}


def _owner_of(thing):
    return {
        "ownerReferences": [
            {
                "apiVersion": thing["apiVersion"],
                "kind": thing["kind"],
                "name": thing["metadata"]["name"],
                "uid": thing["metadata"]["uid"],
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]
    }


def _pod(thing, name, template, labels):
    spec = {"restartPolicy": "Always", **template["spec"]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": spec,
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": template.get("metadata", {}).get("annotations", {}),
            **_owner_of(thing),
        },
    }


def _mpi(bed, thing):
    name, specs = thing["metadata"]["name"], thing["spec"]["mpiReplicaSpecs"]
    labels = {
        "training.kubeflow.org/job-name": name,
        "training.kubeflow.org/operator-name": "mpi-operator",
    }
    for i in range(specs["Worker"]["replicas"]):
        create(
            bed,
            _pod(
                thing,
                f"{name}-worker-{i}",
                specs["Worker"]["template"],
                {
                    **labels,
                    "training.kubeflow.org/job-role": "worker",
                    "training.kubeflow.org/replica-index": str(i),
                },
            ),
        )
    launcher = dict(specs["Launcher"]["template"]["spec"], restartPolicy="Never")
    template = {
        "metadata": {
            "labels": {**labels, "training.kubeflow.org/job-role": "launcher"},
            "annotations": {"kwok.slurm-kube.test/run": "1h"},
        },
        "spec": launcher,
    }
    create(
        bed,
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": f"{name}-launcher", "labels": labels, **_owner_of(thing)},
            "spec": {"backoffLimit": 6, "template": template},
        },
    )


def _pytorch(bed, thing):
    name = thing["metadata"]["name"]
    for role, spec in thing["spec"]["pytorchReplicaSpecs"].items():
        for i in range(spec["replicas"]):
            create(
                bed,
                _pod(
                    thing,
                    f"{name}-{role.lower()}-{i}",
                    spec["template"],
                    {
                        "training.kubeflow.org/job-name": name,
                        "training.kubeflow.org/replica-type": role.lower(),
                        "training.kubeflow.org/replica-index": str(i),
                    },
                ),
            )


def _ray(bed, thing):
    name = thing["metadata"]["name"]
    create(
        bed,
        _pod(
            thing,
            f"{name}-head",
            thing["spec"]["headGroupSpec"]["template"],
            {"ray.io/cluster": name, "ray.io/node-type": "head", "ray.io/group": "headgroup"},
        ),
    )
    for group in thing["spec"]["workerGroupSpecs"]:
        for i in range(group["replicas"]):
            create(
                bed,
                _pod(
                    thing,
                    f"{name}-{group['groupName']}-worker-{i}",
                    group["template"],
                    {
                        "ray.io/cluster": name,
                        "ray.io/node-type": "worker",
                        "ray.io/group": group["groupName"],
                    },
                ),
            )


CONTROLLERS = {"MPIJob": _mpi, "PyTorchJob": _pytorch, "RayCluster": _ray}


def _apply(bed, text):
    """Applies one document after the other; "# owner: KIND" stands for a reference to the object of
    that kind and name.
    """
    for document in text.split("\n---\n"):
        kind, name = re.search(r"^kind: (\w+)", document, re.M).group(1), re.search(
            r"^  name: (\S+)", document, re.M
        ).group(1)
        owner = re.search(r"^  # owner: (\w+)", document, re.M)
        if owner:
            ref = _owner_of(get(bed, owner.group(1), name))["ownerReferences"][0]
            fields = ", ".join(
                f"{k}: {str(v).lower() if isinstance(v, bool) else v}" for k, v in ref.items()
            )
            document = document.replace(owner.group(0), "  ownerReferences: [{" + fields + "}]")
        bed.plane.kubectl("apply", "-f", "-", stdin=document)
        if kind in CONTROLLERS:
            CONTROLLERS[kind](bed, bed.kube.request("GET", path_of(kind, name)))


def _check(bed, file):
    text = (MANIFESTS / file).read_text(encoding="utf-8")
    expected = dict(
        (w.split("=") + [""])[:2]
        for w in re.search(r"^# expect: (.*)", text, re.M).group(1).split()
    )
    before = set(bed.slurm.jobs())
    _apply(bed, text)

    def new_jobs():
        found = [j for i, j in sorted(bed.slurm.jobs().items()) if i not in before]
        return (
            found
            if len(found) == int(expected["jobs"])
            and all(j["JobState"] == expected["state"] for j in found)
            else None
        )

    jobs = wait_for(new_jobs, f"{expected['jobs']} Slurm jobs, {expected['state']}", 60)
    for job in jobs:
        equal(
            {k: job[f] for k, f in FIELDS.items() if k in expected},
            {k: expected[k] for k in FIELDS if k in expected},
            file,
        )
        equal('"kind":"Pod"' in job["AdminComment"], "alone" in expected, "a pod alone")
    bed.plane.kubectl("delete", "-f", str(MANIFESTS / file), "--wait=false", "--ignore-not-found")
    wait_for(lambda: not bed.kube.pods(), "its pods to be gone", 60)
    wait_for(
        lambda: not [
            j for j in bed.slurm.jobs().values() if j["JobState"] in ("PENDING", "RUNNING")
        ],
        "its jobs to have ended",
        60,
    )


def test_jobset_pytorch(bed):
    """JobSet's own example of PyTorch."""
    _check(bed, "jobset-pytorch.yaml")


def test_jobset_driver_and_workers(bed):
    """JobSet's startup and success policies together."""
    _check(bed, "jobset-driver-workers.yaml")


def test_lws_vllm(bed):
    """LeaderWorkerSet's example of vLLM."""
    _check(bed, "lws-vllm.yaml")


def test_indexed_job(bed):
    """Kubernetes' own Indexed Job with a headless Service."""
    _check(bed, "indexed-job.yaml")


def test_mpijob(bed):
    """mpi-operator's pi."""
    _check(bed, "mpijob-pi.yaml")


def test_pytorchjob(bed):
    """training-operator's simple example."""
    _check(bed, "pytorchjob-simple.yaml")


def test_trainjob(bed):
    """Kubeflow Trainer's, whose pods are a JobSet's."""
    _check(bed, "trainjob.yaml")


def test_raycluster(bed):
    """KubeRay's complete sample."""
    _check(bed, "raycluster.yaml")


def test_slurm_bridge_job(bed):
    """Options with slurm-bridge's prefix, on the Job."""
    _check(bed, "slurm-bridge-job.yaml")


def test_slurm_bridge_pod_group(bed):
    """A PodGroup with a Job."""
    _check(bed, "slurm-bridge-podgroup.yaml")


def test_sunk_pod(bed):
    """SUNK's time-out in seconds."""
    _check(bed, "sunk-pod.yaml")


def test_every_manifest_has_a_case(_):
    """Fails if a file has no case, because it would not be tested."""
    cases = Path(__file__).read_text(encoding="utf-8")
    equal([f.name for f in sorted(MANIFESTS.glob("*.yaml")) if f'"{f.name}"' not in cases], [])


if __name__ == "__main__":
    run(lambda build: Cluster(build, kwok=4, cpus=8, workloads=True))
