# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods have the same contents in protobuf and in JSON: listed, watched, changed, ended."""
from testbed import OURS, PODS, wait_for
from registry import equal, test

HOST = "kubernetes.io/hostname"
EXPRESSIONS = [
    {"key": "disk", "operator": "In", "values": ["ssd", ""]},
    {"key": "old", "operator": "DoesNotExist"},
]
TERM = {
    "labelSelector": {"matchLabels": {"app": "a"}, "matchExpressions": EXPRESSIONS},
    "topologyKey": HOST,
    "namespaces": ["default", "other"],
}
AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": EXPRESSIONS,
                    "matchFields": [
                        {"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}
                    ],
                }
            ]
        },
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 7, "preference": {"matchExpressions": EXPRESSIONS}}
        ],
    },
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{**TERM, "namespaceSelector": {}}]
    },
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {**TERM, "topologyKey": "rack", "namespaceSelector": {"matchLabels": {"team": "x"}}}
        ]
    },
}
SPREADS = [
    {
        "maxSkew": 2,
        "minDomains": 3,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "nodeAffinityPolicy": "Ignore",
        "nodeTaintsPolicy": "Honor",
        "labelSelector": {"matchLabels": {"app": "a"}},
        "matchLabelKeys": ["version"],
    },
    {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "ScheduleAnyway"},
]
VOLUMES = [
    {"name": "claimed", "persistentVolumeClaim": {"claimName": "data"}},
    {
        "name": "own",
        "ephemeral": {
            "volumeClaimTemplate": {
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                }
            }
        },
    },
    {"name": "scratch", "emptyDir": {"medium": "Memory"}},
]
CONTAINERS = [
    {
        "name": "main",
        "image": "none",
        "resources": {
            "requests": {"cpu": "1500m", "memory": "1Gi"},
            "limits": {"nvidia.com/gpu": "2"},
        },
        "ports": [
            {"containerPort": 80, "hostPort": 8080, "hostIP": "127.0.0.1"},
            {"containerPort": 53, "hostPort": 53, "protocol": "UDP"},
        ],
    },
    {"name": "beside", "image": "none"},
]
INIT = [
    {"name": "first", "image": "none", "resources": {"requests": {"cpu": "3"}}},
    {
        "name": "stays",
        "image": "none",
        "restartPolicy": "Always",
        "resources": {"requests": {"memory": "64Mi"}},
        "ports": [{"containerPort": 1, "hostPort": 1}],
    },
]
OWNERS = [
    {"apiVersion": "v1", "kind": "ConfigMap", "name": "another", "uid": "u-0"},
    {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": "work",
        "uid": "u-1",
        "controller": True,
        "blockOwnerDeletion": False,
    },
]
ANNOTATIONS = {
    "slurm-kube.io/account": "chem",
    "slurm-kube.io/empty": "",
    "kubectl.kubernetes.io/default-container": "beside",
    "foreign": "x" * 300,
}

PODS_OF_ALL_KINDS = {
    "plain": {},
    "placed": {
        "affinity": AFFINITY,
        "nodeSelector": {"a": "b", "empty": ""},
        "topologySpreadConstraints": SPREADS,
        "volumes": VOLUMES,
        "tolerations": [
            {
                "key": "k",
                "operator": "Equal",
                "value": "v",
                "effect": "NoExecute",
                "tolerationSeconds": 60,
            },
            {"operator": "Exists"},
        ],
        "metadata": {"labels": {"app": "a", "version": "1", "empty": ""}},
    },
    "heavy": {
        "containers": CONTAINERS,
        "initContainers": INIT,
        "terminationGracePeriodSeconds": 0,
        "activeDeadlineSeconds": 77,
        "metadata": {"annotations": ANNOTATIONS, "ownerReferences": OWNERS},
    },
    "gated": {
        "schedulingGates": [{"name": "example.com/wait"}],
        "priorityClassName": "system-node-critical",
    },
    "claims": {"resourceClaims": [{"name": "device", "resourceClaimName": "c"}]},
    "sized": {"resources": {"requests": {"cpu": "5", "memory": "3Gi"}}},
    "wrapped": {"runtimeClassName": "heavy"},
    "kept": {"metadata": {"finalizers": ["example.com/keep"]}},
    "bound": {"nodeName": "n1", "terminationGracePeriodSeconds": 7200},
}
RUNTIME = {
    "metadata": {"name": "heavy"},
    "handler": "x",
    "overhead": {"podFixed": {"cpu": "250m", "memory": "64Mi"}},
}
CONDITIONS = [
    {
        "type": "PodScheduled",
        "status": "False",
        "reason": "SlurmPending",
        "message": 'waits: ä "quoted"',
    },
    {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "SlurmJobEnded",
        "message": "cancelled",
    },
]
STATUSES = {
    "plain": {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "the node was low",
        "conditions": CONDITIONS,
        "containerStatuses": [
            {
                "name": "main",
                "image": "none",
                "imageID": "",
                "ready": False,
                "restartCount": 1,
                "lastState": {"running": {}},
                "state": {
                    "terminated": {
                        "exitCode": 137,
                        "signal": 9,
                        "reason": "OOMKilled",
                        "startedAt": "2026-01-01T00:00:00Z",
                    }
                },
            }
        ],
    },
    "heavy": {
        "phase": "Running",
        "containerStatuses": [
            {
                "name": "main",
                "image": "none",
                "imageID": "",
                "ready": True,
                "restartCount": 0,
                "state": {"running": {}},
                "allocatedResources": {"cpu": "2"},
                "resources": {"requests": {"cpu": "2", "memory": "2Gi"}},
            },
            {
                "name": "beside",
                "image": "none",
                "imageID": "",
                "ready": False,
                "restartCount": 3,
                "state": {
                    "waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}
                },
            },
        ],
        "initContainerStatuses": [
            {
                "name": "first",
                "image": "none",
                "imageID": "",
                "ready": True,
                "restartCount": 0,
                "state": {"terminated": {"exitCode": 0, "reason": "Completed"}},
            }
        ],
    },
}


def make(bed, name, kind, test):
    """Creates a pod for this test alone, so that pods of earlier tests do not matter."""
    spec = dict(PODS_OF_ALL_KINDS[kind])
    metadata = spec.get("metadata", {})
    spec["metadata"] = {**metadata, "labels": {**metadata.get("labels", {}), "test": test}}
    bed.api.pod(f"{test}-{name}", **spec)


def write_statuses(bed):
    for name, status in STATUSES.items():
        code, answer = bed.api(
            "PATCH",
            f"{PODS}/same-{name}/status",
            {"status": status},
            "application/merge-patch+json",
        )
        assert code == 200, answer


def has_fields(bed, name):
    """The API server drops fields whose feature is disabled, and then neither form contains them.
    (schedulingGroup of pods is disabled by default: e2e test_workloads.)
    """
    spec = bed.api.get(f"same-{name}")["spec"]
    wanted = set(PODS_OF_ALL_KINDS[name]) - {"metadata"} | (
        {"overhead"} if name == "wrapped" else set()
    )
    equal(sorted(wanted - set(spec)), [])


def same(probe, names):
    """Both watches have seen exactly these pods, and decoded them identically."""
    found = probe("compare", name="protobuf", **{"with": "json"})
    heard = {probe.live(name).get(uid) for name in ("protobuf", "json") for uid in probe.live(name)}
    return (
        found["differ"] == []
        and found["count"] == len(names)
        and heard == {f"same-{name}" for name in names}
    )


@test
def protobuf_says_what_json_says(bed):
    code, answer = bed.api("POST", "/apis/node.k8s.io/v1/runtimeclasses", RUNTIME)
    assert code == 201, answer
    names = set(PODS_OF_ALL_KINDS)
    for name in names:
        make(bed, name, name, "same")
        has_fields(bed, name)
    probe = bed.probe()
    probe("watch", name="protobuf", fields=OURS, labels="test=same", page_size=4)
    probe(
        "watch",
        name="json",
        fields=OURS,
        labels="test=same",
        page_size=4,
        accept="application/json",
    )
    wait_for("the same lists", lambda: same(probe, names))
    write_statuses(bed)
    bed.api.delete("same-kept")
    bed.api.delete("same-bound", grace=5400)  # the pod stays, because no kubelet ends it
    for name in ("later", "last"):
        make(bed, name, "placed", "same")
    wait_for("the same events", lambda: same(probe, names | {"later", "last"}))
    bed.api.delete("same-plain")
    wait_for("the same end", lambda: same(probe, names - {"plain"} | {"later", "last"}))
    for name in ("protobuf", "json"):
        equal([e for e in probe.heard[name] if e["event"] != "listed" and not e["readable"]], [])
        counters = probe("counters", name=name)
        equal(
            (counters["lists"], counters["pages"], counters["errors"], counters["trouble"]),
            (1, 3, 0, ""),
        )
    bed.api.delete("same-bound")
    bed.api(
        "PATCH",
        f"{PODS}/same-kept",
        {"metadata": {"finalizers": None}},
        "application/merge-patch+json",
    )


@test
def protobuf_is_what_comes(bed):
    for n in range(20):
        make(bed, n, "heavy", "comes")
    received = {}
    for name, accept in (("protobuf", {}), ("json", {"accept": "application/json"})):
        probe = bed.probe()
        probe("watch", name=name, labels="test=comes", **accept)
        wait_for("a list", lambda probe=probe, name=name: probe("counters", name=name)["synced"])
        received[name] = probe("counters", name=name)["bytes"]
    equal(received["protobuf"] < 0.9 * received["json"], True)


@test
def an_error_in_protobuf_tells_what_it_says(bed):
    probe = bed.probe()
    probe("watch", name="pods", fields="spec.nonsense=1")
    trouble = wait_for("trouble", lambda: probe("counters", name="pods")["trouble"])
    assert "spec.nonsense" in trouble, trouble
