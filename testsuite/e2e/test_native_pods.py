#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods that run within native jobs of their user (option job), on a hybrid node of which nothing is
played (see lib/hybrid_testbed.py).
"""
import os
import re
from contextlib import contextmanager, suppress
from pathlib import Path

from lib import equal, pod, run, wait_for
from lib.autoscalers import DO_NOT_DISRUPT, SAFE_TO_EVICT
from lib.cpusets import Sampler, cpuset_of_job, numbers, processes_of_pods
from lib.expect import disruption, uid_of, wait_no_live_jobs, wait_reason
from lib.hybrid_testbed import SLOW, HybridTestbed

NODE = f"inner{os.getpid()}"
MARK = "allocation.slurm-kube.io/native-job"
STRANGER = "65534"
JOB_MIB, POD_MIB = 300, 50
TERM = "trap 'sleep 3; exit 0' TERM; while :; do sleep 0.05; done"


class _NativePods(HybridTestbed):
    def __init__(self, build):
        super().__init__(
            build,
            NODE,
            settings={"nodes": {"max_gone_percent": 100, "pods_in_native_jobs": True}},
        )
        with (self.dir / "node.conf").open("a") as file:
            file.write("PodsInNativeJobs=yes\n")


# ---- what the tests do ----


def _job(bed, *options, wrap="exec srun sleep 600"):
    """A running native job of one processor, with its cpuset."""
    number = bed.start_native(wrap, f"--mem={JOB_MIB}", *options)
    bed.slurm.wait_job(number, "RUNNING")
    wait_for(lambda: cpuset_of_job(NODE, number), "slurmd to begin the job")
    return number


def _make(bed, name, number, shell="sleep 3600", memory=f"{POD_MIB}Mi", annotations=None, **more):
    return bed.kube.create(
        pod(
            name,
            cpu="500m",
            memory=memory,
            shell=shell,
            annotations={"slurm-kube.io/job": str(number), **(annotations or {})},
            **more,
        )
    )


def _limit(number):
    """The memory limit of the job's cgroup, in MiB."""
    (file,) = Path("/sys/fs/cgroup/memory").glob(
        f"slurm_{NODE}/uid_*/job_{number}/memory.limit_in_bytes"
    )
    return int(file.read_text()) >> 20


def _wait_limit(number, mib):
    wait_for(lambda: _limit(number) == mib, f"a limit of {mib} MiB for job {number}")


def _refusal(bed, name):
    """The message with which the container waits."""
    for status in bed.kube.get("Pod", name)["status"].get("containerStatuses", []):
        waiting = status["state"].get("waiting", {})
        if waiting.get("reason") == "CreateContainerError":
            return waiting["message"]
    return None


def _says(bed, name):
    """Why the pod is not scheduled."""
    for condition in bed.kube.get("Pod", name)["status"].get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return condition["reason"], condition["message"]
    return None, None


def _cancel(bed, *jobs):
    for number in jobs:
        bed.slurm.run("scancel", str(number))
    bed.wait_idle()


@contextmanager
def _setting(bed, value):
    """With another value of nodes.pods_in_native_jobs."""
    before = bed.agent.settings["nodes"]["pods_in_native_jobs"]
    bed.agent.settings["nodes"]["pods_in_native_jobs"] = value
    bed.agent.restart()
    yield
    bed.agent.settings["nodes"]["pods_in_native_jobs"] = before
    bed.agent.restart()


# ---- within a job ----


def test_a_pod_runs_within_its_users_job(bed):
    """It has the job's processors, gets no job of its own, and its memory is taken from the job's
    until the pod is gone. The job goes on.
    """
    number = _job(bed)
    made = _make(bed, "inner", number)
    equal(bed.wait_running(made), numbers(cpuset_of_job(NODE, number)))
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    notes = bed.kube.get("Pod", "inner")["metadata"]["annotations"]
    job = bed.slurm.jobs()[number]
    assert re.fullmatch(rf"{number}:0:0:\d+:test", notes[MARK]), notes
    equal(notes["allocation.slurm-kube.io/job-id"], "native")
    equal((notes.get(SAFE_TO_EVICT), notes.get(DO_NOT_DISRUPT)), ("false", "true"))
    equal(_limit(number), JOB_MIB - POD_MIB)
    lines = bed.agent.skube_text("why", "inner")
    assert f"runs within native Slurm job {number}" in lines, lines
    bed.delete("inner")
    _wait_limit(number, JOB_MIB)
    equal(bed.slurm.jobs()[number]["StartTime"], job["StartTime"])
    _cancel(bed, number)


def test_pods_share_the_job_with_its_steps(bed):
    """A second pod has the rest of the processor; a third waits until one is gone. A step that
    starts meanwhile gets the lower limit, although slurmd writes the old one.
    """
    number = _job(bed)
    first, second = _make(bed, "one", number), _make(bed, "two", number)
    for made in (first, second):
        equal(bed.wait_running(made), numbers(cpuset_of_job(NODE, number)))
    equal(_limit(number), JOB_MIB - 2 * POD_MIB)
    _make(bed, "three", number)
    wait_reason(bed, "three", "SlurmPending", "other pods have too much of")
    bed.slurm.run("srun", f"--jobid={number}", "--overlap", "--mem=50", "true")
    _wait_limit(number, JOB_MIB - 2 * POD_MIB)
    bed.delete("one")
    bed.kube.wait_phase("three", "Running", timeout=SLOW)
    for name in ("two", "three"):
        bed.delete(name)
    _wait_limit(number, JOB_MIB)
    _cancel(bed, number)


# ---- refused ----


def test_another_users_job_is_as_unknown_as_none(bed):
    """The text and the time tell nothing."""
    foreign = int(
        bed.slurm.run(
            "sbatch",
            "--parsable",
            f"--uid={STRANGER}",
            "--partition=native",
            "--mem=100",
            "--chdir=/tmp",
            "--output=/dev/null",
            "--wrap=sleep 600",
        )
    )
    bed.slurm.wait_job(foreign, "RUNNING")
    texts = {}
    for name, number in (("foreign", foreign), ("nothing", foreign + 5000)):
        _make(bed, name, number)
        wait_reason(bed, name, "SlurmRefused", "there is no Slurm job")
        texts[name] = _says(bed, name)[1].replace(str(number), "N")
        assert "nodeName" not in bed.kube.get("Pod", name)["spec"]
        bed.delete(name)
        _make(bed, f"{name}-again", number)  # refused by what was said before
        wait_reason(bed, f"{name}-again", "SlurmRefused", "there is no Slurm job", timeout=3)
        equal(_says(bed, f"{name}-again")[1].replace(str(number), "N"), texts[name])
        bed.delete(f"{name}-again")
    equal(texts["foreign"], texts["nothing"])
    _cancel(bed, foreign)


def test_what_the_job_has_not_is_refused(bed):
    number = _job(bed)
    _make(bed, "big", number, memory=f"{JOB_MIB + 1}Mi")
    wait_reason(bed, "big", "SlurmRefused", "and the pod requests")
    _make(bed, "patient", number, spec={"terminationGracePeriodSeconds": 31})
    wait_reason(bed, "patient", "SlurmRefused", "can be at most 30")
    _make(bed, "mixed", number, annotations={"slurm-kube.io/nice": "5"})
    wait_reason(bed, "mixed", "SlurmRefused", "option nice cannot be given beside option job")
    volumes = [{"name": "v", "emptyDir": {"medium": "Memory"}}]
    _make(bed, "kept", number, spec={"volumes": volumes})
    wait_reason(bed, "kept", "SlurmRefused", "cannot have volumes in memory")
    for name in ("big", "patient", "mixed", "kept"):
        bed.delete(name)
    _cancel(bed, number)
    _make(bed, "late", number)
    wait_reason(bed, "late", "SlurmRefused", "has ended")
    bed.delete("late")


def test_a_job_that_uses_its_memory_takes_no_pod(bed):
    """Nothing is taken from it: the pod waits at its node until the memory is free."""
    program = (
        'exec srun python3 -c \'import os, time; a = bytearray(240 << 20); open("used", "w");\n'
        'while os.path.exists("used"): time.sleep(0.1)\ndel a; time.sleep(600)\''
    )
    number = _job(bed, f"--chdir={bed.dir}", wrap=program)
    wait_for(lambda: (bed.dir / "used").exists(), "the job to use its memory")
    made = _make(bed, "hungry", number)
    wait_for(lambda: _refusal(bed, "hungry"), "the container to be refused", timeout=SLOW)
    text = _refusal(bed, "hungry")
    assert f"does not leave {POD_MIB} MiB of its memory" in text, text
    equal(_limit(number), JOB_MIB)
    (bed.dir / "used").unlink()
    equal(bed.wait_running(made), numbers(cpuset_of_job(NODE, number)))
    bed.delete("hungry")
    equal(bed.slurm.jobs()[number]["JobState"], "RUNNING")
    _cancel(bed, number)


def test_turned_off_pods_are_refused(bed):
    """Those that are bound keep running, and end with their job."""
    number = _job(bed)
    made = _make(bed, "before", number)
    bed.wait_running(made)
    with _setting(bed, False):
        _make(bed, "after", number)
        wait_reason(bed, "after", "SlurmRefused", "pods in native jobs are off in this cluster")
        assert bed.cpus_of(made), "the bound pod has ended"
        bed.slurm.run("scancel", str(number))
        bed.kube.wait_gone("before", timeout=SLOW)
    bed.delete("after")
    bed.wait_idle()


# ---- ends ----


def test_the_end_of_the_job_ends_the_pod(bed):
    number = _job(bed, wrap=f"while [ ! -e {bed.dir}/end ]; do sleep 0.1; done")
    made = _make(bed, "guest", number)
    bed.wait_running(made)
    (bed.dir / "end").touch()
    said = disruption(bed, "guest")["message"]
    equal(said, f"Slurm job {number}, within which the pod ran, has ended (completed)")
    bed.kube.wait_gone("guest", timeout=SLOW)
    bed.wait_idle()
    equal(bed.slurm.jobs()[number]["JobState"], "COMPLETED")


def test_scancel_keeps_the_node_until_the_containers_are_gone(bed):
    """A native job of all processors, which sleeps 601 s, starts after that."""
    number = _job(bed)
    made = _make(bed, "slow", number, shell=TERM, spec={"terminationGracePeriodSeconds": 10})
    bed.wait_running(made)
    waiting = bed.start_native("exec srun sleep 601", "--cpus-per-task=2")
    with Sampler(NODE, bed.containers) as sampler:
        bed.slurm.run("scancel", str(number))
        bed.slurm.wait_job(waiting, "RUNNING", timeout=SLOW)
        equal(bed.cpus_of(made), set())
        wait_for(lambda: cpuset_of_job(NODE, waiting) == "0-1", "the native job's processors")
        bed.slurm.run("scancel", str(waiting))
    equal([one for one in sampler.shared if "sleep 601" in str(one)], [])
    bed.kube.wait_gone("slow", timeout=SLOW)
    bed.wait_idle()


def test_an_epilog_ends_containers_without_the_agent(bed):
    """After 45 s. The pod's container is not started anew, and the agent deletes the pod later."""
    number = _job(bed)
    made = _make(bed, "alone", number, shell=TERM, spec={"restartPolicy": "Always"})
    bed.wait_running(made)
    bed.agent.kill9()
    bed.slurm.run("scancel", str(number))
    wait_for(lambda: "COMPLETING" in bed.state(), "the node to be completing")
    bed.wait_idle()
    equal(processes_of_pods(bed.containers).get(uid_of(made), set()), set())
    bed.agent.start()
    bed.kube.wait_gone("alone", timeout=SLOW)


def test_a_requeued_job_is_another_one(bed):
    """The mark of its earlier life starts no container in the next one."""
    number = _job(bed, "--requeue")
    made = _make(bed, "old", number)
    bed.wait_running(made)
    mark = bed.kube.get("Pod", "old")["metadata"]["annotations"][MARK]
    bed.slurm.run("scontrol", "requeue", str(number))
    bed.kube.wait_gone("old", timeout=SLOW)
    bed.slurm.wait_job(number, "PENDING")
    bed.wait_idle()
    with suppress(RuntimeError):  # it may have started
        bed.slurm.run("scontrol", "update", f"jobid={number}", "starttime=now")
    bed.slurm.wait_job(number, "RUNNING", timeout=SLOW)
    wait_for(lambda: cpuset_of_job(NODE, number), "slurmd to begin the job")
    bed.kube.create(pod("forged", cpu="100m", shell="sleep 3600", scheduler="none"))
    notes = {
        MARK: mark,
        "allocation.slurm-kube.io/job-id": "native",
        "allocation.slurm-kube.io/memory": str(POD_MIB),
    }
    bed.kube.bind("forged", NODE, notes)
    wait_for(lambda: _refusal(bed, "forged"), "the container to be refused", timeout=SLOW)
    text = _refusal(bed, "forged")
    assert "is not the one that the pod was bound to" in text, text
    equal(_limit(number), JOB_MIB)
    bed.delete("forged")
    made = _make(bed, "new", number)
    equal(bed.wait_running(made), numbers(cpuset_of_job(NODE, number)))
    bed.delete("new")
    _cancel(bed, number)


# ---- restarts ----


def test_an_agent_that_is_killed_keeps_the_pod(bed):
    number = _job(bed)
    made = _make(bed, "agent", number)
    bed.wait_running(made)
    bed.agent.kill9()
    bed.agent.start()
    again = _make(bed, "agent-again", number)
    bed.wait_running(again)
    equal(bed.kube.get("Pod", "agent")["metadata"]["uid"], uid_of(made))
    assert bed.cpus_of(made), "the pod has ended"
    bed.slurm.run("scancel", str(number))
    for name in ("agent", "agent-again"):
        bed.kube.wait_gone(name, timeout=SLOW)
    bed.wait_idle()


def test_slurmctld_restarts(bed):
    """It deletes nothing, also if it is asked while it starts."""
    number = _job(bed)
    made = _make(bed, "ctld", number)
    bed.wait_running(made)
    for restart in (bed.slurm.restart, bed.slurm.restart):
        restart()
        bed.agent.wait_ready()
    again = _make(bed, "ctld-again", number)
    bed.wait_running(again)
    assert bed.cpus_of(made), "the pod has ended"
    for name in ("ctld", "ctld-again"):
        assert "deletionTimestamp" not in bed.kube.get("Pod", name)["metadata"], name
    _cancel(bed, number)
    for name in ("ctld", "ctld-again"):
        bed.kube.wait_gone(name, timeout=SLOW)


def test_slurmkube_node_raises_the_limit_after_a_restart(bed):
    """It was away when the pod ended."""
    number = _job(bed)
    made = _make(bed, "away", number)
    bed.wait_running(made)
    equal(_limit(number), JOB_MIB - POD_MIB)
    bed.helper.kill9()
    bed.delete("away")
    equal(_limit(number), JOB_MIB - POD_MIB)
    bed.helper.start()
    _wait_limit(number, JOB_MIB)
    _cancel(bed, number)


def test_nothing_is_left(bed):
    wait_no_live_jobs(bed, 60)
    native = bed.dir / "node-state/native"
    for folder in ("opened", "shares", "limits", "containers"):
        wait_for(
            lambda folder=folder: not list((native / folder).glob("*")), f"no file in {folder}"
        )


if __name__ == "__main__":
    run(_NativePods)
