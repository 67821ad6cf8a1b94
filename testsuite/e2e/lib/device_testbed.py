# SPDX-License-Identifier: GPL-2.0-or-later
"""A real node with devices of Kubernetes' example driver, of which Slurm chooses."""
import re

from .cluster import Cluster
from .device_claims import DRIVER, device_class, devices_in, with_claim
from .expect import only_job
from .manifests import pod
from .objects import skube_manifests
from .waiting import wait_for

NODE, DEVICES = "real-1", 4
SLOW = 180  # seconds; the start of a container needs half a dozen programs
UNTIL = "env; until [ -e /h/{} ]; do sleep 0.1; done"
GRES_CONF = f"NodeName={NODE} Name=gpu File=/dev/kube-gpu[0-{DEVICES - 1}]\n"
RULES = [{"driver": DRIVER, "gres": "gpu"}]
RESOURCE, IMPLICIT = "example.com/gpu", f"deviceclass.resource.kubernetes.io/{DRIVER}"


class DeviceTestbed(Cluster):
    """A real node with four devices of the example driver, and a rule that makes them gpu.
    node_options are those of ControlPlane.real_node().
    """

    def __init__(self, build, node_options=None, **options):
        super().__init__(build, **options)
        self.node_options = node_options or {}

    def start_slurm(self):
        (self.dir / "gres.conf").write_text(GRES_CONF)
        super().start_slurm()

    def start_kubernetes(self):
        super().start_kubernetes()
        self.plane.real_node(NODE, **self.node_options)
        self.plane.dra_driver(NODE, DEVICES)
        self.kube.create(device_class())
        self.kube.watch("ResourceClaim")
        self.names.append(NODE)

    def start_agent(self):
        self.stack.callback(self.agent.stop)
        self.agent.start()
        text = skube_manifests(self, "--config", self.dir / "slurmkubed.yaml", "--only", "rbac")
        self.plane.kubectl("apply", "-f", "-", stdin=text)
        wait_for(self._knows_devices, "the agent to know the devices")
        self.sync_nodes(self.names)

    def _knows_devices(self):
        return len(self.agent.skube("show", "devices")["devices"]) == DEVICES

    def claims_made_for(self, made):
        """Names of all claims that the pod has had."""
        with self.kube.changed:
            events = list(self.kube.history["ResourceClaim"])
        return {
            claim["metadata"]["name"]
            for _, _, claim in events
            for owner in claim["metadata"].get("ownerReferences", [])
            if owner["uid"] == made["metadata"]["uid"]
        }

    @property
    def driver(self):
        return self.plane.dra_drivers[0]


def device_pod(bed, name, shell="env", **source):
    """A pod with a claim; its program sees the run directory as /h."""
    manifest = with_run_directory(bed, with_claim(pod(name, shell=shell), **source))
    return bed.kube.create(manifest)


def with_run_directory(bed, manifest):
    manifest["spec"]["volumes"] = [{"name": "h", "hostPath": {"path": str(bed.dir)}}]
    manifest["spec"]["containers"][0]["volumeMounts"] = [{"name": "h", "mountPath": "/h"}]
    return manifest


def indices(bed, made):
    """The devices by the indices that scontrol show job -d prints for the pod's job."""
    return indices_of_job(bed, only_job(bed, made)["JobId"])


def indices_of_job(bed, number):
    return indices_in(bed.slurm.run("scontrol", "-d", "show", "job", number))


def indices_in(shown):
    """The same of what scontrol has printed of one job."""
    out = []
    for part in re.search(r"GRES=gpu\S*\(IDX:([\d,-]+)\)", shown)[1].split(","):
        first, _, last = part.partition("-")
        out += [f"gpu-{i}" for i in range(int(first), int(last or first) + 1)]
    return out


def devices_of_pod(bed, name):
    """The devices in the environment of the pod's container, which ends by itself."""
    ended = bed.kube.wait_phase(name, "Succeeded", "Failed", timeout=SLOW)
    assert ended["status"]["phase"] == "Succeeded", ended["status"]
    return devices_in(wait_for(lambda: bed.kube.logs(name), f"the output of {name}"))


def extended_pod(bed, name, count=1, resource=RESOURCE):
    """A pod that has no claim of its own and asks for devices as for any other resource."""
    manifest = with_run_directory(bed, pod(name, shell=UNTIL.format(f"{name}-ends")))
    resources = manifest["spec"]["containers"][0]["resources"]
    resources["requests"][resource] = resources["limits"][resource] = str(count)
    return bed.kube.create(manifest)
