# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent under test, from BUILDDIR/root, configured for one Slurm and one control plane.

SLURM_KUBE_AGENT=PROGRAM uses that program instead, as testsuite/sanitized does.
"""
import json
import os

from .process import Process, output_of
from .waiting import LIMIT, wait_for

# The first rule that matches a pod's namespace decides as which user it runs.
NAMESPACES = [{"namespace": "default", "user": "root"}]


class Agent:
    """namespaces: identity.rules of slurmkubed.yaml ("name" may be used for "namespace"); settings:
    other top-level keys, which override the defaults here; directory: of its files, if not that of
    Slurm.
    """

    def __init__(self, slurm, plane, namespaces=None, settings=None, directory=None):
        self.slurm, self.plane, self.dir = slurm, plane, directory or slurm.dir
        self.rules = [
            {{"name": "namespace"}.get(k, k): v for k, v in rule.items()}
            for rule in namespaces or NAMESPACES
        ]
        self.settings = dict(settings or {})  # of this agent, which a bed may change
        self.api_port = None  # port of a proxy in front of the API server
        root = slurm.build / "root"
        self.skube_program, self.program = (
            root / "bin/skube",
            os.environ.get("SLURM_KUBE_AGENT") or root / "sbin/slurmkubed",
        )
        self.daemon = Process(
            "slurmkubed",
            slurm.program(self.program, "--config", self.dir / "slurmkubed.yaml"),
            self.dir / "log/slurmkubed.out",
        )

    def configuration(self):
        """The configuration, written as JSON, which is valid YAML."""
        return {
            "cluster": "test",
            "scheduler_name": "slurm",
            "kubeconfig": str(self.dir / "agent.kubeconfig"),
            "slurm": {"conf": f"{self.slurm.dir}/slurm.conf"},
            "partition": "kube",
            "plugin_socket": f"{self.dir}/plugin.sock",
            "control_socket": f"{self.dir}/control.sock",
            "nodes": {"manage": True},
            "identity": {"rules": self.rules},
            "metrics": {"listen": ""},  # two agents of one host cannot share a port
            "log_level": "debug",
            **self.settings,
        }

    def start(self, wait=True):
        """Starts the agent and, by default, waits until it reports that it is ready."""
        (self.dir / "slurmkubed.yaml").write_text(json.dumps(self.configuration(), indent=1))
        # In a chroot only the run directory is visible, so the kubeconfig and its CA are put there.
        text = (
            self.plane.kubeconfig("agent")
            .read_text()
            .replace(f"{self.plane.dir}/pki/ca.crt", f"{self.dir}/kube-ca.crt")
        )
        text = text.replace(
            f"https://127.0.0.1:{self.plane.port}",
            f"https://127.0.0.1:{self.api_port or self.plane.port}",
        )
        (self.dir / "kube-ca.crt").write_bytes((self.plane.dir / "pki/ca.crt").read_bytes())
        (self.dir / "agent.kubeconfig").write_text(text)
        self.daemon.start()
        if wait:
            self.wait_ready()

    def wait_ready(self, timeout=LIMIT):
        wait_for(
            lambda: self.daemon.check() and self.skube("ping")["ready"],
            "slurmkubed to be ready",
            timeout,
        )

    def skube(self, *verb):
        """The decoded answer of skube VERB --json."""
        return json.loads(self.skube_text(*verb, "--json"))

    def skube_all(self, *verb):
        """The same if skube's exit status reports problems, which the caller finds in the
        answer.
        """
        text = self.skube_text(*verb, "--json", check=False)
        if not text:
            raise RuntimeError("the agent does not answer")
        return json.loads(text)

    def skube_text(self, *verb, check=True):
        return output_of(
            *self.slurm.program(self.skube_program, "--socket", self.dir / "control.sock", *verb),
            check=check,
        )

    def kill9(self):
        self.daemon.kill9()

    def restart(self):
        self.daemon.stop()
        self.start()

    def restart_without_waiting(self):
        self.daemon.stop()
        self.start(wait=False)

    def stop(self):
        self.daemon.stop()
