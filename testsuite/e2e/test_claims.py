#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods with volume claims, with the real controllers of claims, volumes and ephemeral volumes.
Volumes of class local exist on one node each and wait for their pod. Volumes of class late are
created by a provisioner, which the test plays like a CSI sidecar: it waits for the annotation of a
node, and then creates a volume or removes the annotation.
"""
from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import job_in_state, uid_of, wait_no_live_jobs, wait_reason
from lib.kube import PATHS, ApiError

NODES, CPUS = 4, 8
HOST = "kubernetes.io/hostname"
SELECTED = "volume.kubernetes.io/selected-node"
WAITS = "SlurmWaitsForVolume"
PATHS["PersistentVolumeClaim"] = ("/api/v1", "persistentvolumeclaims")


def _storage(bed, kind, name="", method="GET", body=None):
    path = {
        "PersistentVolume": "/api/v1/persistentvolumes",
        "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
    }[kind]
    return bed.kube.request(method, path + (f"/{name}" if name else ""), body)


def _classes(bed):
    """Creates the classes: local and late wait for their first pod, now binds at once."""
    for name, provisioner, mode in (
        ("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
        ("late", "csi.example.com", "WaitForFirstConsumer"),
        ("now", "csi.example.com", "Immediate"),
    ):
        try:
            _storage(
                bed,
                "StorageClass",
                method="POST",
                body={
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "StorageClass",
                    "metadata": {"name": name},
                    "provisioner": provisioner,
                    "volumeBindingMode": mode,
                },
            )
        except ApiError as e:
            if e.status != 409:
                raise


def _volume(
    bed, name, node, storage_class="local", size="1Gi", claim=None, modes=("ReadWriteOnce",)
):
    spec = {
        "capacity": {"storage": size},
        "accessModes": list(modes),
        "storageClassName": storage_class,
        "persistentVolumeReclaimPolicy": "Retain",
        "local": {"path": "/srv/" + name},
        "nodeAffinity": {
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": HOST, "operator": "In", "values": [node]}]}
                ]
            }
        },
    }
    if claim:
        spec["claimRef"] = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": "default",
            "name": claim["metadata"]["name"],
            "uid": claim["metadata"]["uid"],
        }
    return _storage(
        bed,
        "PersistentVolume",
        method="POST",
        body={
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": spec,
        },
    )


def _claim(bed, name, storage_class="local", mode="ReadWriteOnce"):
    return bed.kube.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name},
            "spec": {
                "accessModes": [mode],
                "storageClassName": storage_class,
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
    )


def _mounting(name, *claims, kwok=None, **options):
    volumes = [
        {"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)
    ]
    return pod(name, kwok=kwok, spec={"volumes": volumes}, **options)


def _brief(name, *claims):
    return _mounting(name, *claims, kwok={"run": "50ms"})


def _wait_bound(bed, name):
    def look():
        claim = bed.kube.get("PersistentVolumeClaim", name)
        assert claim["status"]["phase"] == "Bound", claim["status"]
        return claim["spec"]["volumeName"]

    return wait_for(look, f"claim {name} to be bound")


def _node_of(bed, name, phase="Succeeded"):
    return bed.kube.wait_phase(name, phase, timeout=60)["spec"]["nodeName"]


def _selected(bed, name):
    return wait_for(
        lambda: bed.kube.get("PersistentVolumeClaim", name)["metadata"]
        .get("annotations", {})
        .get(SELECTED),
        f"a node for claim {name}",
    )


def test_bound_claim_says_where(bed):
    """A claim is bound to a volume on one node: the pod runs there, and the other nodes are
    excluded in Slurm.
    """
    _classes(bed)
    _volume(bed, "pv-data", "node-2", storage_class="")
    bed.kube.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "",
                "volumeName": "pv-data",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
    )
    equal(_wait_bound(bed, "data"), "pv-data")
    made = [bed.kube.create(_brief(f"data-{i}", "data")) for i in range(6)]
    equal({_node_of(bed, m["metadata"]["name"]) for m in made}, {"node-2"})
    equal(job_in_state(bed, made[0], "COMPLETED")["ExcNodeList"], "node-[0-1,3]")


def test_missing_claim_is_waited_for(bed):
    """No job is submitted until the claim exists, and the pod says so; then it runs."""
    _classes(bed)
    made = bed.kube.create(_brief("early", "comes-later"))
    equal(wait_reason(bed, "early", WAITS), "volume claim comes-later does not exist")
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    _volume(bed, "pv-later", "node-1")
    _claim(bed, "comes-later")
    equal(_node_of(bed, "early"), "node-1")
    equal(_wait_bound(bed, "comes-later"), "pv-later")


def test_unbound_claim_is_waited_for(bed):
    """A claim whose class binds at once is up to its provisioner: no job is submitted before it is
    bound.
    """
    _classes(bed)
    claim = _claim(bed, "slow", "now")
    made = bed.kube.create(_brief("slow", "slow"))
    assert "is not bound to a volume yet" in wait_reason(bed, "slow", WAITS)
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    _volume(bed, "pv-slow", "node-3", "now", claim=claim)
    equal(_node_of(bed, "slow"), "node-3")


def test_volume_of_the_chosen_node_is_given(bed):
    """Volumes exist on two nodes, with a pod for each: Slurm chooses the node, the claim gets the
    volume there, and the pod runs with it.
    """
    _classes(bed)
    for i in (0, 3):
        _volume(bed, f"pv-first-{i}", f"node-{i}")
    for i in (0, 3):
        _claim(bed, f"first-{i}")
        bed.kube.create(_mounting(f"first-{i}", f"first-{i}", cpu=CPUS))
    where = {i: _node_of(bed, f"first-{i}", "Running") for i in (0, 3)}
    equal(set(where.values()), {"node-0", "node-3"})
    for i, node in where.items():
        equal(_wait_bound(bed, f"first-{i}"), f"pv-first-{node[-1]}")
    for i in where:
        bed.kube.delete("Pod", f"first-{i}")
    _claim(bed, "first-none")
    bed.kube.create(_brief("first-none", "first-none"))
    text = wait_reason(bed, "first-none", "SlurmNoNode")
    equal(
        text,
        (
            "no node may take the pod: 4 nodes: each has no volume for volume claim first-none and"
            " none can be made there"
        ),
    )
    _volume(bed, "pv-first-new", "node-2")
    equal(_node_of(bed, "first-none"), "node-2")


def test_provisioner_is_told_the_node(bed):
    """The pod is bound when the volume has been created, not earlier."""
    _classes(bed)
    claim = _claim(bed, "made", "late")
    made = bed.kube.create(_brief("made", "made"))
    node = _selected(bed, "made")
    text = wait_reason(bed, "made", WAITS, "is being bound")
    assert node in text, text
    equal(job_in_state(bed, made, "RUNNING")["NodeList"], node)
    assert not bed.kube.get("Pod", "made")["spec"].get("nodeName"), "bound before its claim"
    _volume(bed, "pv-made", node, "late", claim=claim)
    equal(_node_of(bed, "made"), node)
    job_in_state(bed, made, "COMPLETED")


def test_provisioner_refuses_a_node(bed):
    """The provisioner removes the annotation: the allocation is given back, and the next one is on
    another node.
    """
    _classes(bed)
    claim = _claim(bed, "refused", "late")
    made = bed.kube.create(_brief("refused", "refused"))
    first = _selected(bed, "refused")
    bed.kube.patch(
        "PersistentVolumeClaim", "refused", {"metadata": {"annotations": {SELECTED: None}}}
    )
    second = _selected(bed, "refused")
    assert first != second, f"{first} was chosen again"
    _volume(bed, "pv-refused", second, "late", claim=claim)
    equal(_node_of(bed, "refused"), second)
    states = lambda: sorted(j["JobState"] for j in bed.slurm.job_of_pod(uid_of(made)))  # noqa: E731
    wait_for(
        lambda: states() == ["COMPLETED", "FAILED"],
        "the job that was given back and the one that ran",
    )


def test_agent_killed_while_a_volume_is_made(bed):
    """The next agent continues where the first one stopped: same job, same node."""
    _classes(bed)
    claim = _claim(bed, "killed", "late")
    made = bed.kube.create(_brief("killed", "killed"))
    node = _selected(bed, "killed")
    bed.agent.kill9()
    _volume(bed, "pv-killed", node, "late", claim=claim)
    _wait_bound(bed, "killed")
    bed.agent.start()
    equal(_node_of(bed, "killed"), node)
    job_in_state(bed, made, "COMPLETED")


def test_too_long_is_given_back(bed):
    """A claim without a provisioner does not hold CPUs forever."""
    _classes(bed)
    _claim(bed, "nobody", "late")
    made = bed.kube.create(_brief("nobody", "nobody"))
    node = _selected(bed, "nobody")
    wait_for(
        lambda: any(j["JobState"] == "FAILED" for j in bed.slurm.job_of_pod(uid_of(made))),
        "the allocation to be given back",
        120,
    )
    equal(
        bed.kube.get("PersistentVolumeClaim", "nobody")["metadata"]["annotations"][SELECTED], node
    )
    bed.kube.delete("Pod", "nobody")
    bed.kube.wait_gone("nobody")


def test_read_write_once_pod(bed):
    """Two pods, and a claim for one pod: the second waits without a job until the first has
    ended.
    """
    _classes(bed)
    _volume(bed, "pv-once", "node-1", modes=("ReadWriteOncePod",))
    _claim(bed, "once", mode="ReadWriteOncePod")
    bed.kube.create(_mounting("once-1", "once"))
    bed.kube.wait_phase("once-1", "Running", timeout=60)
    second = bed.kube.create(_brief("once-2", "once"))
    equal(
        wait_reason(bed, "once-2", WAITS),
        "volume claim once is ReadWriteOncePod and in use by default/once-1",
    )
    equal(bed.slurm.job_of_pod(uid_of(second)), [])
    bed.kube.delete("Pod", "once-1")
    equal(_node_of(bed, "once-2"), "node-1")


def test_ephemeral_volume(bed):
    """Kubernetes creates the claim for the pod, and deletes it with the pod; an existing claim of
    that name is not used.
    """
    _classes(bed)
    template = {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "resources": {"requests": {"storage": "1Gi"}},
        }
    }
    spec = {"volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]}
    _volume(bed, "pv-scratch", "node-0")
    bed.kube.create(pod("brief", kwok={"run": "50ms"}, spec=spec))
    equal(_node_of(bed, "brief"), "node-0")
    equal(_wait_bound(bed, "brief-scratch"), "pv-scratch")
    _claim(bed, "thief-scratch")
    bed.kube.create(pod("thief", spec=spec))
    assert "was not made for this pod" in wait_reason(bed, "thief", WAITS)
    bed.kube.delete("Pod", "thief")
    bed.kube.wait_gone("thief")


def test_gang_shares_a_claim(bed):
    """Pods that start together all run on the node of the volume."""
    _classes(bed)
    _volume(bed, "pv-gang", "node-2", modes=("ReadWriteOnce", "ReadWriteMany"))
    _claim(bed, "gang", mode="ReadWriteMany")
    manifest = job("gang", 4, indexed=True, cpu=1, kwok={"run": "1s"})
    manifest["spec"]["template"]["spec"]["volumes"] = [
        {"name": "v", "persistentVolumeClaim": {"claimName": "gang"}}
    ]
    bed.kube.create(manifest)
    pods = bed.kube.wait(
        lambda: (
            [p for p in bed.kube.pods("gang-").values() if p["spec"].get("nodeName")]
            if len([p for p in bed.kube.pods("gang-").values() if p["spec"].get("nodeName")]) == 4
            else None
        ),
        "four pods to be bound",
    )
    equal({p["spec"]["nodeName"] for p in pods}, {"node-2"})
    for p in pods:
        bed.kube.wait_phase(p["metadata"]["name"], "Succeeded")


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed, 60)


def _make(build):
    limits = {"condition_interval_seconds": 1, "claim_wait_seconds": 25}
    return Cluster(build, kwok=NODES, cpus=CPUS, agent_options={"settings": {"limits": limits}})


class _WithLabels:
    """Volumes refer to nodes by labels, which kubelets write and kwok does not."""

    def __init__(self, cluster):
        self.cluster = cluster

    def __enter__(self):
        bed = self.cluster.__enter__()
        for i in range(NODES):
            bed.plane.kubectl("label", "node", f"node-{i}", "--overwrite", f"{HOST}=node-{i}")
        return bed

    def __exit__(self, *error):
        return self.cluster.__exit__(*error)


if __name__ == "__main__":
    run(lambda build: _WithLabels(_make(build)))
