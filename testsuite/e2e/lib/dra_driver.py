# SPDX-License-Identifier: GPL-2.0-or-later
"""Drivers for dynamic resource allocation beside a real kubelet. DraDriver is Kubernetes'
dra-example-driver: its GPUs do not exist, and in a container each is an environment variable,
GPU_DEVICE_2=gpu-2. CpuDriver is Kubernetes' dra-driver-cpu, whose devices are the machine's CPUs.

A driver runs in the mounts of its node, so that it has the constant paths of a kubelet and of
CDI, which are directories of the node. Its log is DRIVER-NODE.out among those of the test bed, with
every request of the kubelet. It has an administrator's permissions.
"""
from .process import CACHE, TESTSUITE, Process, output_of
from .waiting import wait_for

REGISTERED = "Registration/NotifyRegistrationStatus"


class _Driver(Process):
    """A program of `testsuite/k8s/build --dra` beside the kubelet of a node."""

    def __init__(self, plane, node, driver, program, flags):
        self.plane, self.node, self.driver, self.program = plane, node, driver, program
        init = (plane.nodes[node] / "run/init.pid").read_text().strip()
        flags = {"kubeconfig": plane.kubeconfig(), "v": 6, **flags}
        super().__init__(
            f"{driver}-{node}",
            ["nsenter", f"--mount=/proc/{init}/ns/mnt", CACHE / "node/bin" / program]
            + [f"--{flag.replace('_', '-')}={value}" for flag, value in flags.items()],
            plane.dir.parent / f"log/{driver}-{node}.out",
            {"NODE_NAME": node},
        )

    def start(self):
        """Returns when the kubelet has registered the driver, and its devices are published."""
        output_of(TESTSUITE / "k8s/build", "--dra", self.program, timeout=1800)
        before = self.requests(REGISTERED)
        super().start()
        wait_for(
            lambda: self.check() and self.requests(REGISTERED) > before,
            f"the kubelet to register {self.name}",
        )
        wait_for(lambda: self.check() and self.devices(), f"the devices of {self.name}")

    def requests(self, word):
        """How often the kubelet's requests in the log have this word, for example
        NodePrepareResources or the uid of a claim.
        """
        if not self.log.exists():
            return 0
        lines = self.log.read_text(errors="replace").splitlines()
        return sum('"handling request"' in line and word in line for line in lines)

    def slices(self):
        """The ResourceSlices of its pool, which is complete."""
        slices = [
            s
            for s in self.plane.kube.list("ResourceSlice")
            if (s["spec"]["driver"], s["spec"]["pool"]["name"]) == (self.driver, self.node)
        ]
        pools = [s["spec"]["pool"] for s in slices]
        newest = max((p["generation"] for p in pools), default=0)
        slices = [s for s in slices if s["spec"]["pool"]["generation"] == newest]
        assert len(slices) == max((p["resourceSliceCount"] for p in pools), default=0), slices
        return slices

    def devices(self):
        """{name: device} as published."""
        return {d["name"]: d for s in self.slices() for d in s["spec"].get("devices", [])}


class DraDriver(_Driver):
    """devices: the number of GPUs, gpu-0 and so on; options are more flags, for example
    gpu_partitions=2 or driver_name="other.example.com". One kubelet can have several drivers of
    different names.
    """

    def __init__(self, plane, node, devices, **options):
        driver = options.get("driver_name", f"{options.get('device_profile', 'gpu')}.example.com")
        flags = {"node_name": node, "cdi_root": "/run/cdi", "num_devices": devices}
        super().__init__(plane, node, driver, "dra-example-kubeletplugin", {**flags, **options})

    def prepared(self):
        """The CDI files on the node: one for each claim that is prepared."""
        files = (self.plane.nodes[self.node] / "cdi").glob(f"k8s.{self.driver}*")
        return {f.name: f.read_text() for f in files if "common" not in f.name}


class CpuDriver(_Driver):
    """options are more flags, for example cpu_device_mode="grouped". Containers get their CPUs by
    NRI, whose socket is one of the node's own.
    """

    def __init__(self, plane, node, **options):
        flags = {
            "hostname_override": node,
            "cpu_device_mode": "individual",
            "bind_address": "127.0.0.1:0",
        }
        super().__init__(plane, node, "dra.cpu", "dracpu", {**flags, **options})

    def start(self):
        """Returns when containerd knows the driver, too: a container that is created between its
        registration with the kubelet and that is not confined.
        """
        before = self._synchronized()
        super().start()
        wait_for(
            lambda: self.check() and self._synchronized() > before,
            f"containerd to register {self.name}",
        )

    def _synchronized(self):
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return text.count('"end: synchronize state with the runtime"')

    def prepared(self):
        """The CDI files on the node: one for each claim that is prepared."""
        files = (self.plane.nodes[self.node] / "cdi").glob("dra.k8s.io-cpu*")
        return {f.name: f.read_text() for f in files}
