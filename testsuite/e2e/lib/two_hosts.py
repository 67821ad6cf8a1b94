# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster with two SlurmctldHosts on one machine: each has its own host name (a UTS namespace),
loopback address, directory with slurm.conf and kube.conf, and agent. They share StateSaveLocation
and munge. Host "kube-a" is the primary.
"""
import copy

from .agent import Agent
from .fault_testbed import FaultTestbed
from .process import Process
from .slurm import Slurm
from .waiting import LIMIT, wait_for

HOSTS = """SlurmctldHost=kube-a(127.0.0.1)
SlurmctldHost=kube-b(127.0.0.2)
CommunicationParameters=NoCtldInAddrAny
SlurmctldTimeout=12
"""
AS_HOST = 'hostname "$1" && mount --bind "$2" /etc/hosts && shift 2 && exec "$@"'


class HostSlurm(Slurm):
    """Slurm as seen from host kube-a; backup() is the same cluster as seen from kube-b."""

    def __init__(self, build, directory, port, sink_of_backup, **options):
        self.top = directory
        super().__init__(build, directory, port, **options)
        self.sink_of_backup = sink_of_backup
        self.slurmctld = self._controller("kube-a")

    def _inside(self, *command):
        here, self.dir = self.dir, self.top  # both hosts see the whole directory
        try:
            return super()._inside(*command)
        finally:
            self.dir = here

    def _controller(self, host):
        names = (
            self.top / "hosts"
        )  # slurmctld resolves its own name if it listens on one address only
        names.write_text("127.0.0.1 localhost kube-a\n127.0.0.2 kube-b\n")
        command = [
            "unshare",
            "--uts",
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            AS_HOST,
            "sh",
            host,
            names,
            *self._inside(f"{self.sbin}slurmctld", "-D"),
        ]
        return Process(
            f"slurmctld on {host}", command, self.top / f"log/slurmctld-{host}.out", self.env
        )

    def write_conf(self):
        super().write_conf()
        conf, other = self.dir / "slurm.conf", self.dir / "b"
        (other / "log").mkdir(parents=True, exist_ok=True)
        lines = [
            line
            for line in conf.read_text().splitlines(True)
            if not line.startswith("SlurmctldHost=")
        ]
        conf.write_text(lines[0] + HOSTS + "".join(lines[1:]))
        (other / "slurm.conf").write_text(
            conf.read_text().replace(f"{self.dir}/slurmctld.pid", f"{other}/slurmctld.pid")
        )
        (other / "kube.conf").write_text(f"Socket={other}/plugin.sock\nSinkPort={self.port + 2}\n")
        (other / "cgroup.conf").write_bytes((self.dir / "cgroup.conf").read_bytes())

    def backup(self):
        other = copy.copy(self)
        other.dir = self.top / "b"
        other.env = {**self.env, "SLURM_CONF": f"{other.dir}/slurm.conf"}
        other.slurmctld = other._controller("kube-b")
        return other


class TwoHosts(FaultTestbed):
    """FaultTestbed without proxies: .slurm and .agent belong to kube-a, .slurm_b and .agent_b to
    kube-b.
    """

    def __init__(self, build, **options):
        super().__init__(build, **options)
        self.slurm = HostSlurm(self.slurm.build, self.dir, self.base + 5, self.base + 8)
        settings = self.agent.settings
        self.agent = Agent(self.slurm, self.plane, settings=settings)
        self.slurm_b = self.slurm.backup()
        self.agent_b = Agent(self.slurm_b, self.plane, settings=settings)

    def daemons(self):
        return super().daemons() + [self.slurm_b.slurmctld, self.agent_b.daemon]

    def start_agent(self):
        self.stack.callback(self.agent.stop)
        self.agent.start()
        self.sync_nodes(self.names)
        self.stack.callback(self.slurm_b.slurmctld.stop)
        self.stack.callback(self.agent_b.stop)
        self.slurm_b.slurmctld.start()
        self.agent_b.start(wait=False)
        self.start_steady()
        wait_for(
            lambda: self.agent_b.skube_all("ping")["ok"], "the agent beside the backup to answer"
        )

    def leader(self):
        """The host whose agent is connected and ready; fails if there are two or none."""
        found = []
        for host, agent in (("kube-a", self.agent), ("kube-b", self.agent_b)):
            said = agent.skube_all("ping")
            if said["link"]:
                assert said["controller"] == host, said
                found += [host] if said["ready"] else []
        assert len(found) == 1, f"leading agents: {found}"
        return found[0]

    def wait_leader(self, host, timeout=LIMIT):
        wait_for(lambda: self.leader() == host, f"the agent on {host} to lead", timeout, 0.1)
