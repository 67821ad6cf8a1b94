# SPDX-License-Identifier: GPL-2.0-or-later
"""Random devices of some nodes, classes, and the claims of a pod, as an API server returns them
(with defaults filled in). The same seed gives the same cases.

Most nodes have devices that are alike, and most claims ask for few of them, so that about half of
all pairs of pod and node is allowed. On the others something differs: a model, a taint, an
attribute that a device does not have, a pool that is not complete.
"""
import copy
import random

GPU, NIC = "gpu.example.com", "nic.example.net"
NUMA = "resource.kubernetes.io/numa"
MODELS = {GPU: ["a100", "h100", "t4"], NIC: ["cx6", "cx7"]}
TAINT_KEYS = ["example.com/repair", "example.com/burn-in"]
EFFECTS = ["NoSchedule", "NoExecute", "None"]
CLASSES = {
    "gpu": [f"device.driver == '{GPU}'"],
    "nic": [f"device.driver == '{NIC}'"],
    "a100": [
        f"device.driver == '{GPU}'",
        f"device.attributes['{GPU}'].?model.orValue('') == 'a100'",
    ],
    "large": [
        f"device.driver == '{GPU}'"
        f" && device.capacity['{GPU}'].memory.compareTo(quantity('40Gi')) >= 0"
    ],
    "all": [],
    # fails for a device without the attribute, and for those of the other driver
    "strict": [f"device.attributes['{GPU}'].healthy"],
}
SELECTORS = {
    GPU: [
        f"device.attributes['{GPU}'].model == 'a100'",
        f"device.attributes['{GPU}'].?model.orValue('') in ['a100', 'h100']",
        f"has(device.attributes['{GPU}'].index) && device.attributes['{GPU}'].index < 2",
        f"device.attributes['{GPU}'].?healthy.orValue(false)",
        f"device.attributes['{GPU}'].version.isGreaterThan(semver('1.0.0'))",
        f"device.capacity['{GPU}'].memory.isGreaterThan(quantity('20Gi'))",
    ],
    NIC: [
        f"device.attributes['{NIC}'].model == 'cx7'",
        f"device.attributes['{NIC}'].?healthy.orValue(false)",
        "device.attributes['resource.kubernetes.io'].numa == 0",
    ],
}
CONSTRAINED = [f"{GPU}/model", NUMA, NUMA, f"{GPU}/version", f"{GPU}/index", f"{NIC}/model"]


class DeviceCases:
    def __init__(self, seed):
        self.random = random.Random(f"devices {seed}")
        self.number = 0
        self.drivers = []  # that most nodes of the case have
        self.models = {}  # that most devices of the case are

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *items):
        return self.random.choice(items)

    def weighted(self, **shares):
        return self.random.choices(list(shares), list(shares.values()))[0]

    def some(self, items, most):
        return self.random.sample(items, self.random.randint(1, min(most, len(items))))

    def metadata(self, name, **more):
        self.number += 1
        return {"name": name, "uid": f"uid-{self.number}", "resourceVersion": "1", **more}

    # ---- devices ----

    def taint(self):
        return {
            "key": self.pick(*TAINT_KEYS),
            "value": self.pick("x", "y"),
            "effect": self.pick(*EFFECTS),
        }

    def properties(self, driver):
        """Of all devices of a node, as far as they are alike."""
        return {
            "model": {
                "string": self.models[driver] if self.chance(0.6) else self.pick(*MODELS[driver])
            },
            "healthy": {"bool": self.chance(0.8)},
            NUMA: {"int": self.pick(0, 0, 1)},
            "version": {"version": self.pick("1.0.0", "1.2.3", "1.2.3-rc.1")},
        }

    def device(self, driver, index, common, is_alike):
        own = self.properties(driver)
        attributes = {
            (f"{driver}/{name}" if "/" not in name and self.chance(0.2) else name): (
                common[name] if is_alike or self.chance(0.6) else own[name]
            )
            for name in common
            if self.chance(0.995 if is_alike else 0.95)
        }
        attributes["index"] = {"int": index}
        device = {
            "name": f"{driver[:3]}-{index}",
            "attributes": attributes,
            "capacity": {"memory": {"value": "40Gi" if is_alike else self.pick("16Gi", "40Gi")}},
        }
        return device

    def pool(self, driver, node):
        """The slices with the devices of one driver on the node."""
        common, is_alike = self.properties(driver), self.chance(0.65)
        count = self.random.randint(1, 8 if driver == GPU else 4)
        devices = [self.device(driver, i, common, is_alike) for i in range(count)]
        if self.chance(0.25):
            taint = self.taint()
            for device in devices if self.chance(0.5) else self.some(devices, 2):
                device["taints"] = [taint] + ([self.taint()] if self.chance(0.2) else [])
        cut = self.random.randint(1, count - 1) if count > 1 and self.chance(0.15) else count
        parts = [part for part in (devices[:cut], devices[cut:]) if part]
        wanted = len(parts) + (1 if self.chance(0.02) else 0)
        pool = {"name": node, "generation": 1, "resourceSliceCount": wanted}
        return [
            {
                "metadata": self.metadata(f"{node}-{driver}-{i}"),
                "spec": {"driver": driver, "pool": pool, "nodeName": node, "devices": part},
            }
            for i, part in enumerate(parts)
        ]

    def slices(self, nodes):
        out = []
        for node in nodes:
            for driver in self.drivers if self.chance(0.85) else self.pick([GPU], [NIC]):
                out += self.pool(driver, node)
        return out

    def changed(self, slices):
        """The same slices some seconds later."""
        out = copy.deepcopy(slices)
        for one in self.some(out, 2):
            devices = one["spec"]["devices"]
            for device in self.some(devices, 3):
                change = self.weighted(taint=4, untaint=1, attribute=3, lost=1, gone=2)
                if change == "taint":
                    device["taints"] = [self.taint()]
                elif change == "untaint":
                    device.pop("taints", None)
                elif change == "attribute":
                    device["attributes"].update(self.properties(one["spec"]["driver"]))
                elif change == "lost":
                    device["attributes"] = {}
                elif len(devices) > 1:
                    devices.remove(device)
        return out

    # ---- classes and rules ----

    def device_class(self, name):
        spec = {"selectors": [{"cel": {"expression": text}} for text in CLASSES[name]]}
        if self.chance(0.3):
            spec["config"] = [self.config()]
        return {"metadata": self.metadata(name), "spec": spec}

    def config(self):
        return {"opaque": {"driver": self.pick(GPU, NIC), "parameters": {"n": self.pick(1, 2)}}}

    def rules(self):
        """Section devices of slurmkubed.yaml."""
        gpu = {"driver": GPU, "gres": "gpu"}
        if self.chance(0.4):
            gpu["type_attribute"] = "model"
        nic = {"driver": NIC, "gres": "nic" if self.chance(0.95) else "gpu"}
        kind = self.weighted(both=80, gpu=8, only=6, split=6)
        if kind == "gpu":
            return [gpu]
        if kind == "only":
            gpu["only"] = f"device.attributes['{GPU}'].?model.orValue('') != 't4'"
        if kind == "split":
            test = f"device.attributes['{GPU}'].?model.orValue('') %s 't4'"
            t4 = {**gpu, "gres": "small", "only": test % "=="}
            return [{**gpu, "only": test % "!="}, t4, nic]
        return [gpu, nic]

    # ---- claims ----

    def toleration(self):
        out = {"key": self.pick(*TAINT_KEYS), "operator": self.pick("Exists", "Equal")}
        if out["operator"] == "Equal":
            out["value"] = self.pick("x", "y")
        if self.chance(0.4):
            out["effect"] = self.pick("NoSchedule", "NoExecute")
        return {"operator": "Exists"} if self.chance(0.2) else out

    def exactly(self):
        name = self.weighted(
            gpu=60, nic=25 if NIC in self.drivers else 3, a100=7, large=7, all=3, strict=2
        )
        out = {"deviceClassName": name, "allocationMode": "ExactCount"}
        if self.chance(0.15):
            out["allocationMode"] = "All"
        else:
            out["count"] = self.pick(1, 1, 1, 2, 2, 3)
        if self.chance(0.2):
            texts = SELECTORS[NIC if name == "nic" else GPU]
            out["selectors"] = [{"cel": {"expression": text}} for text in self.some(texts, 2)]
        if self.chance(0.25):
            out["tolerations"] = [self.toleration() for _ in range(self.pick(1, 2))]
        return out

    def request(self, name):
        if self.chance(0.2):
            subs = [
                {"name": sub, **self.exactly()} for sub in ["a", "b", "c"][: self.pick(2, 2, 3)]
            ]
            return {"name": name, "firstAvailable": subs}
        out = {"name": name, "exactly": self.exactly()}
        if self.chance(0.15):
            out["exactly"]["adminAccess"] = True
        return out

    def names(self, requests):
        """Some of the requests, or of their alternatives."""
        out = []
        for one in self.some(requests, 2):
            subs = [f"{one['name']}/{sub['name']}" for sub in one.get("firstAvailable", [])]
            out.append(self.pick(*subs) if subs and self.chance(0.4) else one["name"])
        return out

    def constraint(self, requests):
        kind = "matchAttribute" if self.chance(0.75) else "distinctAttribute"
        out = {kind: self.pick(*CONSTRAINED)}
        if self.chance(0.4):
            out["requests"] = self.names(requests)
        return out

    def claim(self, name):
        requests = [self.request(f"r{i}") for i in range(self.pick(1, 1, 1, 2, 2, 3))]
        devices = {"requests": requests}
        if self.chance(0.3):
            devices["constraints"] = [
                self.constraint(requests) for _ in range(self.pick(1, 1, 1, 2))
            ]
        if self.chance(0.2):
            config = self.config()
            if self.chance(0.6):
                config["requests"] = self.names(requests)
            devices["config"] = [config]
        return {
            "metadata": self.metadata(name, namespace="default"),
            "spec": {"devices": devices},
        }

    # ---- the whole ----

    def taken(self, slices):
        share = self.pick(0, 0, 0.3, 0.6)
        return [
            {
                "Driver": one["spec"]["driver"],
                "Pool": one["spec"]["pool"]["name"],
                "Device": device["name"],
            }
            for one in slices
            for device in one["spec"]["devices"]
            if self.chance(share)
        ]

    def case(self):
        self.drivers = self.pick([GPU], [GPU, NIC])
        self.models = {driver: self.pick(*models) for driver, models in MODELS.items()}
        nodes = [f"n{i}" for i in range(self.pick(1, 2, 3))]
        slices = self.slices(nodes)
        out = {
            "seed": self.random.randrange(1 << 30),
            "rules": self.rules(),
            "nodes": nodes,
            "slices": slices,
            "classes": [self.device_class(name) for name in CLASSES],
            "claims": [self.claim(f"c{i}") for i in range(self.pick(1, 1, 1, 2))],
            "taken": self.taken(slices),
        }
        if self.chance(0.12):
            out["later"] = self.changed(slices)
        return out
