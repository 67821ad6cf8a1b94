# SPDX-License-Identifier: GPL-2.0-or-later
"""A private Kubernetes, run by the scripts in testsuite/k8s: start, stop, faults, simulated and
real nodes.
"""
import os

from .dra_driver import CpuDriver, DraDriver
from .kube import ApiError, Kube, condition
from .manifests import kwok_node
from .process import CACHE, TESTSUITE, output_of
from .tap import Skip
from .waiting import LIMIT, wait_for

SCRIPTS = TESTSUITE / "k8s"
RUNTIME = os.environ.get("SLURM_KUBE_RUNTIME", "containerd")  # or crio


class ControlPlane:
    """Runs in directory on the ports from port on. .kube is the administrator's client, with its
    watches running.
    """

    def __init__(self, directory, port, env=None):
        self.dir, self.port, self.env = directory, port, env
        self.kube = None
        self.nodes = {}  # real nodes: name -> directory
        self.dra_drivers = []

    def start(self):
        if not (CACHE / "k8s/bin/kwok").exists():
            raise Skip("no Kubernetes built: run testsuite/k8s/build")
        if (self.env or {}).get("WORKLOADS") == "1":
            output_of(SCRIPTS / "build", "--workloads", timeout=1800)
        output_of(SCRIPTS / "up", self.dir, self.port, env=self.env, timeout=600)
        self.kube = self.client("admin")
        self.kube.start_watching()

    def client(self, user):
        """A client as admin, agent, alice or bob."""
        return Kube(
            self.port, self.dir / "pki/ca.crt", (self.dir / "tokens" / user).read_text().strip()
        )

    def kubeconfig(self, user="admin"):
        return self.dir / f"{user}.kubeconfig"

    def restart(self, component):
        """Restarts the component with SIGTERM and waits until it is ready, as kill9 and revive
        together do.
        """
        output_of(SCRIPTS / "restart", self.dir, component, timeout=300)

    def kill9(self, component):
        output_of(SCRIPTS / "restart", self.dir, component, "--kill")

    def freeze(self, component):
        output_of(SCRIPTS / "restart", self.dir, component, "--freeze")

    def thaw(self, component):
        output_of(SCRIPTS / "restart", self.dir, component, "--thaw")

    def revive(self, component):
        output_of(SCRIPTS / "restart", self.dir, component, "--start", timeout=300)

    def kwok_nodes(self, count, cpus=8, memory="16Gi", prefix="node", labels=None):
        """Simulated nodes PREFIX-0 and so on, Ready."""
        names = [f"{prefix}-{i}" for i in range(count)]
        for name in names:
            try:
                self.kube.create(kwok_node(name, cpus, memory, labels))
            except ApiError as e:
                if e.status != 409:
                    raise
        for name in names:
            self.wait_ready(name)
        return names

    def wait_ready(self, name, status="True", timeout=LIMIT):
        def ready():
            node = self.kube.now["Node"].get(name)
            return node and condition(node, "Ready").get("status") == status

        self.kube.wait(ready, f"node {name} to be Ready={status}", timeout)

    def real_node(self, name, **options):
        """A node with a kubelet; options are node-up's environment, for example FAKE_CPUS=64. Skips
        the test if the machine cannot run kubelets.
        """
        try:
            output_of(SCRIPTS / "node-can")
        except RuntimeError as e:
            raise Skip(str(e).rpartition(": exit 77: ")[2]) from None
        _build_node()
        directory = self.dir.parent / name
        self.nodes[name] = directory
        output_of(
            SCRIPTS / "node-up",
            self.dir,
            directory,
            name,
            len(self.nodes),
            timeout=400,
            env={k: str(v) for k, v in options.items()},
        )
        self.wait_ready(name)
        return name

    def dra_driver(self, name, devices=4, **options):
        """Starts a driver for dynamic resource allocation on the real node; options are those of
        DraDriver.
        """
        return self._start_driver(DraDriver(self, name, devices, **options))

    def cpu_driver(self, name, **options):
        """The same for the driver of CPUs; options are those of CpuDriver."""
        return self._start_driver(CpuDriver(self, name, **options))

    def _start_driver(self, driver):
        self.dra_drivers.append(driver)
        driver.start()
        return driver

    def kubelet(self, name, action):
        """action: --kill, --start, --freeze or --thaw."""
        output_of(SCRIPTS / "node-restart", self.nodes[name], action)

    def runtime(self, name, action):
        """action: --kill or --start; its containers go on."""
        output_of(SCRIPTS / "node-restart", self.nodes[name], f"{action}-runtime")

    def kubectl(self, *arguments, user="admin", check=True, stdin=None):
        return output_of(
            CACHE / "k8s/bin/kubectl",
            "--kubeconfig",
            self.kubeconfig(user),
            *arguments,
            check=check,
            stdin=stdin,
        )

    def default_account(self, namespace):
        """Waits for the namespace's service account, without which the API server accepts
        no pods.
        """
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        wait_for(
            lambda: self.kube.request("GET", path), f"the default service account of {namespace}"
        )

    def stop(self):
        if self.kube:
            self.kube.stopped = True
        for driver in self.dra_drivers:
            driver.kill9()
        for directory in self.nodes.values():
            output_of(SCRIPTS / "node-down", self.dir, directory)
        output_of(SCRIPTS / "down", self.dir, timeout=300)


def _build_node():
    """CRI-O is not needed for development, so a machine where it cannot be built skips."""
    try:
        output_of(SCRIPTS / "build", "--node", timeout=1800)
    except RuntimeError as e:
        if RUNTIME == "crio":
            raise Skip(f"CRI-O cannot be built: {str(e).splitlines()[-1]}") from None
        raise
