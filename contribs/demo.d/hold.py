# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the demo's cluster: starts it, prints its progress, and takes it down when asked.

usage: hold.py DIR BUILDDIR REAL_NODES          (started by show.py, in a session of its own)

Every daemon of Slurm ends with this process, however it ends. The process takes everything down on
SIGTERM, and at the end of its stdin unless "keep" was written there, so that nothing is left when
the demo in the foreground is killed.
"""
import json
import os
import signal
import sys
import threading
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "testsuite/e2e"))

from lib import Cluster, Skip  # noqa: E402
from lib.control_plane import SCRIPTS  # noqa: E402
from lib.process import CACHE, output_of  # noqa: E402

CPUS = 2  # of each node, real or simulated: the request of a pod of job.yaml


def tell(text):
    print(text, flush=True)


def audit(directory):
    """The API server's audit log of creations and bindings, which testsuite/bench/latency.py
    reads.
    """
    policy = SOURCE / "testsuite/bench/latency-audit-policy.yaml"
    return {
        "APISERVER_ARGS": f"--audit-policy-file={policy} --audit-log-path={directory}/audit.log"
    }


class DemoCluster(Cluster):
    """Prints what it starts, and has real nodes beside the simulated ones."""

    def __init__(self, directory, build, real):
        super().__init__(
            build,
            cpus=CPUS,
            memory="8Gi",
            directory=directory,
            plane_env=audit(directory),
            agent_options={
                "namespaces": [{"name": "default", "user": "nobody", "group": "nogroup"}]
            },
        )
        self.real, self.simulated, self.trouble = real, [], ""

    def start_slurm(self):
        tell(
            f"Slurm {self.slurm.version}: munged, slurmctld with the plugin, one slurmd for native"
            " jobs"
        )
        super().start_slurm()

    def start_kubernetes(self):
        tell("Kubernetes: etcd, kube-apiserver, kube-controller-manager, kwok")
        super().start_kubernetes()
        real = self.real_nodes()
        self.simulated = self.plane.kwok_nodes(8 - len(real), *self.size, prefix="sim")
        tell(f"{len(self.simulated)} simulated nodes are Ready")
        self.names = real + self.simulated

    def real_nodes(self):
        """As many real nodes as requested; none, with the reason recorded, if kubelets do not run
        here.
        """
        names = [f"real-{i + 1}" for i in range(self.real)]
        try:
            for name in names:
                self.plane.real_node(name, **node_size())
                tell(f"{name} is Ready: kubelet and containerd")
        except (Skip, RuntimeError, AssertionError) as e:
            self.trouble = f"kubelets do not run here: {e}"
            tell(f"{self.trouble}\nAll nodes will be simulated")
            for name in names:
                self.drop(name)
            return []
        return names

    def drop(self, name):
        directory = self.plane.nodes.pop(name, None)
        if directory:
            output_of(SCRIPTS / "node-down", self.plane.dir, directory)
        self.plane.kubectl("delete", "node", name, "--ignore-not-found")

    def start_agent(self):
        tell(
            "the agent slurmkubed; its nodes go into Slurm's configuration by: skube nodes"
            " --slurm-conf"
        )
        super().start_agent()

    def failed(self, test, say):
        """An interruption needs no explanation."""
        if not isinstance(sys.exc_info()[1], SystemExit):
            super().failed(test, say)

    def stop_native_jobs(self):
        self.slurm.run("scancel", "--partition=native", check=False)

    def facts(self):
        """What the foreground process needs to know."""
        return {
            "port": self.base,
            "real": [n for n in self.names if n not in self.simulated],
            "simulated": self.simulated,
            "trouble": self.trouble,
        }


def node_size():
    """A kubelet announces the CPUs of the machine. Reserved or fake CPUs give all nodes of the demo
    the same size.
    """
    have = os.cpu_count()
    return (
        {"RESERVE_CPUS": have - CPUS} if have > CPUS else {"FAKE_CPUS": CPUS} if have < CPUS else {}
    )


def write_commands(cluster):
    """DIR/bin: the programs, bound to this cluster, wherever they are installed."""
    folder = cluster.dir / "bin"
    folder.mkdir()
    slurm = cluster.slurm.bin or "/usr/bin/"  # absolute, because the user's PATH leads here
    for name in ("squeue", "sinfo", "scontrol", "scancel", "sbatch", "srun", "sdiag"):
        write_command(folder / name, cluster.slurm.program(f"{slurm}{name}"))
    write_command(
        folder / "skube",
        cluster.slurm.program(
            cluster.agent.skube_program, "--socket", cluster.dir / "control.sock"
        ),
    )
    kubectl = Path(os.environ.get("KUBEBUILDER_ASSETS", "/nonexistent")) / "kubectl"
    write_command(
        folder / "kubectl",
        [
            kubectl if kubectl.exists() else CACHE / "k8s/bin/kubectl",
            "--kubeconfig",
            cluster.plane.kubeconfig(),
        ],
    )


def write_command(path, words):
    quoted = " ".join("'" + str(w) + "'" for w in words)
    path.write_text(f'#!/bin/sh\nexec {quoted} "$@"\n')
    path.chmod(0o755)


def end_with_foreground():
    """Ends the cluster unless the foreground writes "keep"; its death ends stdin, too."""
    if sys.stdin.readline() != "keep\n":
        os.kill(os.getpid(), signal.SIGTERM)


def end_once(*_):
    """Unwinds by an exception; a second signal must not interrupt that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)


def leave_foreground(directory):
    log = os.open(directory / "log/holder.out", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for fd in (1, 2):
        os.dup2(log, fd)


def main():
    directory, build, real = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    signal.signal(signal.SIGTERM, end_once)
    (directory / "holder.pid").write_text(f"{os.getpid()}\n")
    os.umask(0o022)
    cluster = DemoCluster(directory, build, real)
    cluster.failures = 1  # the directory stays: demo --down removes it
    threading.Thread(target=end_with_foreground, daemon=True).start()
    with cluster:
        cluster.stack.callback(cluster.stop_native_jobs)
        write_commands(cluster)
        (directory / "facts.new").write_text(json.dumps(cluster.facts()))
        (directory / "facts.new").rename(directory / "facts")
        leave_foreground(directory)
        while True:
            signal.pause()


main()
