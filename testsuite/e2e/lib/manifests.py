# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods and Jobs as the tests need them. On kwok nodes kwok={"run": "2s", "exit-code": 3} describes
their life (see k8s/stages.yaml); on real nodes shell="exit 3" is their program, which has
SLURM_JOB_ID in its environment.
"""

IMAGE = "docker.io/slurm-kube/box:1"
JOB_ID = {"fieldRef": {"fieldPath": "metadata.annotations['allocation.slurm-kube.io/job-id']"}}


def _spec(cpu, memory, shell, scheduler, spec, devices):
    counts = {name: str(count) for name, count in (devices or {}).items()}
    container = {
        "name": "main",
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "resources": {
            "requests": {"cpu": str(cpu), "memory": memory, **counts},
            "limits": {"memory": memory, **counts},
        },
    }
    if shell:
        container["command"] = ["/bin/sh", "-c", shell]
        container["env"] = [{"name": "SLURM_JOB_ID", "valueFrom": JOB_ID}]
    # Real nodes use the machine's network and no token volume, so that a container runs 0.3 s after
    # the binding.
    real = (
        {"hostNetwork": True, "automountServiceAccountToken": False, "enableServiceLinks": False}
        if shell
        else {}
    )
    return {
        "schedulerName": scheduler,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 5,
        "containers": [container],
        **real,
        **(spec or {}),
    }


def _annotations(annotations, kwok):
    return {
        **(annotations or {}),
        **{f"kwok.slurm-kube.test/{k}": str(v) for k, v in (kwok or {}).items()},
    }


def pod(
    name,
    cpu=1,
    memory="64Mi",
    shell=None,
    kwok=None,
    annotations=None,
    scheduler="slurm",
    spec=None,
    devices=None,
):
    """A pod with one container; spec overrides fields of its spec. devices: for example
    {"nvidia.com/gpu": 2}
    """
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": _annotations(annotations, kwok)},
        "spec": _spec(cpu, memory, shell, scheduler, spec, devices),
    }


def job(name, pods, indexed=False, **pod_options):
    """A Job of that many pods, all in parallel and without retries."""
    template = pod(name, **pod_options)
    del template["metadata"]["name"], template["apiVersion"], template["kind"]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completions": pods,
            "parallelism": pods,
            "completionMode": "Indexed" if indexed else "NonIndexed",
            "backoffLimit": 0,
            "template": template,
        },
    }


def kwok_node(name, cpus, memory, labels=None, pods=500):
    """A node simulated by kwok, initially Ready."""
    size = {"cpu": str(cpus), "memory": memory, "pods": str(pods)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"slurm-kube.io/managed": "true", **(labels or {})},
        },
        "status": {"capacity": size, "allocatable": size},
    }
