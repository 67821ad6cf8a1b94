# SPDX-License-Identifier: GPL-2.0-or-later
"""A RayCluster of a head and a group of workers, without its controller."""
from lib.workloads import template

GROUPS = {"head": "headgroup", "worker": "workers"}


def ray_cluster(name, roles, workers):
    group = {
        "groupName": GROUPS["worker"],
        "replicas": workers,
        "minReplicas": workers,
        "maxReplicas": workers,
        "rayStartParams": {},
        "template": template(**roles["worker"]),
    }
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": name},
        "spec": {
            "headGroupSpec": {"rayStartParams": {}, "template": template(**roles["head"])},
            "workerGroupSpecs": [group],
        },
    }


def labels_of(cluster, role):
    """Those of a pod of that role."""
    return {"ray.io/cluster": cluster, "ray.io/node-type": role, "ray.io/group": GROUPS[role]}
