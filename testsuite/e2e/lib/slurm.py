# SPDX-License-Identifier: GPL-2.0-or-later
"""A private Slurm of the version for which BUILDDIR was built: its own munged, slurmctld and one
slurmd, in the chroot if that Slurm is in one.
"""
import os
import re
import shlex
from pathlib import Path

from .accounting import Accounting
from .process import SOURCE, TESTSUITE, Process, output_of
from .slurm_conf import kube_conf, plugin_dir_of, render
from .waiting import LIMIT, wait_for


def build_settings(build):
    """What testsuite/slurm/build recorded about the Slurm of BUILDDIR."""
    pairs = (line.split("=", 1) for line in (Path(build) / "slurm.env").read_text().splitlines())
    return {key: shlex.split(value)[0] if shlex.split(value) else "" for key, value in pairs}


class Slurm:
    """Runs in directory. Ports: port slurmctld, port+1 slurmd, port+2 the plugin's sink, port+3
    slurmdbd.

    native_name: of slurmd's node; with cgroups it must be unlike those of other runs on the
    machine, because slurmd's cgroups are named by it.
    accounting: True for a slurmdbd, or the value of AccountingStorageEnforce.
    """

    def __init__(
        self,
        build,
        directory,
        port,
        min_job_age=300,
        extra=(),
        plugin=True,
        native_size="CPUs=4 RealMemory=4000",
        native_name="native",
        accounting=None,
        pod_partitions="",
    ):
        settings, self.native_size = build_settings(build), native_size
        self.native_name, self.pod_partitions = native_name, pod_partitions
        self.clusters = []  # [(name, socket)]: several Kubernetes clusters
        self.node_lines = {}  # whose nodes -> lines of the Include file
        self.build, self.dir, self.port, self.min_job_age, self.extra = (
            Path(build),
            directory,
            port,
            min_job_age,
            list(extra),
        )
        self.return_to_service = 1
        self.version, self.root, prefix = (
            settings["SLURM_VERSION"],
            settings["SLURM_ROOT"],
            settings["SLURM_PREFIX"],
        )
        self.number = tuple(map(int, re.findall(r"\d+", self.version)))
        self.dynamic_nodes = self.number >= (24, 11)
        own = self.build / "root/lib/slurm"
        self.has_plugin = plugin and (own / "job_submit_kube.so").exists()
        self.plugin_dirs = ([own] if self.has_plugin else []) + [plugin_dir_of(self.root, prefix)]
        self.bin, self.sbin = (
            (f"{prefix}/bin/", f"{prefix}/sbin/") if prefix else ("", "/usr/sbin/")
        )
        self.env = {"SLURM_CONF": f"{directory}/slurm.conf", "SLURM_TIME_FORMAT": "standard"}
        for folder in ("state", "s-native", "log"):
            (directory / folder).mkdir(parents=True, exist_ok=True)
        key, sock = directory / "munge.key", directory / "munge.sock"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.munged = self.daemon(
            "munged",
            "/usr/sbin/munged",
            "--foreground",
            "--force",
            "--num-threads=4",
            f"--key-file={key}",
            f"--socket={sock}",
            f"--pid-file={directory}/munged.pid",
            f"--seed-file={directory}/munged.seed",
            f"--log-file={directory}/log/munged.log",
        )
        library = os.environ.get(
            "SLURM_KUBE_CTLD_PRELOAD"
        )  # a sanitizer's runtime library, for an instrumented plugin
        preload = ["env", f"LD_PRELOAD={library}"] if library else []
        self.slurmctld = self.daemon(
            "slurmctld",
            *preload,
            f"{self.sbin}slurmctld",
            "-D",
            pid_file=directory / "slurmctld.pid",
        )
        self.slurmd = self.daemon("slurmd", f"{self.sbin}slurmd", "-D", "-N", native_name)
        self.accounting = (
            Accounting(self, port + 3, accounting if isinstance(accounting, str) else "")
            if accounting
            else None
        )

    def _inside(self, *command):
        binds = [x for d in (SOURCE, self.build, self.dir) for x in ("-b", d)]
        return [TESTSUITE / "slurm/in-root", *binds, self.root, *command]

    def daemon(self, name, *command, pid_file=None):
        """A daemon that runs where this Slurm is installed; its log is log/NAME.out."""
        return Process(
            name, self._inside(*command), self.dir / f"log/{name}.out", self.env, pid_file
        )

    def program(self, *command):
        """A command line that runs where this Slurm is installed, with its SLURM_CONF."""
        return ["env", *(f"{k}={v}" for k, v in self.env.items()), *self._inside(*command)]

    def run(self, *command, user=None, check=True, stdin=None, timeout=60):
        """Runs squeue or another command of Slurm, optionally as another user (a name), and returns
        its output.
        """
        return self.run_program(
            f"{self.bin}{command[0]}",
            *command[1:],
            user=user,
            check=check,
            stdin=stdin,
            timeout=timeout,
        )

    def run_program(self, *command, user=None, check=True, stdin=None, timeout=60):
        """The same for a program by its path."""
        if user:
            command = ["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups", *command]
        return output_of(
            *self._inside(*command), env=self.env, check=check, stdin=stdin, timeout=timeout
        )

    def write_conf(self):
        (self.dir / "slurm.conf").write_text(
            render(self, self.extra + (self.accounting.conf_lines() if self.accounting else []))
        )
        (self.dir / "kube.conf").write_text(kube_conf(self))
        (self.dir / "kube-nodes.conf").touch()
        # No cgroups are needed here, and Slurm's own search for them fails on some machines.
        (self.dir / "cgroup.conf").write_text(
            f"CgroupPlugin={'disabled' if self.number >= (24, 5) else 'cgroup/v1'}\n"
        )

    def start(self, native=True):
        self.write_conf()
        self.munged.start()
        wait_for(
            lambda: self.munged.check() and (self.dir / "munge.sock").exists(), "munged's socket"
        )
        if self.accounting:
            self.accounting.start()
        self.start_slurmctld()
        if native:
            self.slurmd.start()
            wait_for(
                lambda: self.slurmd.check()
                and self.node(self.native_name)["State"].startswith("IDLE"),
                f"node {self.native_name} to be idle",
            )

    def start_slurmctld(self):
        self.slurmctld.start()
        self.wait_up()

    def wait_up(self):
        wait_for(
            lambda: self.slurmctld.check() and " is UP" in self.run("scontrol", "ping"),
            "slurmctld to answer",
        )

    def restart(self):
        self.slurmctld.stop()
        self.start_slurmctld()

    def kill9(self):
        """Kills slurmctld with SIGKILL; start_slurmctld() starts it again."""
        self.slurmctld.kill9()

    def reconfigure(self):
        self.run("scontrol", "reconfigure")
        self.wait_up()

    def set_nodes(self, lines, cluster=""):
        """Without dynamic nodes: writes the Include file and restarts slurmctld, which new nodes
        need there. The nodes of other clusters stay.
        """
        self.node_lines[cluster] = lines
        text = "\n".join(line for own in self.node_lines.values() for line in own)
        (self.dir / "kube-nodes.conf").write_text(text + "\n")
        self.restart()

    def stop(self):
        for daemon in filter(None, (self.slurmd, self.slurmctld, self.accounting, self.munged)):
            daemon.stop()

    def jobs(self):
        """{job id: {field: text}} of all jobs in Slurm, as scontrol shows them."""
        return {
            int(j["JobId"]): j
            for j in _records(self.run("scontrol", "--oneliner", "show", "job"), "JobId=")
        }

    def nodes(self):
        return {
            n["NodeName"]: n
            for n in _records(self.run("scontrol", "--oneliner", "show", "node"), "NodeName=")
        }

    def node(self, name):
        return self.nodes()[name]

    def job_of_pod(self, uid):
        """The jobs whose marker names that pod, oldest first."""
        return [
            j
            for _, j in sorted(self.jobs().items())
            if f'"uid":"{uid}"' in j.get("AdminComment", "")
        ]

    def wait_job(self, job_id, *states, timeout=LIMIT):
        """Waits until the job is in one of the states; returns it."""

        def in_state():
            job = self.jobs()[job_id]
            return job if job["JobState"] in states else None

        return wait_for(in_state, f"job {job_id} to be {' or '.join(states)}", timeout)

    def rpcs(self):
        """sdiag's count of each RPC since slurmctld started: {"REQUEST_JOB_INFO": 12}."""
        text = self.run("sdiag").partition("by message type")[2].partition("by user")[0]
        return {
            name: int(count) for name, count in re.findall(r"(\w+)\s*\(\s*\d+\) count:(\d+)", text)
        }


def _records(text, first):
    """Parses lines of KEY=VALUE words; a value may contain spaces, a key never does."""
    for line in text.splitlines():
        if line.startswith(first):
            yield {
                k: v
                for k, v in re.findall(
                    r"(?:^|\s)([A-Z][\w:/]*)=(.*?)(?=\s+[A-Z][\w:/]*=|\s*$)", line
                )
            }
