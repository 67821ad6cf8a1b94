# SPDX-License-Identifier: GPL-2.0-or-later
"""The test bed of all scenarios: a private Slurm and Kubernetes, in which the agent and
kube-scheduler run in turns, never both on the same pods.

kube-scheduler is the real program without its client's limits; it acts as an administrator, whom
the API server does not throttle. The agent is as in an installation: a service account with the
permissions of etc/rbac.yaml, log level info.
"""
import json
import os
import subprocess
import time

from lib import Cluster, wait_for
from lib.process import CACHE, SOURCE, TESTSUITE, Process, output_of

from records.audit_log import BINDING, RUNNING, Audit
from .load import Load
from .processes import Stretch

SCHEDULER = "default-scheduler"  # kube-scheduler's
CPUS, MEMORY = 64, "256Gi"
# A site's log level; the end-to-end tests use debug.
SLURM_LINES = ["SlurmctldDebug=info"]


class BenchTestbed(Cluster):
    """nodes: the number of simulated nodes of 64 CPUs. slurm_lines: more lines for slurm.conf.
    workloads: with JobSet's manager."""

    def __init__(
        self,
        build,
        nodes,
        cpus=CPUS,
        slurm_lines=(),
        agent_settings=None,
        min_job_age=30,
        native=False,
        workloads=False,
    ):
        super().__init__(
            build,
            kwok=nodes,
            cpus=cpus,
            memory=MEMORY,
            native=native,
            plane_env={},
            workloads=workloads,
            slurm_options={"extra": [*SLURM_LINES, *slurm_lines], "min_job_age": min_job_age},
            agent_options={"settings": {"log_level": "info", **(agent_settings or {})}},
        )
        self.slurmctld_log = self.dir / "log/slurmctld.log"
        self.slurm.extra.append(f"SlurmctldLogFile={self.slurmctld_log}")
        self.slurm_lines = list(self.slurm.extra)
        log = self.dir / "audit.log"
        # In MB. The default of 100 is reached in five rounds of a burst, and the server would begin
        # another file.
        self.plane.env["APISERVER_ARGS"] = (
            f"--audit-policy-file={SOURCE}/testsuite/bench/bench-audit-policy.yaml"
            f" --audit-log-path={log} --audit-log-maxsize=100000"
        )
        self.audit = Audit(log)
        self.agent_settings = dict(self.agent.settings)
        self.load = Load(self.slurm.build / "testsuite/bench/load", self.plane)
        self.scheduler = Process(
            "kube-scheduler",
            [
                CACHE / "k8s/bin/kube-scheduler",
                "--config",
                self.dir / "scheduler.json",
                "--secure-port=0",
            ],
            self.dir / "log/kube-scheduler.out",
        )
        self.stack.callback(self.scheduler.stop)

    def start_kubernetes(self):
        super().start_kubernetes()
        # The watches would compete for CPU time; they have only the state at the start.
        self.plane.kube.stopped = True
        self.plane.default_account("default")
        client = {"kubeconfig": str(self.plane.kubeconfig("admin")), "qps": 5000, "burst": 5000}
        (self.dir / "scheduler.json").write_text(
            json.dumps(
                {
                    "apiVersion": "kubescheduler.config.k8s.io/v1",
                    "kind": "KubeSchedulerConfiguration",
                    "clientConnection": client,
                    "leaderElection": {"leaderElect": False},
                }
            )
        )

    def sync_nodes(self, names):
        """As Cluster's, but looks at all nodes once per attempt, because there may be a
        thousand.
        """
        if not self.slurm.dynamic_nodes:
            self.slurm.set_nodes(
                wait_for(
                    lambda: self._lines_with(names[-1:]),
                    "skube nodes --slurm-conf to list the nodes",
                    60,
                )
            )
        wait_for(
            lambda: sum(n["State"].startswith("IDLE") for n in self.slurm.nodes().values())
            >= len(names),
            f"{len(names)} nodes to be idle in Slurm",
            120,
            0.5,
        )
        self.agent.stop()

    def stretch(self):
        """Measures every daemon that runs or starts meanwhile."""
        daemons = {
            "slurmctld": self.slurm.slurmctld,
            "munged": self.slurm.munged,
            "slurmkubed": self.agent.daemon,
            "kube-scheduler": self.scheduler,
        }
        names = {name: lambda daemon=daemon: daemon.pid for name, daemon in daemons.items()}
        for name in ("kube-apiserver", "etcd", "kube-controller-manager", "kwok"):
            names[name] = lambda name=name: _pid_in(self.plane.dir / "run" / f"{name}.pid")
        return Stretch(names)

    def pods(self, prefix=""):
        return [p for p in self.kube.list("Pod") if p["metadata"]["name"].startswith(prefix)]

    def wait_bound(self, prefix, count, limit):
        """The number of bound pods when all are bound, or after limit seconds: kube-scheduler was
        seen to forget some. Looks only at the audit log.
        """
        return self._wait_told(self.audit.bindings, BINDING, prefix, count, limit)

    def wait_running(self, prefix, count, limit):
        """The same for running pods."""
        return self._wait_told(self.audit.running, RUNNING, prefix, count, limit)

    def _wait_told(self, told, text, prefix, count, limit):
        """told: returns the pods for which the audit log has a line with text."""

        def all_of_them():
            return self.audit.lines_with(text) >= count and len(told(prefix)) >= count

        try:
            wait_for(all_of_them, f"{count} pods", limit, 0.1)
        except AssertionError:
            pass
        return len(told(prefix))

    def settle(self, limit=20.0):
        """Waits until no daemon works on what the last contestant left behind: kwok works for
        seconds after many bindings. Gives up silently after limit seconds.
        """
        end = time.monotonic() + limit
        while time.monotonic() < end:
            stretch = self.stretch()
            time.sleep(0.5)
            if sum(cpu for cpu, _ in stretch.used().values()) < 0.2:
                break

    def remove(self, prefix):
        self.load.delete([p["metadata"]["name"] for p in self.pods(prefix)])

    def wait_slurm_idle(self):
        wait_for(
            lambda: not self.slurm.run("squeue", "--noheader", "--partition=kube"),
            "Slurm to have no job left",
            120,
            0.1,
        )

    def alloc(self, *words):
        """testsuite/component/plugin/alloc: allocations through libslurm alone. Returns its output
        lines.
        """
        return self.slurm.run_program(
            self.slurm.build / "testsuite/component/plugin/alloc", *words, timeout=300
        ).splitlines()

    def submit_native(self, count, cpus=1):
        """Submits jobs for the one native node, through four connections; jobs without room stay
        pending.
        """
        each = max(1, count // 4)
        answers = self.alloc(
            "submit",
            "partition=native",
            f"cpus={cpus}",
            f"threads={min(4, count)}",
            f"count={each}",
        )
        refused = [a for a in answers if not a.startswith("ok")]
        if refused:
            raise RuntimeError(f"native jobs were refused: {refused[0]}")

    def configure_agent(self, changes):
        """For its next start: settings (top-level keys) that override those of the bed."""
        conf = {"conf": f"{self.dir}/slurm.conf"}
        self.agent.settings = {
            **self.agent_settings,
            **{k: {**conf, **v} if k == "slurm" else v for k, v in changes.items()},
        }

    def configure_slurm(self, line):
        """Sets one more line in slurm.conf, which replaces the line given here before; without a
        line restores the original.
        """
        wanted = self.slurm_lines + ([line] if line else [])
        if self.slurm.extra != wanted:
            self.slurm.extra = wanted
            self.slurm.write_conf()
            self.slurm.reconfigure()

    def choose_agent(self, program):
        """For its next start: slurmkubed of another build, or with None of this one."""
        self.agent.daemon.command = self.slurm.program(
            program or self.agent.program, "--config", self.agent.dir / "slurmkubed.yaml"
        )

    def profile(self, path):
        """Profiles the whole machine into path until the returned process gets SIGINT; for use with
        perf report.
        """
        return (
            subprocess.Popen(
                [
                    "perf",
                    "record",
                    "-q",
                    "-a",
                    "-F",
                    "499",
                    "-e",
                    "cpu-clock",
                    "-g",
                    "-o",
                    str(path),
                ],
                stderr=subprocess.DEVNULL,
            )
            if path
            else None
        )

    def pause_kwok(self, paused):
        (self.plane.freeze if paused else self.plane.thaw)("kwok")

    def versions(self):
        def of(*command):
            return (
                output_of(*command, check=False)
                .strip()
                .replace("Kubernetes ", "")
                .partition("\n")[0]
            )

        binaries = CACHE / "k8s/bin"
        commit = subprocess.run(
            ["git", "-C", str(SOURCE), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip()
        return {
            "slurm-kube": commit,
            "slurm": self.slurm.version,
            "kube-apiserver": of(binaries / "kube-apiserver", "--version"),
            "kube-scheduler": of(binaries / "kube-scheduler", "--version"),
            "etcd": of(binaries / "etcd", "--version"),
            "kernel": os.uname().release,
            "processors": len(os.sched_getaffinity(0)),
            "processor": _processor(),
        }


def _pid_in(path):
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return next(
            (line.partition(":")[2].strip() for line in f if line.startswith("model name")), ""
        )


def build_all(build, slurm_version):
    """Builds what is needed: this project with load, and kube-scheduler. With
    SLURM_KUBE_BENCH_BUILD=0 an existing build of this project is used.
    """
    output_of(TESTSUITE / "k8s/build", "--bench", timeout=3600)
    if os.environ.get("SLURM_KUBE_BENCH_BUILD") != "0":
        output_of(
            TESTSUITE / "slurm/build",
            slurm_version,
            build,
            "install",
            "testsuite/bench/load",
            "testsuite/component/plugin/alloc",
            timeout=3600,
        )
