# SPDX-License-Identifier: GPL-2.0-or-later
"""A hybrid node with nothing played: slurmctld with the plugin, slurmd with cgroups, slurmkube-node
as its Prolog and Epilog and as the container runtime's plugin, kubelet, containerd (or CRI-O), and
the agent. Processor 0 is the system's.
"""
from contextlib import suppress
from pathlib import Path

from .cluster import Cluster
from .cpusets import CPUSETS, processes_of_pods, sets_of
from .expect import uid_of
from .manifests import pod
from .waiting import wait_for

SYSTEM = 0
SLOW = 180  # seconds; the kubelet repeats a refused creation after 12 to 15 s
CONF = """ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
PrologFlags=Contain
FirstJobId={first}
Prolog={dir}/prolog
Epilog={dir}/epilog
PrologEpilogTimeout=600
""".splitlines()
CGROUP = """CgroupPlugin=cgroup/v1
ConstrainCores=yes
ConstrainRAMSpace=yes
ConstrainDevices=yes
"""
# As the pieces that are installed, with this node's configuration.
EPILOG = """#!/bin/sh
exec {program} --config {dir}/node.conf --wait "$SLURM_JOB_ID"
"""
PROLOG = """#!/bin/sh
exec {program} --config {dir}/node.conf --settle
"""


def use_cgroups(bed, lines):
    """Adds these lines to slurm.conf, and puts jobs into cgroups, which this Slurm leaves behind:
    remove_cgroups() is for after its end.
    """
    # cgroups of jobs have only these numbers in their names, on the whole machine
    first = bed.base * 100
    bed.slurm.extra += [line.format(dir=bed.dir, first=first) for line in lines]
    write = bed.slurm.write_conf

    def write_conf():
        write()
        conf = bed.dir / "slurm.conf"
        for plain in ("ProctrackType=proctrack/linuxproc\n", "TaskPlugin=task/none\n"):
            conf.write_text(conf.read_text().replace(plain, ""))
        more = "CgroupJobIdPaths=yes\n" if bed.slurm.number >= (26, 5) else ""
        (bed.dir / "cgroup.conf").write_text(CGROUP + more)

    bed.slurm.write_conf = write_conf


class HybridTestbed(Cluster):
    """The node's name must be unlike those of other runs on the machine: it names slurmd's cgroups.
    jobs_everywhere: jobs may have the system's processor, too, because the machine has two.
    size: more of the node's line in slurm.conf; settings: more of slurmkubed.yaml.
    """

    def __init__(self, build, node, jobs_everywhere=True, size="", settings=None):
        self.node = node
        super().__init__(
            build,
            slurm_options={
                "native_name": self.node,
                "native_size": f"CPUs=2 RealMemory=4000 Feature=kube-hybrid {size}" + (
                    "" if jobs_everywhere else f" CpuSpecList={SYSTEM}"
                ),
            },
            agent_options={
                "namespaces": [{"namespace": "default", "user": "root", "partitions": ["native"]}],
                "settings": {
                    "partition": "native",
                    "nodes": {"max_gone_percent": 100},
                    **(settings or {}),
                },
            },
        )
        use_cgroups(self, CONF)
        program = self.slurm.build / "root/sbin/slurmkube-node"
        for name, text in (("epilog", EPILOG), ("prolog", PROLOG)):
            script = self.dir / name
            script.write_text(text.format(dir=self.dir, program=program))
            script.chmod(0o755)
        (self.dir / "node.conf").write_text(
            f"SystemCpus={SYSTEM}\nNodeName={self.node}\n"
            f"NriSocket={self.dir}/{self.node}/run/nri.sock\n"
            f"StateDirectory={self.dir}/node-state\n"
            f"ContainerdRoot={self.dir}/{self.node}/containerd\n"
        )
        self.helper = self.slurm.daemon(
            "slurmkube-node", program, "--config", self.dir / "node.conf"
        )

    def daemons(self):
        return super().daemons() + [self.helper]

    def start_slurm(self):
        self.stack.callback(remove_cgroups, self.node)
        super().start_slurm()

    def start_kubernetes(self):
        super().start_kubernetes()
        self.stack.callback(self.helper.stop)
        self.helper.start()
        self.plane.real_node(
            self.node, SYSTEM_CPUS=SYSTEM, SKUBE=self.slurm.build / "root/bin/skube"
        )
        self.containers = CPUSETS / f"slurm-kube-{self.base}-{self.node}"

    # ---- what tests do ----

    def state(self):
        return self.slurm.node(self.node)["State"]

    def wait_idle(self):
        wait_for(lambda: self.state() == "IDLE", "the node to be idle", timeout=SLOW)

    def make(self, name, shell="sleep 3600", **options):
        """A pod that needs a processor of its own."""
        return self.kube.create(pod(name, cpu="900m", memory="50Mi", shell=shell, **options))

    def cpus_of(self, made):
        """The processors of a pod's processes; empty while it has none."""
        return sets_of(processes_of_pods(self.containers)).get(uid_of(made), set())

    def wait_running(self, made):
        """Returns the pod's processors."""
        self.kube.wait_phase(made["metadata"]["name"], "Running", timeout=SLOW)
        return wait_for(lambda: self.cpus_of(made), "processes of the pod")

    def start_native(self, wrap, *options):
        """A native job of one processor; returns its number."""
        return int(
            self.slurm.run(
                "sbatch",
                "--parsable",
                "--partition=native",
                "--mem=100",
                f"--output={self.dir}/native-%j.out",
                f"--wrap={wrap}",
                *options,
            )
        )

    def delete(self, name):
        self.kube.delete("Pod", name)
        self.kube.wait_gone(name, timeout=SLOW)


def remove_cgroups(node):
    """Those of slurmd, which leaves its own."""
    for cgroup in sorted(Path("/sys/fs/cgroup").glob(f"*/slurm_{node}/**"), reverse=True):
        with suppress(OSError):  # a process is left: the failure is reported elsewhere
            cgroup.rmdir()
