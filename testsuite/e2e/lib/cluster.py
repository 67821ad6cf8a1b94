# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm, Kubernetes and the agent together, in a directory and a block of ports of their own."""
import fcntl
import os
import shutil
import socket
import tempfile
from contextlib import ExitStack
from pathlib import Path

from .agent import Agent
from .control_plane import ControlPlane
from .kube import ApiError
from .process import tail
from .slurm import Slurm
from .waiting import wait_for

BLOCK = (
    14  # ports: +0 to +4 Kubernetes, +5 to +9 Slurm and proxies, +10 to +13 managers of workloads
)


def _free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def claim_ports(stack):
    """The first port of a block that no program uses. A lock file reserves the block;
    SLURM_KUBE_PORTS="first-last" restricts the choice.
    """
    first, last = map(int, os.environ.get("SLURM_KUBE_PORTS", "24000-29999").split("-"))
    for base in range(first, last - BLOCK + 2, BLOCK):
        lock = stack.enter_context(
            open(f"{tempfile.gettempdir()}/.slurm-kube-ports-{base}", "w", encoding="ascii")
        )
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        if all(_free(p) for p in range(base, base + BLOCK)):
            return base
    raise RuntimeError(f"no free block of {BLOCK} ports in {first}-{last}")


class Cluster:
    """with Cluster(BUILDDIR, kwok=4) as bed: a whole cluster with four simulated nodes of 8 CPUs.

    agent=False, kube=False, native=False leave a part out; accounting=True adds a slurmdbd.
    slurm_options and agent_options go to Slurm() and Agent(), plane_env to the environment of
    k8s/up. The cluster uses directory, or a temporary one. workloads=True adds the managers of
    JobSet and LeaderWorkerSet, CRDs of other workloads, and the built-in PodGroup;
    workloads="kinds" leaves the managers out.
    """

    def __init__(
        self,
        build,
        kwok=0,
        cpus=8,
        memory="16Gi",
        agent=True,
        kube=True,
        native=True,
        accounting=None,
        slurm_options=None,
        agent_options=None,
        plane_env=None,
        directory=None,
        workloads=False,
    ):
        build = Path(build).resolve()
        self.stack, self.failures = ExitStack(), 0
        self.dir = Path(
            directory
            or tempfile.mkdtemp(prefix="slurm-kube-", dir=os.environ.get("SLURM_KUBE_RUN"))
        )
        self.dir.chmod(0o755)  # commands of other users must reach munge's socket
        self.base = claim_ports(self.stack)
        self.slurm = Slurm(
            build, self.dir, self.base + 5, accounting=accounting, **(slurm_options or {})
        )
        if workloads:
            plane_env = {
                "WORKLOADS": "1" if workloads is True else workloads,
                "POD_GROUPS": "1",
                **(plane_env or {}),
            }
        self.plane = ControlPlane(self.dir / "cp", self.base, plane_env) if kube else None
        self.agent = (
            Agent(self.slurm, self.plane, **(agent_options or {})) if agent and kube else None
        )
        self.native, self.nodes, self.size = native, kwok, (cpus, memory)
        self.prefix = ""  # of the nodes' names in Slurm
        self.cluster = None  # the name in the markers; None: all jobs are of this cluster
        self.label = f"{self.slurm.version} "

    @property
    def all(self):
        """The clusters under this Slurm."""
        return [self]

    def daemons(self):
        """The processes of ours: slurmctld, which has the plugin, and the agent."""
        return [self.slurm.slurmctld] + ([self.agent.daemon] if self.agent else [])

    @property
    def kube(self):
        return self.plane.kube

    def __enter__(self):
        try:
            self.start_slurm()
            if self.plane:
                self.start_kubernetes()
            if self.agent:
                self.start_agent()
        except BaseException:
            self.failed("start", lambda text: print("# " + text.replace("\n", "\n# "), flush=True))
            self.__exit__(None, None, None)
            raise
        return self

    def start_slurm(self):
        self.stack.callback(self.slurm.stop)
        self.slurm.start(self.native)

    def start_kubernetes(self):
        self.stack.callback(self.plane.stop)
        self.plane.start()
        self.names = self.plane.kwok_nodes(self.nodes, *self.size)

    def start_agent(self):
        self.stack.callback(self.agent.stop)
        self.agent.start()
        self.sync_nodes(self.names)

    def sync_nodes(self, names):
        """Waits until Slurm has these nodes. Without dynamic nodes, does what an administrator must
        do there.
        """
        if names and not self.slurm.dynamic_nodes:
            lines = wait_for(
                lambda: self._lines_with(names), "skube nodes --slurm-conf to list the nodes"
            )
            self.slurm.set_nodes(lines, self.prefix)
        wait_for(
            lambda: all(
                self.slurm.node(self.prefix + n)["State"].startswith("IDLE") for n in names
            ),
            f"{len(names)} nodes to be idle in Slurm",
        )

    def _lines_with(self, names):
        lines = self.agent.skube_text(
            "nodes", "--slurm-conf", check=False
        ).splitlines()  # empty while the agent is not in sync
        return lines if all(any(n in line for line in lines) for n in names) else None

    def failed(self, test, say):
        """Prints where the logs are, and the last lines of each daemon."""
        self.failures += 1
        say(f"{test}: everything is kept in {self.dir}")
        for log in sorted(self.dir.glob("log/*.out")):
            say(f"--- end of {log.name}\n{tail(log, 12)}")

    def sweep(self, keep=("steady",)):
        """Run after a failed test: what it left behind would make other tests fail, first of all
        those that wait until no job is live.
        """
        if not self.plane or not self.plane.kube:
            return
        for kind in ("Job", "Pod"):
            for thing in self.kube.list(kind):
                if thing["metadata"]["name"] not in keep:
                    try:
                        self.kube.delete(
                            kind,
                            thing["metadata"]["name"],
                            **({"gracePeriodSeconds": 0} if kind == "Pod" else {}),
                        )
                    except ApiError:  # the pod is gone already
                        pass

    def __exit__(self, *_):
        try:
            self.stack.close()
        finally:
            if not self.failures and os.environ.get("SLURM_KUBE_KEEP") != "1":
                shutil.rmtree(self.dir, ignore_errors=True)
