#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's permissions in Kubernetes, compared with the API server's audit log: after a run that
uses every feature, each permission of etc/rbac.yaml has been used, and no other was requested. A
permission that is missing or superfluous fails here until src/manifests/rights.cc is corrected.
"""
import json
import os
import tempfile
from pathlib import Path

from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import (
    fill,
    job_controller_status,
    number_of,
    only_job,
    wait_no_live_jobs,
    wait_reason,
)
from lib.process import TESTSUITE, output_of

NOT_OWNERS = ("pods", "nodes", "leases")
ACCOUNT = "system:serviceaccount:slurm-kube:slurmkubed"


def _granted(bed):
    """The permissions that the API server has: {(verb, group, resource)}."""
    roles = [
        bed.kube.request("GET", f"/apis/rbac.authorization.k8s.io/v1/{path}")["rules"]
        for path in ("clusterroles/slurm-kube", "namespaces/slurm-kube/roles/slurm-kube-lease")
    ]
    return {
        (v, g, r)
        for rules in roles
        for rule in rules
        for v in rule["verbs"]
        for g in rule["apiGroups"]
        for r in rule["resources"]
    }


def _audited(bed):
    """{(verb, group, resource): response codes} of the agent's requests for resources, and the
    paths of all other requests.
    """
    used, paths = {}, set()
    for line in (
        (bed.dir / "audit.log").read_text().rpartition("\n")[0].splitlines()
    ):  # the last line may be incomplete
        event = json.loads(line)
        equal(event["user"]["username"], ACCOUNT)
        what = event.get("objectRef")
        if not what:
            paths.add(event["requestURI"])
            continue
        name = what["resource"] + (f"/{what['subresource']}" if what.get("subresource") else "")
        used.setdefault((event["verb"], what.get("apiGroup", ""), name), set()).add(
            event.get("responseStatus", {}).get("code", 0)
        )
    return used, paths


def _owned_by_every_kind(bed):
    """A pod may name any owner. The agent asks for each kind that it knows, and accepts "there is
    no such object" as an answer.
    """
    granted = {(g, r) for v, g, r in _granted(bed) if v == "get" and r not in NOT_OWNERS}
    kinds = {
        "replicasets": "ReplicaSet",
        "deployments": "Deployment",
        "statefulsets": "StatefulSet",
        "jobs": "Job",
        "cronjobs": "CronJob",
        "jobsets": "JobSet",
        "leaderworkersets": "LeaderWorkerSet",
        "podgroups": "PodGroup",
        "mpijobs": "MPIJob",
        "pytorchjobs": "PyTorchJob",
        "trainjobs": "TrainJob",
        "rayclusters": "RayCluster",
        "rayjobs": "RayJob",
    }
    for group, resource in sorted(granted):
        owned = pod(f"owned-{resource}-{group.replace('.', '-')}", kwok={"run": "50ms"})
        owned["metadata"]["ownerReferences"] = [
            {
                "apiVersion": f"{group}/v1",
                "kind": kinds[resource],
                "name": "nobody",
                "uid": "0",
                "controller": True,
            }
        ]
        bed.kube.create(owned)
    asked = lambda: {
        (what[1], what[2]) for what in _audited(bed)[0] if what[0] == "get"
    }  # noqa: E731
    wait_for(lambda: granted <= asked(), "the agent to ask for every kind of owner")


def _with_claims(bed):
    """A volume that the agent gives to a claim, and a claim for which it tells the provisioner the
    node.
    """

    def create(path, kind, name, **rest):
        bed.kube.request(
            "POST",
            path,
            {
                "apiVersion": "storage.k8s.io/v1" if kind == "StorageClass" else "v1",
                "kind": kind,
                "metadata": {"name": name},
                **rest,
            },
        )

    size = {"storage": "1Gi"}
    for name, provisioner in (
        ("local", "kubernetes.io/no-provisioner"),
        ("late", "csi.example.com"),
    ):
        create(
            "/apis/storage.k8s.io/v1/storageclasses",
            "StorageClass",
            name,
            provisioner=provisioner,
            volumeBindingMode="WaitForFirstConsumer",
        )
        create(
            "/api/v1/namespaces/default/persistentvolumeclaims",
            "PersistentVolumeClaim",
            name,
            spec={
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": name,
                "resources": {"requests": size},
            },
        )
        bed.kube.create(
            pod(
                f"mounts-{name}",
                kwok={"run": "50ms"},
                spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]},
            )
        )
    create(
        "/api/v1/persistentvolumes",
        "PersistentVolume",
        "pv",
        spec={
            "capacity": size,
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "hostPath": {"path": "/srv"},
        },
    )
    bed.kube.wait_phase("mounts-local", "Succeeded", timeout=60)
    wait_for(
        lambda: ("patch", "", "persistentvolumeclaims") in _audited(bed)[0],
        "the claim to be told a node",
    )
    bed.kube.delete("Pod", "mounts-late")


def _lost_label(bed):
    """The agent asks by name whether the Node object is gone as well."""
    bed.plane.kubectl("label", "node", "node-1", "slurm-kube.io/managed-")
    wait_for(lambda: ("get", "", "nodes") in _audited(bed)[0], "the agent to ask for the node")
    bed.plane.kubectl("label", "node", "node-1", "slurm-kube.io/managed=true")


def test_a_life_with_everything_in_it(bed):
    """Pods run, wait, are refused, are cancelled in Slurm and disappear while the agent is down,
    and a node loses its label.
    """
    bed.kube.create(job("many", 8, kwok={"run": "50ms"}))
    job_controller_status(bed, "many", succeeded=8)
    bed.kube.create(pod("misspelt", annotations={"slurm-kube.io/no-such-option": "1"}))
    wait_reason(bed, "misspelt", "SlurmRefused")
    cancelled, vanishing = fill(bed, "ends", 1, 2)
    bed.slurm.run("scancel", str(number_of(only_job(bed, cancelled))))
    bed.kube.wait_gone("ends-0")
    bed.agent.stop()
    bed.kube.delete("Pod", "ends-1", gracePeriodSeconds=0)
    bed.kube.wait_gone("ends-1")
    bed.agent.start()
    wait_no_live_jobs(bed)
    assert vanishing
    _with_claims(bed)
    _owned_by_every_kind(bed)
    _lost_label(bed)
    wait_for(
        lambda: not [
            c
            for c in bed.agent.skube_all("check")["checks"]
            if c["name"] == "rights" and not c["ok"]
        ],
        "skube check to find all rights granted",
    )


def test_every_right_is_used_and_no_other_is_asked_for(bed):
    """In both directions: used but not granted, granted but not used. No request was ever
    forbidden.
    """
    granted = _granted(bed)
    wait_for(lambda: granted <= set(_audited(bed)[0]), "every right to have been used")
    used, paths = _audited(bed)
    equal(sorted(set(used) - granted), [], "used and not granted")
    equal(sorted(k for k, codes in used.items() if 403 in codes or 401 in codes), [], "forbidden")
    equal(paths, {"/version"}, "other paths")


def test_the_account_may_do_nothing_else(bed):
    """According to the API server, with the agent's own token: no secrets, no new pods, no changes
    of pod specs or nodes, no roles, and no role bindings beyond ours.
    """
    said = {
        what: bed.plane.kubectl(
            "auth", "can-i", *what.split(), "--all-namespaces", user="agent", check=False
        ).strip()
        for what in (
            "get secrets",
            "create pods",
            "update pods",
            "patch pods",
            "patch nodes",
            "delete persistentvolumes",
            "create persistentvolumeclaims",
            "create clusterroles",
            "bind clusterroles",
            "create serviceaccounts/token",
            "create pods/exec",
            "update namespaces",
            "impersonate users",
            "escalate clusterroles",
            "delete nodes",
            "get leases",
            "update leases",
            "list pods",
        )
    }
    equal({k: v for k, v in said.items() if v != "no"}, {"list pods": "yes"})


def test_manifest_is_printed_by_the_agent(bed):
    """slurmkubed --print-rbac prints what is installed."""
    equal(
        output_of(*bed.slurm.program(bed.agent.program, "--print-rbac")),
        (TESTSUITE.parent / "etc/rbac.yaml").read_text(),
    )


def _bed(build):
    directory = Path(tempfile.mkdtemp(prefix="slurm-kube-", dir=os.environ.get("SLURM_KUBE_RUN")))
    arguments = (
        f"--audit-policy-file={TESTSUITE}/e2e/audit-policy.yaml"
        f" --audit-log-path={directory}/audit.log --audit-log-mode=blocking"
    )
    return Cluster(build, kwok=2, directory=directory, plane_env={"APISERVER_ARGS": arguments})


if __name__ == "__main__":
    run(_bed)
