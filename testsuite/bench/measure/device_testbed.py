# SPDX-License-Identifier: GPL-2.0-or-later
"""The test bed of bench_testbed.py with devices: each node has a slice of them, without a driver.
Pods have a claim for one device, which the controller manager makes of the pod's own template.
"""
from lib import wait_for
from lib.device_claims import API, DRIVER, claim_template, device_class, with_claim
from lib.manifests import pod
from lib.objects import skube_manifests

from .bench_testbed import BenchTestbed
from .load import PODS

PER_NODE = 8
APIS = f"/apis/{API}"
TEMPLATES = f"{APIS}/namespaces/default/resourceclaimtemplates"
LIMIT = 120.0  # seconds for the controller manager to make or delete all claims


def resource_slice(node):
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{i}"} for i in range(PER_NODE)]
    return {
        "apiVersion": API,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-gpus"},
        "spec": {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices},
    }


class DeviceBenchTestbed(BenchTestbed):
    def __init__(self, build, nodes):
        super().__init__(
            build,
            nodes,
            slurm_lines=["GresTypes=gpu"],
            agent_settings={"devices": [{"driver": DRIVER, "gres": "gpu"}]},
        )

    def start_slurm(self):
        (self.dir / "gres.conf").write_text(
            f"NodeName=node-[0-{self.nodes - 1}] Name=gpu File=/dev/kube-gpu[0-{PER_NODE - 1}]\n"
        )
        super().start_slurm()

    def start_kubernetes(self):
        super().start_kubernetes()
        self.kube.create(device_class())
        slices = f"{APIS}/resourceslices"
        self.load.send([("POST", slices, resource_slice(name)) for name in self.names])

    def start_agent(self):
        self.stack.callback(self.agent.stop)
        self.agent.start()
        text = skube_manifests(self, "--config", self.dir / "slurmkubed.yaml", "--only", "rbac")
        self.plane.kubectl("apply", "-f", "-", stdin=text)
        wait_for(
            lambda: len(self.agent.skube("show", "devices")["devices"]) == self.devices,
            "the agent to know the devices",
            60,
        )
        self.sync_nodes(self.names)

    @property
    def devices(self):
        return self.nodes * PER_NODE

    def create_pods(self, prefix, count, scheduler, run):
        """Pods with a template each; returns when all claims have been made. run: how long they
        run, for kwok.
        """
        names = [f"{prefix}-{i}" for i in range(count)]
        self.load.send([("POST", TEMPLATES, claim_template(name)) for name in names])
        pods = [
            with_claim(
                pod(name, scheduler=scheduler, kwok={"run": run}), resourceClaimTemplateName=name
            )
            for name in names
        ]
        self.load.send([("POST", PODS, one) for one in pods])
        wait_for(lambda: self._have_claims(prefix) == count, "all claims", LIMIT, 0.5)

    def _have_claims(self, prefix):
        """The number of pods whose status names their claim."""
        return sum("resourceClaimStatuses" in one["status"] for one in self.pods(prefix))

    def remove_pods(self, prefix):
        """Removes the templates, too; returns when the claims are gone."""
        pods = self.pods(prefix)
        self.remove(prefix)
        lines = [("DELETE", f"{TEMPLATES}/{p['metadata']['name']}", None) for p in pods]
        self.load.send(lines)
        wait_for(lambda: not self.kube.list("ResourceClaim"), "the claims to go", LIMIT, 0.5)
