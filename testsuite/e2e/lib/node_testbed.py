# SPDX-License-Identifier: GPL-2.0-or-later
"""A hybrid node without the agent and the plugin: a real slurmd with cgroups, slurmkube-node, and a
real kubelet with containerd or CRI-O, all on this machine. The tests allocate jobs and bind pods
themselves. The system's processor is 0, so the first job must have another one.
"""
import os
import re
import shlex
import signal
from contextlib import suppress
from pathlib import Path

from .cluster import Cluster
from .manifests import pod
from .tap import equal
from .waiting import wait_for

NODE = f"native{os.getpid()}"  # names slurmd's cgroups, which are the machine's
SYSTEM = "0"
SLOW = 180  # seconds; the kubelet repeats a refused creation after 12 to 15 s
NOTE = "allocation.slurm-kube.io/"
# The pieces of skube node-setup, with the configuration of this bed. salloc cannot set the
# variables of a pod's job, so all tests see what a job has that slurmctld has forgotten.
PIECE = """#!/bin/sh
date +%s.%N >> {dir}/{name}-began-$SLURM_JOB_ID
{piece}
"""

# A hook of the runtime, after slurm-kube's own: cancels the job whose number is in a file, and
# returns when slurmkube-node has closed it. So the job ends between creation and start.
BETWEEN = """#!/bin/sh
[ -s {dir}/to-cancel ] || exit 0
export PATH=$PATH:/usr/bin:/bin
bundle=$(sed -n 's/.*"bundle":"\\([^"]*\\)".*/\\1/p')
if grep -q '"io.kubernetes.cri.container-type":"sandbox"' "$bundle/config.json"; then exit 0; fi
job=$(cat {dir}/to-cancel)
rm {dir}/to-cancel
{scancel} "$job"
for i in $(seq 600); do
	{list} | grep -Eq "^$job +(closed|ended)" && exit 0
	sleep 0.1
done
exit 1
"""


class NodeTestbed(Cluster):
    def __init__(self, build):
        super().__init__(
            build,
            agent=False,
            slurm_options={
                "native_name": NODE,
                "native_size": "CPUs=2 RealMemory=4000",
                "plugin": False,
            },
        )
        self.program = self.slurm.build / "root/sbin/slurmkube-node"
        for name in ("epilog", "prolog"):
            script = self.dir / name
            piece = re.sub(
                r"\S+/slurmkube-node (?=--)",
                f"{self.program} --config {self.dir}/node.conf ",
                self.setup(name),
            )
            script.write_text(PIECE.format(dir=self.dir, name=name, piece=piece))
            script.chmod(0o755)
        self.slurm.extra += [
            re.sub("/etc/slurm/(epilog|prolog).d/[*]", rf"{self.dir}/\1", line)
            for line in self.setup("slurm-conf").splitlines()
        ]
        (self.dir / "node.conf").write_text(
            f"{self.setup('node-conf')}NodeName={NODE}\n"
            f"NriSocket={self.dir}/{NODE}/run/nri.sock\nStateDirectory={self.dir}/node-state\n"
            f"ContainerdRoot={self.dir}/{NODE}/containerd\n"
        )
        self.helper = self.slurm.daemon(
            "slurmkube-node", self.program, "--config", self.dir / "node.conf"
        )
        write = self.slurm.write_conf

        def write_conf():
            write()
            (self.dir / "cgroup.conf").write_text(
                "CgroupPlugin=cgroup/v1\n" + self.setup("cgroup-conf")
            )

        self.slurm.write_conf = write_conf

    def setup(self, part):
        """What skube says that a hybrid node needs."""
        return self.slurm.run_program(
            self.slurm.build / "root/bin/skube",
            "node-setup",
            f"--system-cpus={SYSTEM}",
            f"--only={part}",
        )

    def _command(self, *command):
        """A shell's command that runs a program where Slurm is installed."""
        return shlex.join(map(str, self.slurm.program(*command)))

    def daemons(self):
        return super().daemons() + [self.helper]

    def start_slurm(self):
        self.stack.callback(_remove_cgroups)
        super().start_slurm()

    def start_kubernetes(self):
        super().start_kubernetes()
        self.stack.callback(self.helper.stop)
        self.helper.start()
        (self.dir / "marks").mkdir()
        script = self.dir / "between"
        script.write_text(
            BETWEEN.format(
                dir=self.dir,
                scancel=self._command(f"{self.slurm.bin}scancel"),
                list=self._command(self.program, "--config", self.dir / "node.conf", "--list"),
            )
        )
        script.chmod(0o755)
        self.plane.real_node(
            NODE,
            SYSTEM_CPUS=SYSTEM,
            SKUBE=self.slurm.build / "root/bin/skube",
            CREATE_HOOK=script,
        )


def _remove_cgroups():
    """Those of slurmd, which leaves its own."""
    for cgroup in sorted(Path("/sys/fs/cgroup").glob(f"*/slurm_{NODE}/**"), reverse=True):
        with suppress(OSError):  # a process is left: the failure is reported elsewhere
            cgroup.rmdir()


# ---- what the tests do ----


def allocate(bed, cpus=1):
    """A job without steps on the node, as a placeholder is; returns its number and cpuset."""
    before = set(_running(bed))
    bed.slurm.run("salloc", "--no-shell", f"--cpus-per-task={cpus}", f"-w{NODE}", "-Qn1")
    (job,) = set(_running(bed)) - before
    return job, wait_for(lambda: cpuset_of_job(job), f"the cpuset of job {job}")


def _running(bed):
    return [int(number) for number in bed.slurm.run("squeue", "-htR", "-o%A").split()]


def cpuset_of_job(job):
    for file in Path("/sys/fs/cgroup/cpuset").glob(f"slurm_{NODE}/uid_*/job_{job}/cpuset.cpus"):
        return file.read_text().strip() or None
    return None


def bound(bed, name, job=None, share=None, containers=1, container=None, **options):
    """A pod bound to the node with the job's annotations, as the agent does it; share in MiB.
    container: more fields of its containers, c0 and so on.
    """
    options.setdefault("shell", "sleep 3600")
    made = pod(name, scheduler="none", cpu="100m", **options)
    (first,) = made["spec"]["containers"]
    if containers > 1:  # without a limit of memory
        first["resources"] = {"requests": {"cpu": "50m"}}
    first |= container or {}
    made["spec"]["containers"] = [first | {"name": f"c{i}"} for i in range(containers)]
    notes = {f"{NOTE}job-id": str(job)} if job else {}
    if share:
        notes[f"{NOTE}memory"] = str(share)
    bed.kube.create(made)
    bed.kube.bind(name, NODE, notes)


def processes(bed, name):
    """The process ids of the pod's containers, without pause."""
    uid = bed.kube.get("Pod", name)["metadata"]["uid"]
    found = set()
    for file in Path("/sys/fs/cgroup/cpuset").glob(
        f"slurm-kube-*/kubepods/**/pod{uid}/*/cgroup.procs"
    ):
        found |= {int(pid) for pid in file.read_text().split()}
    return {
        pid for pid in found if name_of(pid) not in ("pause", "conmon", "runc:[2:INIT]", "runc")
    }


def _status(pid, key):
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return re.search(rf"(?m)^{key}:\s*(.*)$", text)[1]


def kill(pid):
    try:
        signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL)
    except ProcessLookupError:
        pass


def name_of(pid):
    return _status(pid, "Name")


def cpus_of(bed, name):
    """The sets of processors that the pod's processes may use."""
    sets = {_status(pid, "Cpus_allowed_list") for pid in processes(bed, name)}
    return sets - {None}


def runs(bed, name):
    bed.kube.wait_phase(name, "Running", timeout=SLOW)
    return wait_for(lambda: cpus_of(bed, name), f"processes of {name}")


def _refusal(bed, name):
    """The message with which the container waits."""
    for status in bed.kube.get("Pod", name)["status"].get("containerStatuses", []):
        waiting = status["state"].get("waiting", {})
        if waiting.get("reason") == "CreateContainerError":
            return waiting["message"]
    return None


def refused(bed, name, text):
    message = wait_for(lambda: _refusal(bed, name), f"{name} to be refused", timeout=SLOW)
    assert text in message, message
    equal(processes(bed, name), set())


def gone(bed, *names):
    for name in names:
        bed.kube.delete("Pod", name, gracePeriodSeconds=0)
    for name in names:
        bed.kube.wait_gone(name, timeout=SLOW)


def state(bed, job):
    return bed.slurm.run("squeue", "-h", f"-j{job}", "-o%T").strip()


def cancel(bed, job):
    bed.slurm.run("scancel", str(job))


def idle(bed, timeout=SLOW):
    wait_for(
        lambda: bed.slurm.node(NODE)["State"] == "IDLE", "the node to be idle", timeout=timeout
    )


def start_native(bed, seconds=60):
    """A native job with one processor; returns its number."""
    text = bed.slurm.run(
        "sbatch",
        "--parsable",
        f"-w{NODE}",
        f"--output={bed.dir}/native-%j.out",
        f"--wrap=exec srun sleep {seconds}",
    )
    return int(text)


def has_begun(bed, job):
    """Whether the script of start_native_of_all() runs, or has run."""
    file = bed.dir / f"native-{job}.out"
    return file.exists() and file.read_text() == "began\n"


def start_native_of_all(bed):
    """A native job that needs all processors."""
    return int(
        bed.slurm.run(
            "sbatch",
            "--parsable",
            f"-w{NODE}",
            "-c2",
            f"--output={bed.dir}/native-%j.out",
            "--wrap=echo began; exec sleep 600",
        )
    )


def cpus_of_native(job):
    """The sets of processors of the processes of a native job's step."""
    found = set()
    for file in Path("/sys/fs/cgroup/cpuset").glob(
        f"slurm_{NODE}/uid_*/job_{job}/step_0/**/cgroup.procs"
    ):
        found |= {_status(pid, "Cpus_allowed_list") for pid in file.read_text().split()}
    return found - {None}
