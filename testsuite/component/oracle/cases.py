# SPDX-License-Identifier: GPL-2.0-or-later
"""Random pods, nodes and bound pods, as an API server returns them (with defaults filled in). The
same seed gives the same cases.

Names and values come from small pools, so that the rules meet: a good third of all pairs of pod and
node is allowed.
"""
import random

KEYS = ["disk", "zone", "cores", "example.com/rack"]
VALUES = {
    "disk": ["ssd", "hdd", ""],
    "zone": ["a", "b"],
    "cores": ["8", "16", "+9", "many", "007"],
    "example.com/rack": ["r1", "r2", "r3"],
}
APPS = ["web", "db", "batch"]
SPACES = ["default", "team"]
TAINT_KEYS = ["gpu", "site/repair", "dedicated"]
IPS = ["", "0.0.0.0", "10.0.0.1", "10.0.0.2"]
HOSTNAME = "kubernetes.io/hostname"
ZONES = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"]
EXTENDED = ["example.com/fpga", "hugepages-2Mi", "ephemeral-storage"]


class Cases:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.number = 0

    def chance(self, share):
        return self.random.random() < share

    def pick(self, items):
        return self.random.choice(items)

    def some(self, items, most):
        return [self.pick(items) for _ in range(self.random.randint(1, most))]

    def uid(self, kind):
        self.number += 1
        return f"{kind}-{self.number}"

    # ---- nodes ----

    def labels(self):
        return {k: self.pick(VALUES[k]) for k in KEYS if self.chance(0.8)}

    def taint(self):
        return {
            "key": self.pick(TAINT_KEYS),
            "value": self.pick(["", "x", "y"]),
            "effect": self.pick(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
        }

    def node(self, name):
        labels = self.labels()
        if not self.chance(0.03):
            labels[HOSTNAME] = name
        if self.chance(0.4):
            labels[self.pick(ZONES)] = self.pick(["za", "zb"])
        allocatable = {
            "cpu": self.pick(["4", "15500m", "16"]),
            "memory": self.pick(["8Gi", "16000Mi", "35G"]),
            "pods": str(self.pick([1, 3, 110, 110, 110, 110])),
        }
        allocatable.update(
            {name: self.pick(["0", "2", "1Gi"]) for name in EXTENDED if self.chance(0.6)}
        )
        spec = (
            {"taints": [self.taint() for _ in range(self.random.randint(1, 2))]}
            if self.chance(0.25)
            else {}
        )
        if self.chance(0.08):
            spec["unschedulable"] = True
        return {
            "metadata": {"name": name, "uid": self.uid("node"), "labels": labels},
            "spec": spec,
            "status": {
                "allocatable": allocatable,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }

    # ---- constraints on nodes ----

    def requirement(self):
        key = self.pick(KEYS + ["gone"])
        op = self.pick(["In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
        out = {"key": "cores" if op in ("Gt", "Lt") and self.chance(0.8) else key, "operator": op}
        if op in ("In", "NotIn"):
            out["values"] = self.some(
                VALUES.get(key, ["x"]) if self.chance(0.9) else ["a b", "ssd", "-"], 2
            )
        elif op in ("Gt", "Lt"):
            out["values"] = [
                (
                    self.pick(["4", "8", "12", "16"])
                    if self.chance(0.9)
                    else self.pick(["-1", "x", "9223372036854775808"])
                )
            ]
        return out

    def field(self, nodes):
        return {
            "key": "metadata.name",
            "operator": self.pick(["In", "NotIn"]),
            "values": [self.pick(nodes)],
        }

    def term(self, nodes):
        out = {}
        if self.chance(0.85):
            out["matchExpressions"] = [self.requirement() for _ in range(self.random.randint(1, 2))]
        if self.chance(0.15):
            out["matchFields"] = [self.field(nodes)]
        return out

    def node_affinity(self, nodes):
        out = {}
        if self.chance(0.8):
            terms = [self.term(nodes) for _ in range(self.random.randint(1, 3))]
            out["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
        if self.chance(0.4):
            out["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": 5, "preference": self.term(nodes)}
            ]
        return out

    def toleration(self):
        out = {
            "key": self.pick(TAINT_KEYS + ["node.kubernetes.io/unschedulable"]),
            "operator": self.pick(["Equal", "Exists", "Exists", ""]),
        }
        if self.chance(0.1):
            return {"operator": "Exists"}
        if out["operator"] in ("Equal", ""):
            out["value"] = self.pick(["", "x", "y"])
        if self.chance(0.5):
            out["effect"] = self.pick(["NoSchedule", "NoExecute"])
        return {k: v for k, v in out.items() if v != ""}

    # ---- constraints on other pods ----

    def selector(self):
        if self.chance(0.1):
            return {}
        if self.chance(0.7):
            return {"matchLabels": {"app": self.pick(APPS)}}
        op = self.pick(["In", "NotIn", "Exists", "DoesNotExist"])
        return {
            "matchExpressions": [
                {
                    "key": self.pick(["app", "tier"]),
                    "operator": op,
                    **({"values": self.some(APPS, 2)} if op in ("In", "NotIn") else {}),
                }
            ]
        }

    def space_selector(self):
        return self.pick(
            [
                {},
                {"matchLabels": {"tier": self.pick(APPS)}},
                {
                    "matchExpressions": [
                        {"key": "tier", "operator": self.pick(["Exists", "DoesNotExist"])}
                    ]
                },
                {
                    "matchExpressions": [
                        {
                            "key": "tier",
                            "operator": self.pick(["In", "NotIn"]),
                            "values": self.some(APPS, 2),
                        }
                    ]
                },
            ]
        )

    def pod_term(self, wide):
        out = {
            "topologyKey": (
                self.pick(["zone", "example.com/rack"]) if self.chance(wide) else HOSTNAME
            )
        }
        if not self.chance(0.03):
            out["labelSelector"] = self.selector()
        if self.chance(0.2):
            out["namespaces"] = self.some(SPACES, 2)
        if self.chance(0.2):
            out["namespaceSelector"] = self.space_selector()
        return out

    def pod_terms(self, wide):
        return {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                self.pod_term(wide) for _ in range(self.random.randint(1, 2))
            ]
        }

    def spread(self):
        out = {
            "topologyKey": self.pick(["zone", "zone", "example.com/rack", HOSTNAME]),
            "maxSkew": self.pick([1, 1, 1, 2, 3]),
            "whenUnsatisfiable": "DoNotSchedule",
        }
        if not self.chance(0.05):
            out["labelSelector"] = self.selector()
        if self.chance(0.1):
            out["whenUnsatisfiable"] = "ScheduleAnyway"
        elif self.chance(0.2):
            out["minDomains"] = self.random.randint(1, 4)
        for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if self.chance(0.4):
                out[policy] = self.pick(["Honor", "Ignore"])
        if "labelSelector" in out and self.chance(0.25):
            out["matchLabelKeys"] = self.some(["app", "hash", "gone"], 2)
        return out

    # ---- pods ----

    def ports(self):
        out = []
        for _ in range(self.random.randint(1, 2)):
            port = {
                "containerPort": 80,
                "protocol": self.pick(["TCP", "TCP", "UDP"]),
                "hostPort": self.pick([0, 80, 80, 443]),
            }
            ip = self.pick(IPS)
            out.append({**port, **({"hostIP": ip} if ip else {})})
        return out

    def requests(self, large):
        out = {
            "cpu": self.pick(["0", "100m", "1", "2500m"] + (["9"] if large else [])),
            "memory": self.pick(["0", "64Mi", "1Gi"] + (["9Gi"] if large else [])),
        }
        for name in EXTENDED:
            if self.chance(0.04):
                out[name] = self.pick(["0", "1", "2"])
        return {k: v for k, v in out.items() if self.chance(0.8)}

    def container(self, large, ports):
        return {
            "name": self.uid("c"),
            "image": "x",
            "resources": {"requests": self.requests(large)},
            **({"ports": self.ports()} if self.chance(ports) else {}),
        }

    def spec(self, large):
        spec = {
            "containers": [self.container(large, 0.15) for _ in range(self.random.randint(1, 2))]
        }
        if self.chance(0.2):
            spec["initContainers"] = [
                {
                    **self.container(large, 0.3),
                    **({"restartPolicy": "Always"} if self.chance(0.5) else {}),
                }
                for _ in range(self.random.randint(1, 2))
            ]
        if self.chance(0.1):
            spec["overhead"] = {"cpu": "250m", "memory": "100Mi"}
        if self.chance(0.1):
            spec["resources"] = {"requests": {"cpu": "3", "memory": "2Gi"}}
        return spec

    def metadata(self):
        labels = {"app": self.pick(APPS)} if self.chance(0.9) else {}
        if self.chance(0.5):
            labels["hash"] = self.pick(["h1", "h2"])
        uid = self.uid("pod")
        return {"name": uid, "uid": uid, "namespace": self.pick(SPACES), "labels": labels}

    def bound_pod(self, nodes):
        spec = {
            **self.spec(False),
            "nodeName": self.pick(nodes),
            "schedulerName": "default-scheduler",
        }
        if self.chance(0.12):
            spec["affinity"] = {"podAntiAffinity": self.pod_terms(0.3)}
        out = {
            "metadata": self.metadata(),
            "spec": spec,
            "status": {"phase": self.pick(["Running", "Running", "Pending"])},
        }
        if self.chance(0.1):
            out["metadata"]["deletionTimestamp"] = "2026-11-21T03:08:57Z"
        return out

    def pod(self, nodes):
        spec, affinity = {**self.spec(True), "schedulerName": "slurm"}, {}
        if self.chance(0.15):
            key = self.pick(KEYS)
            spec["nodeSelector"] = {key: self.pick(VALUES[key])}
        if self.chance(0.3):
            affinity["nodeAffinity"] = self.node_affinity(nodes)
        if self.chance(0.12):
            affinity["podAffinity"] = self.pod_terms(0.5)
        if self.chance(0.15):
            affinity["podAntiAffinity"] = self.pod_terms(0.5)
        if self.chance(0.3):
            spec["topologySpreadConstraints"] = [
                self.spread() for _ in range(self.random.randint(1, 2))
            ]
        if affinity:
            spec["affinity"] = affinity
        if self.chance(0.7):
            spec["tolerations"] = [self.toleration() for _ in range(self.random.randint(1, 3))]
        return {"metadata": self.metadata(), "spec": spec, "status": {"phase": "Pending"}}

    # ---- volumes ----

    def size(self):
        """All sizes differ, because kube-scheduler chooses arbitrarily among equal ones."""
        self.sizes += 1
        return f"{self.random.randint(1, 9) * 1000 + self.sizes}Mi"

    def volume(self, names, claim=None):
        spec = {
            "capacity": {"storage": self.size()},
            "accessModes": self.pick(
                [
                    ["ReadWriteOnce"],
                    ["ReadWriteOnce", "ReadWriteOncePod"],
                    ["ReadWriteMany", "ReadWriteOnce"],
                ]
            ),
            "volumeMode": "Block" if self.chance(0.05) else "Filesystem",
            "storageClassName": self.pick(["local", "local", "late", "now"]),
        }
        labels = {self.pick(ZONES): self.pick(["za", "zb", "za__zb"])} if self.chance(0.2) else {}
        if self.chance(0.7):
            terms = [
                {
                    "matchExpressions": [
                        {
                            "key": HOSTNAME,
                            "operator": self.pick(["In", "In", "NotIn"]),
                            "values": self.some(names, 2),
                        }
                    ]
                }
                for _ in range(self.random.randint(1, 2))
            ]
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        if claim:
            spec["claimRef"] = {
                "namespace": claim["metadata"]["namespace"],
                "name": claim["metadata"]["name"],
                "uid": claim["metadata"]["uid"],
            }
        uid = self.uid("pv")
        return {
            "metadata": {
                "name": uid,
                "uid": uid,
                "labels": {**labels, "tier": self.pick(["x", "y"])},
            },
            "spec": spec,
            "status": {"phase": "Bound" if claim else "Available"},
        }

    def claim(self, pod, name, names, volumes):
        """None: the claim does not exist."""
        if self.chance(0.06):
            return None
        metadata = {
            "name": name,
            "namespace": pod["metadata"]["namespace"],
            "uid": self.uid("pvc"),
            "annotations": {},
        }
        spec = {
            "accessModes": [
                self.pick(["ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"])
            ],
            "resources": {"requests": {"storage": self.size()}},
            "storageClassName": self.pick(
                ["now", "late", "late", "zoned", "local", "local", "gone"]
            ),
            "volumeMode": "Filesystem",
        }
        claim = {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
        if name.startswith(pod["metadata"]["name"]):
            owner = pod["metadata"]["uid"] if self.chance(0.8) else "other"
            metadata["ownerReferences"] = [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": pod["metadata"]["name"],
                    "uid": owner,
                    "controller": True,
                }
            ]
        if self.chance(0.45):
            volume = self.volume(names, claim)
            if not self.chance(0.05):
                volumes.append(volume)
            spec["volumeName"] = volume["metadata"]["name"]
            claim["status"]["phase"] = "Lost" if self.chance(0.05) else "Bound"
            if not self.chance(0.05):
                metadata["annotations"]["pv.kubernetes.io/bind-completed"] = "yes"
        elif self.chance(0.15):
            metadata["annotations"]["volume.kubernetes.io/selected-node"] = self.pick(names)
        elif self.chance(0.1):
            spec["selector"] = {"matchLabels": {"tier": self.pick(["x", "y"])}}
        if self.chance(0.04):
            metadata["deletionTimestamp"] = "2026-11-21T03:08:57Z"
            metadata["finalizers"] = ["kubernetes.io/pvc-protection"]
        return claim

    def classes(self):
        late = {"volumeBindingMode": "WaitForFirstConsumer"}
        zoned = {
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]
        }
        kinds = {
            "now": {"volumeBindingMode": "Immediate"},
            "late": late,
            "zoned": {**late, **zoned},
            "local": {**late, "provisioner": "kubernetes.io/no-provisioner"},
        }
        return [
            {
                "metadata": {"name": name, "uid": "class-" + name},
                "provisioner": "csi.example.com",
                **one,
            }
            for name, one in kinds.items()
        ]

    def storage(self, pod, names, others):
        """Gives the pod volumes in one case of four, and gives some other pods the same claims."""
        if not self.chance(0.25):
            return {}
        self.sizes, claims, volumes, mounts = 0, [], [], []
        for i in range(self.random.randint(1, 3)):
            is_own = self.chance(0.2)
            name = f"{pod['metadata']['name']}-v{i}" if is_own else f"claim-{i}"
            mounts.append(
                {"name": f"v{i}", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
                if is_own
                else {"name": f"v{i}", "persistentVolumeClaim": {"claimName": name}}
            )
            claim = self.claim(pod, name, names, volumes)
            claims += [claim] if claim else []
        volumes += [self.volume(names) for _ in range(self.random.randint(0, 4))]
        pod["spec"]["volumes"] = mounts
        for other in others:
            if self.chance(0.2):
                other["spec"]["volumes"] = [
                    {"name": "v", "persistentVolumeClaim": {"claimName": "claim-0"}}
                ]
        return {"claims": claims, "volumes": volumes, "classes": self.classes()}

    def case(self):
        nodes = [self.node(f"n{i}") for i in range(self.random.randint(2, 7))]
        names = [n["metadata"]["name"] for n in nodes]
        pods = [self.bound_pod(names) for _ in range(self.pick([0, 1, 2, 3, 4, 5, 8]))]
        pod = self.pod(names)
        spaces = [
            {
                "metadata": {
                    "name": name,
                    "uid": "ns-" + name,
                    "labels": {"tier": self.pick(APPS)} if self.chance(0.7) else {},
                }
            }
            for name in SPACES
        ]
        return {
            "pod": pod,
            "nodes": nodes,
            "pods": pods,
            "namespaces": spaces,
            **self.storage(pod, names, pods),
        }
