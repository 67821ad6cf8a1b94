#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What slurmkube-node does on a hybrid node: a real slurmd with cgroups, a real kubelet and
containerd (with SLURM_KUBE_RUNTIME=crio: CRI-O), all on this machine. The tests allocate jobs and
bind pods themselves. The system's processor is 0, so the first job must have another one.
"""
import re
import signal
import time
from contextlib import contextmanager
from pathlib import Path

from lib import RUNTIME, equal, run, wait_for
from lib.node_testbed import (
    NODE,
    SYSTEM,
    SLOW,
    NodeTestbed,
    allocate,
    bound,
    cancel,
    cpus_of,
    cpus_of_native,
    cpuset_of_job,
    gone,
    has_begun,
    idle,
    kill,
    name_of,
    processes,
    refused,
    runs,
    start_native,
    start_native_of_all,
    state,
)
from lib.process import CACHE, output_of

# ---- the tests ----


def test_containers_have_the_processors_of_their_job(bed):
    """Beside a native job, at every sample; the system's containers have the system's."""
    native = start_native(bed)
    bed.slurm.wait_job(native, "RUNNING")
    theirs = wait_for(lambda: cpus_of_native(native), "processes of the native job")
    job, cpus = allocate(bed)
    bound(bed, "beside", job)
    equal(runs(bed, "beside"), {cpus})
    for _ in range(100):
        equal((cpus_of(bed, "beside"), cpus_of_native(native)), ({cpus}, theirs))
        time.sleep(0.01)
    assert cpus not in theirs, (cpus, theirs)
    bound(bed, "system")
    equal(runs(bed, "system"), {SYSTEM})
    gone(bed, "beside", "system")
    cancel(bed, job)
    cancel(bed, native)
    idle(bed)


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
    job, _ = allocate(bed)
    bound(bed, "two", job, share=96, containers=2)
    runs(bed, "two")
    equal(_memory_limits(bed, "two"), ([96], [96, 96]))
    gone(bed, "two")
    cancel(bed, job)
    idle(bed)
    job, _ = allocate(bed)
    bound(bed, "vast", job, share=1 << 60)
    refused(bed, "vast", "is not a size in MiB")
    gone(bed, "vast")
    cancel(bed, job)
    idle(bed)


def test_without_a_job_no_container(bed):
    """A number that Slurm does not know, and one that is none."""
    bound(bed, "unknown", 999999)
    refused(bed, "unknown", "Slurm job 999999 has no processors on this node")
    bound(bed, "nonsense", "1;reboot")
    refused(bed, "nonsense", "is not a job id")
    gone(bed, "unknown", "nonsense")


def test_the_epilog_waits_for_the_last_process(bed):
    """The job is cancelled while its container runs: the node is COMPLETING, and a native job that
    needs all processors starts only when the container's processes are gone. The container is not
    started anew, although its pod would."""
    job, _ = allocate(bed)
    bound(
        bed,
        "lasting",
        job,
        shell="trap 'sleep 3; exit 0' TERM; while :; do sleep 0.1; done",
        spec={"restartPolicy": "Always"},
    )
    runs(bed, "lasting")
    waiting = start_native_of_all(bed)
    cancel(bed, job)
    wait_for(lambda: (bed.dir / f"epilog-began-{job}").exists(), "the epilog")
    time.sleep(1)
    assert processes(bed, "lasting")
    equal(state(bed, waiting), "PENDING")
    bed.kube.delete("Pod", "lasting")
    wait_for(lambda: not processes(bed, "lasting"), "the end of the processes", timeout=SLOW)
    bed.slurm.wait_job(waiting, "RUNNING", timeout=SLOW)
    bed.kube.wait_gone("lasting", timeout=SLOW)
    cancel(bed, waiting)
    idle(bed)


def test_a_container_of_an_ended_job_is_not_started_anew(bed):
    """Its program ends after the job."""
    job, _ = allocate(bed)
    bound(
        bed,
        "again",
        job,
        spec={"restartPolicy": "Always"},
        shell="trap 'exit 0' USR1; while :; do sleep 0.1; done",
    )
    runs(bed, "again")
    cancel(bed, job)
    wait_for(lambda: (bed.dir / f"epilog-began-{job}").exists(), "the epilog")
    for pid in processes(bed, "again"):
        kill(pid)
    idle(bed)
    refused(bed, "again", f"Slurm job {job} has ended on this node")
    gone(bed, "again")


def _failure(bed, name):
    """Why the container cannot start."""
    (status,) = bed.kube.get("Pod", name)["status"].get("containerStatuses") or [{"state": {}}]
    return re.search("no such file", str(status["state"]))


def test_a_container_that_cannot_start_does_not_hold_the_node(bed):
    """Its program does not exist, and nobody tells slurmkube-node that the runtime gave up."""
    job, _ = allocate(bed)
    bound(
        bed,
        "mistyped",
        job,
        spec={"restartPolicy": "Never"},
        container={"command": ["/no/such/program"]},
    )
    wait_for(lambda: _failure(bed, "mistyped"), "the failure", timeout=SLOW)
    cancel(bed, job)
    wait_for((bed.dir / f"epilog-began-{job}").exists, "the epilog")
    idle(bed, timeout=30)  # less than slurmkube-node gives a runtime that was killed
    gone(bed, "mistyped")


def test_a_job_that_ends_between_creation_and_start(bed):
    """slurmkube-node refuses the start. CRI-O starts the container all the same, but its program
    never runs, and nothing holds the job."""
    job, _ = allocate(bed)
    (bed.dir / "to-cancel").write_text(str(job))
    bound(
        bed,
        "late",
        job,
        shell="touch /marks/late; exec sleep 3600",
        container={"volumeMounts": [{"name": "marks", "mountPath": "/marks"}]},
        spec={"volumes": [{"name": "marks", "hostPath": {"path": str(bed.dir / "marks")}}]},
    )
    wait_for((bed.dir / f"epilog-began-{job}").exists, "the epilog", timeout=SLOW)
    idle(bed)
    assert not (bed.dir / "marks/late").exists(), "the program ran"
    said = f"(StartContainer|StateChange): .*Slurm job {job} has ended"
    assert re.search(said, bed.helper.log.read_text()), "the start was not refused"
    gone(bed, "late")


@contextmanager
def _away(bed):
    """Without slurmkube-node."""
    bed.helper.kill9()
    yield
    bed.helper.start()


def test_without_the_daemon_no_container(bed):
    """The runtime refuses it; running ones go on, and get Slurm's processors again afterwards."""
    job, cpus = allocate(bed)
    bound(bed, "before", job)
    runs(bed, "before")
    other, others_cpus = allocate(bed)
    with _away(bed):
        bound(bed, "meanwhile", other)
        refused(bed, "meanwhile", "slurm-kube")
        equal(cpus_of(bed, "before"), {cpus})
    equal(runs(bed, "meanwhile"), {others_cpus})
    gone(bed, "before", "meanwhile")
    cancel(bed, job)
    cancel(bed, other)
    idle(bed)


def test_a_daemon_that_is_stopped_within_a_request(bed):
    """The runtime waits two seconds for it. Then containerd starts the container on the system's
    processors, and CRI-O's hook refuses it. The request must be the first that it does not answer:
    after that all are refused. So nothing of earlier pods may be under way.
    """
    places = [bed.dir / "node-state/containers"]
    if RUNTIME == "containerd":  # which tells of a removal later than that of the record
        places.append(bed.dir / NODE / "containerd/io.containerd.grpc.v1.cri/containers")
        assert places[1].is_dir(), places[1]
    wait_for(
        lambda: not any(list(place.glob("*")) for place in places),
        "the containers of earlier pods to be removed",
    )
    first, _ = allocate(bed)
    job, cpus = allocate(bed)
    if cpus == SYSTEM:
        first, job, cpus = job, first, cpuset_of_job(first)
    bed.helper.signal(signal.SIGSTOP)
    bound(bed, "unlucky", job)
    if RUNTIME == "crio":
        refused(bed, "unlucky", "slurmkube-node has not answered in time")
    else:
        bed.kube.wait_phase("unlucky", "Running", timeout=SLOW)
        equal(wait_for(lambda: cpus_of(bed, "unlucky"), "its processes"), {SYSTEM})
    bed.helper.kill9()
    bed.helper.start()
    wait_for(
        lambda: cpus_of(bed, "unlucky") == {cpus}, "the container to have its job's", timeout=SLOW
    )
    gone(bed, "unlucky")
    cancel(bed, first)
    cancel(bed, job)
    idle(bed)


def test_a_killed_slurmstepd(bed):
    """Its cgroup stays when the job ends; the epilog removes it, and the container gets no
    successor."""
    job, cpus = allocate(bed)
    bound(bed, "orphan", job)
    runs(bed, "orphan")
    for file in Path("/sys/fs/cgroup/cpuset").glob(f"slurm_{NODE}/uid_*/job_{job}/**/cgroup.procs"):
        for pid in file.read_text().split():
            if name_of(pid) == "slurmstepd":
                kill(int(pid))
    equal(cpus_of(bed, "orphan"), {cpus})
    cancel(bed, job)
    wait_for(lambda: (bed.dir / f"epilog-began-{job}").exists(), "the epilog")
    gone(bed, "orphan")
    idle(bed)
    equal(cpuset_of_job(job), None)


def test_the_epilog_waits_without_the_runtime(bed):
    """It looks at processes, not at the runtime's word. A container that ends without containerd
    lets the job end; the kubelet learns of it later."""
    job, _ = allocate(bed, cpus=2)
    bound(bed, "forlorn", job, spec={"restartPolicy": "Never"})
    runs(bed, "forlorn")
    bed.plane.runtime(NODE, "--kill")
    cancel(bed, job)
    wait_for(lambda: (bed.dir / f"epilog-began-{job}").exists(), "the epilog")
    waiting = start_native(bed)
    time.sleep(3)
    assert processes(bed, "forlorn")
    assert "COMPLETING" in bed.slurm.node(NODE)["State"]
    equal(state(bed, waiting), "PENDING")
    for pid in processes(bed, "forlorn"):
        kill(pid)
    bed.slurm.wait_job(waiting, "RUNNING", timeout=SLOW)
    equal(processes(bed, "forlorn"), set())
    bed.plane.runtime(NODE, "--start")
    gone(bed, "forlorn")
    cancel(bed, waiting)
    idle(bed)


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
    job, _ = allocate(bed, cpus=2)
    assert re.search(f"(?m)^FAILED processors .*processor 0 .*job {job}:", _check(bed, good))
    bound(bed, "overlap", job)
    runs(bed, "overlap")
    assert f"processor 0 of SystemCpus to job {job}" in bed.helper.log.read_text()
    gone(bed, "overlap")
    cancel(bed, job)
    idle(bed)


def test_list_has_jobs(bed):
    job, cpus = allocate(bed)
    bound(bed, "listed", job)
    runs(bed, "listed")
    said = bed.slurm.run_program(bed.program, "--config", bed.dir / "node.conf", "--list")
    assert said.startswith("JOB "), said
    assert re.search(rf"(?m)^{job} +open +{cpus} +1$", said), said
    gone(bed, "listed")
    cancel(bed, job)
    idle(bed)


def test_slurmd_killed_in_the_epilog(bed):
    """The new slurmd does not run the epilog again and says that the job has ended. A native job
    then starts, but its prolog waits until the container's processes are gone.
    """
    job, _ = allocate(bed)
    bound(bed, "twice", job, shell="trap '' TERM; while :; do sleep 0.1; done")
    runs(bed, "twice")
    waiting = start_native_of_all(bed)
    cancel(bed, job)
    wait_for((bed.dir / f"epilog-began-{job}").exists, "the epilog")
    bed.slurm.slurmd.kill9()
    bed.slurm.slurmd.start()
    wait_for(lambda: state(bed, waiting) == "RUNNING", "the native job to start", timeout=SLOW)
    time.sleep(1)
    assert processes(bed, "twice") and not has_begun(bed, waiting)
    gone(bed, "twice")
    wait_for(lambda: has_begun(bed, waiting), "the native job's script", timeout=SLOW)
    cancel(bed, waiting)
    idle(bed)


if __name__ == "__main__":
    run(NodeTestbed, unless=lambda p: p["metadata"]["name"] == "nonsense")
