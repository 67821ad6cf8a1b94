#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What slurmkube-node does on a hybrid node: a real slurmd with cgroups, a real kubelet and
containerd (with SLURM_KUBE_RUNTIME=crio: CRI-O), all on this machine. The tests allocate jobs and
bind pods themselves. The system's processor is 0, so the first job must have another one.
"""
import os
import re
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from lib import RUNTIME, Cluster, equal, pod, run, wait_for
from lib.process import CACHE, output_of

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


class _HybridNode(Cluster):
    """A cluster without the agent and the plugin's nodes."""

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

    def daemons(self):
        return super().daemons() + [self.helper]

    def start_slurm(self):
        self.stack.callback(_remove_cgroups)
        super().start_slurm()

    def start_kubernetes(self):
        super().start_kubernetes()
        self.stack.callback(self.helper.stop)
        self.helper.start()
        self.plane.real_node(NODE, SYSTEM_CPUS=SYSTEM, SKUBE=self.slurm.build / "root/bin/skube")


def _remove_cgroups():
    """Those of slurmd, which leaves its own."""
    for cgroup in sorted(Path("/sys/fs/cgroup").glob(f"*/slurm_{NODE}/**"), reverse=True):
        with suppress(OSError):  # a process is left: the failure is reported elsewhere
            cgroup.rmdir()


# ---- what the tests do ----


def _allocate(bed, cpus=1):
    """A job without steps on the node, as a placeholder is; returns its number and cpuset."""
    before = set(_running(bed))
    bed.slurm.run("salloc", "--no-shell", f"--cpus-per-task={cpus}", f"-w{NODE}", "-Qn1")
    (job,) = set(_running(bed)) - before
    return job, wait_for(lambda: _cpuset(job), f"the cpuset of job {job}")


def _running(bed):
    return [int(number) for number in bed.slurm.run("squeue", "-htR", "-o%A").split()]


def _cpuset(job):
    for file in Path("/sys/fs/cgroup/cpuset").glob(f"slurm_{NODE}/uid_*/job_{job}/cpuset.cpus"):
        return file.read_text().strip() or None
    return None


def _bound(bed, name, job=None, share=None, containers=1, **options):
    """A pod bound to the node with the job's annotations, as the agent does it; share in MiB."""
    options.setdefault("shell", "sleep 3600")
    made = pod(name, scheduler="none", cpu="100m", **options)
    (first,) = made["spec"]["containers"]
    if containers > 1:  # without a limit of memory
        first["resources"] = {"requests": {"cpu": "50m"}}
    made["spec"]["containers"] = [first | {"name": f"c{i}"} for i in range(containers)]
    notes = {f"{NOTE}job-id": str(job)} if job else {}
    if share:
        notes[f"{NOTE}memory"] = str(share)
    bed.kube.create(made)
    bed.kube.bind(name, NODE, notes)


def _processes(bed, name):
    """The process ids of the pod's containers, without pause."""
    uid = bed.kube.get("Pod", name)["metadata"]["uid"]
    found = set()
    for file in Path("/sys/fs/cgroup/cpuset").glob(
        f"slurm-kube-*/kubepods/**/pod{uid}/*/cgroup.procs"
    ):
        found |= {int(pid) for pid in file.read_text().split()}
    return {pid for pid in found if _name(pid) not in ("pause", "conmon", "runc:[2:INIT]", "runc")}


def _status(pid, key):
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return re.search(rf"(?m)^{key}:\s*(.*)$", text)[1]


def _kill(pid):
    try:
        signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL)
    except ProcessLookupError:
        pass


def _name(pid):
    return _status(pid, "Name")


def _cpus_of(bed, name):
    """The sets of processors that the pod's processes may use."""
    sets = {_status(pid, "Cpus_allowed_list") for pid in _processes(bed, name)}
    return sets - {None}


def _runs(bed, name):
    bed.kube.wait_phase(name, "Running", timeout=SLOW)
    return wait_for(lambda: _cpus_of(bed, name), f"processes of {name}")


def _refusal(bed, name):
    """The message with which the container waits."""
    for status in bed.kube.get("Pod", name)["status"].get("containerStatuses", []):
        waiting = status["state"].get("waiting", {})
        if waiting.get("reason") == "CreateContainerError":
            return waiting["message"]
    return None


def _refused(bed, name, text):
    message = wait_for(lambda: _refusal(bed, name), f"{name} to be refused", timeout=SLOW)
    assert text in message, message
    equal(_processes(bed, name), set())


def _gone(bed, *names):
    for name in names:
        bed.kube.delete("Pod", name, gracePeriodSeconds=0)
    for name in names:
        bed.kube.wait_gone(name, timeout=SLOW)


def _state(bed, job):
    return bed.slurm.run("squeue", "-h", f"-j{job}", "-o%T").strip()


def _cancel(bed, job):
    bed.slurm.run("scancel", str(job))


def _idle(bed):
    wait_for(lambda: bed.slurm.node(NODE)["State"] == "IDLE", "the node to be idle", timeout=SLOW)


def _native(bed, seconds=60):
    """A native job with one processor; returns its number."""
    text = bed.slurm.run(
        "sbatch",
        "--parsable",
        f"-w{NODE}",
        f"--output={bed.dir}/native-%j.out",
        f"--wrap=exec srun sleep {seconds}",
    )
    return int(text)


def _has_begun(bed, job):
    """Whether the script of _native_of_all() runs, or has run."""
    file = bed.dir / f"native-{job}.out"
    return file.exists() and file.read_text() == "began\n"


def _native_of_all(bed):
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


def _native_cpus(job):
    """The sets of processors of the processes of a native job's step."""
    found = set()
    for file in Path("/sys/fs/cgroup/cpuset").glob(
        f"slurm_{NODE}/uid_*/job_{job}/step_0/**/cgroup.procs"
    ):
        found |= {_status(pid, "Cpus_allowed_list") for pid in file.read_text().split()}
    return found - {None}


# ---- the tests ----


def test_containers_have_the_processors_of_their_job(bed):
    """Beside a native job, at every sample; the system's containers have the system's."""
    native = _native(bed)
    bed.slurm.wait_job(native, "RUNNING")
    theirs = wait_for(lambda: _native_cpus(native), "processes of the native job")
    job, cpus = _allocate(bed)
    _bound(bed, "beside", job)
    equal(_runs(bed, "beside"), {cpus})
    for _ in range(100):
        equal((_cpus_of(bed, "beside"), _native_cpus(native)), ({cpus}, theirs))
        time.sleep(0.01)
    assert cpus not in theirs, (cpus, theirs)
    _bound(bed, "system")
    equal(_runs(bed, "system"), {SYSTEM})
    _gone(bed, "beside", "system")
    _cancel(bed, job)
    _cancel(bed, native)
    _idle(bed)


def _memory_limits(bed, name):
    """In MiB: the pod's, and those of its containers; without the sandbox's."""
    uid = bed.kube.get("Pod", name)["metadata"]["uid"]
    own, inner = [], []
    for group in Path("/sys/fs/cgroup/memory").glob(f"slurm-kube-*/kubepods/**/pod{uid}"):
        own.append(int((group / "memory.limit_in_bytes").read_text()) >> 20)
        for file in group.glob("*/memory.limit_in_bytes"):
            inner.append(int(file.read_text()) >> 20)
    return own, sorted(inner)[:-1]


def test_containers_of_a_pod_share_its_memory(bed):
    """Two containers without a limit: each may use all, but not both together."""
    job, _ = _allocate(bed)
    _bound(bed, "two", job, share=96, containers=2)
    _runs(bed, "two")
    equal(_memory_limits(bed, "two"), ([96], [96, 96]))
    _gone(bed, "two")
    _cancel(bed, job)
    _idle(bed)
    job, _ = _allocate(bed)
    _bound(bed, "vast", job, share=1 << 60)
    _refused(bed, "vast", "is not a size in MiB")
    _gone(bed, "vast")
    _cancel(bed, job)
    _idle(bed)


def test_without_a_job_no_container(bed):
    """A number that Slurm does not know, and one that is none."""
    _bound(bed, "unknown", 999999)
    _refused(bed, "unknown", "Slurm job 999999 has no processors on this node")
    _bound(bed, "nonsense", "1;reboot")
    _refused(bed, "nonsense", "is not a job id")
    _gone(bed, "unknown", "nonsense")


def test_the_epilog_waits_for_the_last_process(bed):
    """The job is cancelled while its container runs: the node is COMPLETING, and a native job that
    needs all processors starts only when the container's processes are gone. The container is not
    started anew, although its pod would."""
    job, _ = _allocate(bed)
    _bound(
        bed,
        "lasting",
        job,
        shell="trap 'sleep 3; exit 0' TERM; while :; do sleep 0.1; done",
        spec={"restartPolicy": "Always"},
    )
    _runs(bed, "lasting")
    waiting = _native_of_all(bed)
    _cancel(bed, job)
    wait_for(lambda: (bed.dir / f"epilog-began-{job}").exists(), "the epilog")
    time.sleep(1)
    assert _processes(bed, "lasting")
    equal(_state(bed, waiting), "PENDING")
    bed.kube.delete("Pod", "lasting")
    wait_for(lambda: not _processes(bed, "lasting"), "the end of the processes", timeout=SLOW)
    bed.slurm.wait_job(waiting, "RUNNING", timeout=SLOW)
    bed.kube.wait_gone("lasting", timeout=SLOW)
    _cancel(bed, waiting)
    _idle(bed)


def test_a_container_of_an_ended_job_is_not_started_anew(bed):
    """Its program ends after the job."""
    job, _ = _allocate(bed)
    _bound(
        bed,
        "again",
        job,
        spec={"restartPolicy": "Always"},
        shell="trap 'exit 0' USR1; while :; do sleep 0.1; done",
    )
    _runs(bed, "again")
    _cancel(bed, job)
    wait_for(lambda: (bed.dir / f"epilog-began-{job}").exists(), "the epilog")
    for pid in _processes(bed, "again"):
        _kill(pid)
    _idle(bed)
    _refused(bed, "again", f"Slurm job {job} has ended on this node")
    _gone(bed, "again")


@contextmanager
def _away(bed):
    """Without slurmkube-node."""
    bed.helper.kill9()
    yield
    bed.helper.start()


def test_without_the_daemon_no_container(bed):
    """The runtime refuses it; running ones go on, and get Slurm's processors again afterwards."""
    job, cpus = _allocate(bed)
    _bound(bed, "before", job)
    _runs(bed, "before")
    other, others_cpus = _allocate(bed)
    with _away(bed):
        _bound(bed, "meanwhile", other)
        _refused(bed, "meanwhile", "slurm-kube")
        equal(_cpus_of(bed, "before"), {cpus})
    equal(_runs(bed, "meanwhile"), {others_cpus})
    _gone(bed, "before", "meanwhile")
    _cancel(bed, job)
    _cancel(bed, other)
    _idle(bed)


def test_a_daemon_that_is_stopped_within_a_request(bed):
    """The runtime waits two seconds for it. Then containerd starts the container on the system's
    processors, and CRI-O's hook refuses it. The request must be the first that it does not answer:
    after that all are refused. So nothing of earlier pods may be under way.
    """
    records = bed.dir / "node-state/containers"
    wait_for(lambda: not list(records.glob("*")), "the containers of earlier pods to be removed")
    first, _ = _allocate(bed)
    job, cpus = _allocate(bed)
    if cpus == SYSTEM:
        first, job, cpus = job, first, _cpuset(first)
    bed.helper.signal(signal.SIGSTOP)
    _bound(bed, "unlucky", job)
    if RUNTIME == "crio":
        _refused(bed, "unlucky", "slurmkube-node has not answered in time")
    else:
        bed.kube.wait_phase("unlucky", "Running", timeout=SLOW)
        equal(wait_for(lambda: _cpus_of(bed, "unlucky"), "its processes"), {SYSTEM})
    bed.helper.kill9()
    bed.helper.start()
    wait_for(
        lambda: _cpus_of(bed, "unlucky") == {cpus}, "the container to have its job's", timeout=SLOW
    )
    _gone(bed, "unlucky")
    _cancel(bed, first)
    _cancel(bed, job)
    _idle(bed)


def test_a_killed_slurmstepd(bed):
    """Its cgroup stays when the job ends; the epilog removes it, and the container gets no
    successor."""
    job, cpus = _allocate(bed)
    _bound(bed, "orphan", job)
    _runs(bed, "orphan")
    for file in Path("/sys/fs/cgroup/cpuset").glob(f"slurm_{NODE}/uid_*/job_{job}/**/cgroup.procs"):
        for pid in file.read_text().split():
            if _name(pid) == "slurmstepd":
                _kill(int(pid))
    equal(_cpus_of(bed, "orphan"), {cpus})
    _cancel(bed, job)
    wait_for(lambda: (bed.dir / f"epilog-began-{job}").exists(), "the epilog")
    _gone(bed, "orphan")
    _idle(bed)
    equal(_cpuset(job), None)


def test_the_epilog_waits_without_the_runtime(bed):
    """It looks at processes, not at the runtime's word. A container that ends without containerd
    lets the job end; the kubelet learns of it later."""
    job, _ = _allocate(bed, cpus=2)
    _bound(bed, "forlorn", job, spec={"restartPolicy": "Never"})
    _runs(bed, "forlorn")
    bed.plane.runtime(NODE, "--kill")
    _cancel(bed, job)
    wait_for(lambda: (bed.dir / f"epilog-began-{job}").exists(), "the epilog")
    waiting = _native(bed)
    time.sleep(3)
    assert _processes(bed, "forlorn")
    assert "COMPLETING" in bed.slurm.node(NODE)["State"]
    equal(_state(bed, waiting), "PENDING")
    for pid in _processes(bed, "forlorn"):
        _kill(pid)
    bed.slurm.wait_job(waiting, "RUNNING", timeout=SLOW)
    equal(_processes(bed, "forlorn"), set())
    bed.plane.runtime(NODE, "--start")
    _gone(bed, "forlorn")
    _cancel(bed, waiting)
    _idle(bed)


# a runtime beside runc, as NVIDIA's toolkit writes it
NVIDIA = {
    "containerd": """
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]
  runtime_type = 'io.containerd.runc.v2'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia.options]
  BinaryName = '/usr/bin/nvidia-container-runtime'
""",
    "crio": """
[crio.runtime.runtimes.nvidia]
runtime_path = "/usr/bin/nvidia-container-runtime"
""",
}


def _containerd_config(bed, drop_in):
    folder = bed.dir / "drop-ins"
    folder.mkdir(exist_ok=True)
    (folder / "50-slurm-kube.toml").write_text(drop_in)
    config = bed.dir / "containerd.toml"
    config.write_text(f"version = 3\nimports = ['{folder}/*']\n")
    return output_of(CACHE / "node/bin/containerd", "-c", config, "config", "dump")


def _crio_config(bed, drop_in):
    """That of the node's CRI-O, which has what skube prints for it: with more, or without it."""
    pid = (bed.dir / NODE / "run/init.pid").read_text().strip()
    socket = f"/proc/{pid}/root/run/crio/crio.sock"
    dump = output_of(CACHE / "node/bin/crio", "status", "--socket", socket, "config")
    good = bed.setup("crio")
    return (dump if good in drop_in else dump.replace('"slurm-kube"', "")) + drop_in.replace(
        good, ""
    )


def _check(bed, drop_in):
    """What --check says beside a runtime with this drop-in."""
    programs = bed.dir / "programs"
    programs.mkdir(exist_ok=True)
    dump = (_crio_config if RUNTIME == "crio" else _containerd_config)(bed, drop_in)
    (programs / "config").write_text(dump)
    script = programs / RUNTIME
    script.write_text(f"#!/bin/sh\ncat {programs}/config\n")
    script.chmod(0o755)
    command = [bed.program, "--config", bed.dir / "node.conf", "--check"]
    return bed.slurm.run_program("env", f"PATH={programs}:/usr/bin:/bin", *command, check=False)


def test_check_names_what_is_missing(bed):
    """What skube node-setup prints for the runtime is enough; without it each fault is named (CRI-O
    has its hook in another file). Slurm gives the system's processor to jobs that need both."""
    good = bed.setup(RUNTIME).replace("/etc/containerd", str(bed.dir / NODE))
    said = _check(bed, good)
    for line in ("socket", "cgroups", "devices", "processors", RUNTIME):
        assert re.search(f"(?m)^ok +{line}", said), said
    said = _check(bed, "")
    equal(len(re.findall(f"(?m)^FAILED {RUNTIME}", said)), 1 if RUNTIME == "crio" else 2)
    said = _check(bed, good + NVIDIA[RUNTIME])
    assert re.search(f"(?m)^FAILED {RUNTIME} .*nvidia-container-runtime, which gives", said), said
    job, _ = _allocate(bed, cpus=2)
    assert re.search(f"(?m)^FAILED processors .*processor 0 .*job {job}:", _check(bed, good))
    _bound(bed, "overlap", job)
    _runs(bed, "overlap")
    assert f"processor 0 of SystemCpus to job {job}" in bed.helper.log.read_text()
    _gone(bed, "overlap")
    _cancel(bed, job)
    _idle(bed)


def test_list_has_jobs(bed):
    job, cpus = _allocate(bed)
    _bound(bed, "listed", job)
    _runs(bed, "listed")
    said = bed.slurm.run_program(bed.program, "--config", bed.dir / "node.conf", "--list")
    assert said.startswith("JOB "), said
    assert re.search(rf"(?m)^{job} +open +{cpus} +1$", said), said
    _gone(bed, "listed")
    _cancel(bed, job)
    _idle(bed)


def test_slurmd_killed_in_the_epilog(bed):
    """The new slurmd does not run the epilog again and says that the job has ended. A native job
    then starts, but its prolog waits until the container's processes are gone.
    """
    job, _ = _allocate(bed)
    _bound(bed, "twice", job, shell="trap '' TERM; while :; do sleep 0.1; done")
    _runs(bed, "twice")
    waiting = _native_of_all(bed)
    _cancel(bed, job)
    wait_for((bed.dir / f"epilog-began-{job}").exists, "the epilog")
    bed.slurm.slurmd.kill9()
    bed.slurm.slurmd.start()
    wait_for(lambda: _state(bed, waiting) == "RUNNING", "the native job to start", timeout=SLOW)
    time.sleep(1)
    assert _processes(bed, "twice") and not _has_begun(bed, waiting)
    _gone(bed, "twice")
    wait_for(lambda: _has_begun(bed, waiting), "the native job's script", timeout=SLOW)
    _cancel(bed, waiting)
    _idle(bed)


if __name__ == "__main__":
    run(_HybridNode, unless=lambda p: p["metadata"]["name"] == "nonsense")
