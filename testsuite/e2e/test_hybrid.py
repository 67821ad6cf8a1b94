#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hybrid nodes: one node has a real slurmd with cgroups and the feature kube-hybrid, and is a
managed node of Kubernetes, too. Slurm alone says which cores pods and native jobs have there. kwok
plays the kubelet. Node "node-0" is external.
"""
import os
import re
import time
from contextlib import contextmanager
from pathlib import Path

from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import job_in_state, number_of, only_job, wait_no_live_jobs, wait_reason
from lib.hybrid_testbed import use_cgroups
from lib.kube import condition
from lib.kubelets import end_pod, not_ready
from lib.manifests import kwok_node

NODE = f"hybrid{os.getpid()}"  # names slurmd's cgroups, which are the machine's
PARTITION = "native"
CONF = """ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
PrologFlags=Contain
FirstJobId={first}
Prolog={dir}/prolog
Epilog={dir}/epilog
PartitionName=both Nodes=ALL
""".splitlines()
PROLOG = """#!/bin/bash
if [ -n "$SPANK_SLURM_KUBE" ] && rm {dir}/prolog-fails 2> /dev/null; then
    echo $SLURM_JOB_ID >> {dir}/prologs-failed
    exit 1
fi
[ -e {dir}/prolog-waits ] || exit 0
echo $SLURM_JOB_ID >> {dir}/prolog-runs
while [ -e {dir}/prolog-waits ]; do sleep 0.05; done
"""
EPILOG = """#!/bin/bash
echo $SLURM_JOB_ID mark=$SPANK_SLURM_KUBE grace=$SPANK_SLURM_KUBE_GRACE >> {dir}/epilog-runs
while [ -n "$SPANK_SLURM_KUBE" ] && [ -e {dir}/epilog-waits ]; do sleep 0.05; done
exit 0
"""


# ---- what the tests ask ----


def _state(bed):
    return bed.slurm.node(NODE)["State"]


def _wait_state(bed, state):
    wait_for(lambda: _state(bed) == state, f"node {NODE} to be {state}")


def _epilogs(bed):
    file = bed.dir / "epilog-runs"
    return file.read_text().splitlines() if file.exists() else []


def _cpus_of(bed, number):
    """Slurm's CPU numbers of a job on the node."""
    text = bed.slurm.run("scontrol", "-d", "show", "job", str(number))
    found = re.search(rf"Nodes={NODE} CPU_IDs=(\S+)", text)
    return found[1] if found else ""


def _cpuset(number):
    """What slurmd gave the job; None: nothing yet."""
    for file in Path("/sys/fs/cgroup/cpuset").glob(f"slurm_{NODE}/uid_*/job_{number}/cpuset.cpus"):
        return file.read_text().strip() or None
    return None


def _native(bed, seconds=3600, cpus=1):
    """A native job on the hybrid node that has started; returns its number."""
    text = bed.slurm.run(
        "sbatch",
        "--parsable",
        f"--partition={PARTITION}",
        f"--cpus-per-task={cpus}",
        f"--output={bed.dir}/native-%j.out",
        f"--wrap=exec sleep {seconds}",
    )
    number = int(text.strip())
    bed.slurm.wait_job(number, "RUNNING", "COMPLETING", "COMPLETED")
    return number


def _running(bed, name, **options):
    made = bed.kube.create(pod(name, kwok={"run": "1h"}, **options))
    bed.kube.wait_phase(name, "Running")
    equal(bed.kube.get("Pod", name)["spec"]["nodeName"], NODE)
    return made


def _end(bed, name, made):
    end_pod(bed, name)
    job_in_state(bed, made, "COMPLETED")


def _check(bed, name):
    return next((c for c in bed.agent.skube_all("check")["checks"] if c["name"] == name), None)


@contextmanager
def _waiting(bed, script):
    """Prolog or Epilog of pods waits within."""
    flag = bed.dir / f"{script}-waits"
    flag.touch()
    try:
        yield
    finally:
        flag.unlink(missing_ok=True)


@contextmanager
def _cordoned(bed):
    bed.kube.patch("Node", NODE, {"spec": {"unschedulable": True}})
    try:
        yield
    finally:
        bed.kube.patch("Node", NODE, {"spec": {"unschedulable": None}})


# ---- life of a pod ----


def test_the_node_is_known_as_hybrid(bed):
    """skube shows the kind; what skube check says of it is fine; it has no line to write."""
    rows = {row["name"]: row for row in bed.agent.skube("show", "nodes")["nodes"]}
    equal((rows[NODE]["kind"], rows["node-0"]["kind"]), ("hybrid", "external"))
    for line in ("hybrid settings", "hybrid nodes", "hybrid sizes"):
        wait_for(lambda line=line: _check(bed, line)["ok"], f"line {line} to be ok")
    assert NODE not in bed.agent.skube_text("nodes", "--slurm-conf")


def test_a_pod_is_an_ordinary_job_of_the_slurmd(bed):
    """The pod is bound when slurmd has given the job its cores. Epilog knows whose job it is."""
    made = bed.kube.create(
        pod("life", kwok={"run": "1h"}, spec={"terminationGracePeriodSeconds": 7})
    )
    bed.kube.wait(lambda: bed.kube.get("Pod", "life")["spec"].get("nodeName"), "the binding")
    job = only_job(bed, made)
    cpus = _cpuset(job["JobId"])
    assert cpus is not None, "bound before slurmd had made the job's cpuset"
    bed.kube.wait_phase("life", "Running")
    notes = bed.kube.get("Pod", "life")["metadata"]["annotations"]
    equal(notes["allocation.slurm-kube.io/memory"], "64")
    equal((job["JobState"], job["NodeList"], _cpus_of(bed, job["JobId"])), ("RUNNING", NODE, cpus))
    _end(bed, "life", made)
    wait_for(lambda: f"{job['JobId']} mark=1 grace=7" in _epilogs(bed), f"Epilog: {_epilogs(bed)}")
    _wait_state(bed, "IDLE")


def test_pods_of_a_gang_share_the_memory_of_their_job(bed):
    """Each may use what it requests. Epilog knows the longest grace period."""
    spec = {"terminationGracePeriodSeconds": 8}
    made = bed.kube.create(
        job("band", 2, indexed=True, memory="80Mi", kwok={"run": "1h"}, spec=spec)
    )
    wait_for(lambda: len(_pods(bed, "band-")) == 2, "both pods")
    for name in _pods(bed, "band-"):
        bed.kube.wait_phase(name, "Running")
    notes = [p["metadata"]["annotations"] for p in _pods(bed, "band-").values()]
    equal([n["allocation.slurm-kube.io/memory"] for n in notes], ["80", "80"])
    number = only_job(bed, made)["JobId"]
    for name in _pods(bed, "band-"):
        end_pod(bed, name)
    job_in_state(bed, made, "COMPLETED")
    wait_for(lambda: f"{number} mark=1 grace=8" in _epilogs(bed), f"Epilog: {_epilogs(bed)}")
    _wait_state(bed, "IDLE")


def test_a_pod_is_bound_when_the_prolog_is_over(bed):
    with _waiting(bed, "prolog"):
        made = bed.kube.create(pod("gate", kwok={"run": "1h"}))
        number = number_of(job_in_state(bed, made, "RUNNING"))
        wait_for(lambda: (bed.dir / "prolog-runs").exists(), "Prolog to run")
        wait_reason(bed, "gate", "SlurmPending", "Prolog on a hybrid node")
        time.sleep(1)
        assert "nodeName" not in bed.kube.get("Pod", "gate")["spec"], "bound too early"
        equal(_cpuset(number), None)
    bed.kube.wait_phase("gate", "Running")
    _end(bed, "gate", made)


def test_a_native_job_and_a_pod_have_cores_of_their_own(bed):
    """Both orders of start."""
    for name, native_first in (("second", True), ("first", False)):
        number = _native(bed) if native_first else 0
        made = _running(bed, name)
        number = number or _native(bed)
        job = only_job(bed, made)["JobId"]
        wait_for(lambda number=number: _cpuset(number), "slurmd to begin the native job")
        equal(sorted([_cpuset(number), _cpuset(job)]), ["0", "1"])
        equal((_cpus_of(bed, number), _cpus_of(bed, job)), (_cpuset(number), _cpuset(job)))
        _end(bed, name, made)
        equal(bed.slurm.jobs()[number]["JobState"], "RUNNING")
        bed.slurm.run("scancel", str(number))
        _wait_state(bed, "IDLE")


def _pods(bed, name):
    return {n: p for n, p in bed.kube.pods(name).items() if p["metadata"]["namespace"] == "default"}


def _jobs_in(bed, made, state):
    return [j for j in bed.slurm.job_of_pod(made["metadata"]["uid"]) if j["JobState"] == state]


def _asks_again(bed, made, name):
    """Its first job was cancelled by slurmd, its pods are the same, and wait for another job while
    Slurm drains the node; when that is resumed, they run.
    """
    wait_for(lambda: _jobs_in(bed, made, "CANCELLED"), "slurmd to cancel the job")
    wait_for(lambda: "DRAIN" in _state(bed), "Slurm to drain the node")
    wait_for(lambda: _jobs_in(bed, made, "PENDING"), "the next job")
    before = _pods(bed, name)
    for seen in before.values():
        assert "nodeName" not in seen["spec"], "bound where Prolog had failed"
        assert "deletionTimestamp" not in seen["metadata"], seen["metadata"]
    bed.slurm.run("scontrol", "update", f"nodename={NODE}", "state=resume")
    for pod_name in before:
        bed.kube.wait_phase(pod_name, "Running")
    uids = [
        {n: p["metadata"]["uid"] for n, p in pods.items()} for pods in (before, _pods(bed, name))
    ]
    equal(uids[0], uids[1])
    for pod_name in before:
        end_pod(bed, pod_name)
    wait_for(lambda: _jobs_in(bed, made, "COMPLETED"), "the job to end")
    _wait_state(bed, "IDLE")
    return len(before)


def test_a_prolog_that_fails_keeps_the_pod(bed):
    """slurmd reports the end of Prolog, cancels the job as root, and then drains the node."""
    (bed.dir / "prolog-fails").touch()
    made = bed.kube.create(pod("unlucky", kwok={"run": "1h"}))
    equal(_asks_again(bed, made, "unlucky"), 1)


def test_a_prolog_that_fails_keeps_all_pods_of_a_gang(bed):
    (bed.dir / "prolog-fails").touch()
    made = bed.kube.create(job("team", 2, indexed=True, kwok={"run": "1h"}))
    equal(_asks_again(bed, made, "team-"), 2)


def test_a_prolog_that_fails_beside_prologslurmctld_keeps_the_pod(bed):
    """Then the failure is that of a job which PrologSlurmctld has let go on."""
    path = bed.dir / "slurm.conf"
    good = path.read_text()
    path.write_text(good + "PrologSlurmctld=/bin/true\n")
    bed.slurm.restart()
    bed.agent.wait_ready()
    (bed.dir / "prolog-fails").touch()
    made = bed.kube.create(pod("luckless", kwok={"run": "1h"}))
    equal(_asks_again(bed, made, "luckless"), 1)
    path.write_text(good)
    bed.slurm.restart()
    bed.agent.wait_ready()


# ---- ends ----


def test_scancel_keeps_the_node_until_the_epilog_is_over(bed):
    """The agent deletes the pod; no native job starts before Epilog says that it is gone."""
    made = _running(bed, "cancelled")
    with _waiting(bed, "epilog"):
        bed.slurm.run("scancel", only_job(bed, made)["JobId"])
        bed.kube.wait_gone("cancelled")
        wait_for(lambda: "COMPLETING" in _state(bed), "the node to be completing")
        number = int(
            bed.slurm.run("sbatch", "--parsable", "-p", PARTITION, "-o", "/dev/null", "--wrap=true")
        )
        time.sleep(2)
        equal(bed.slurm.jobs()[number]["JobState"], "PENDING")
    bed.slurm.wait_job(number, "COMPLETED")
    _wait_state(bed, "IDLE")


def test_a_deleted_pod_keeps_its_job_until_it_is_gone(bed):
    """Otherwise the node would be completing for all of the grace period, and start nothing."""
    made = bed.kube.create(pod("slow", kwok={"run": "1h", "stop": "1h"}))
    bed.kube.wait_phase("slow", "Running")
    bed.kube.delete("Pod", "slow")
    bed.kube.wait(
        lambda: bed.kube.get("Pod", "slow")["metadata"].get("deletionTimestamp"), "the deletion"
    )
    number = _native(bed, 0)
    bed.slurm.wait_job(number, "COMPLETED")
    equal(only_job(bed, made)["JobState"], "RUNNING")
    end_pod(bed, "slow")
    job_in_state(bed, made, "CANCELLED", "COMPLETED")
    _wait_state(bed, "IDLE")


def test_a_user_that_the_controller_does_not_know_is_no_success(bed):
    """Slurm says COMPLETED; the pod says why it does not run, and is not deleted."""
    bed.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "unknown"}})
    bed.plane.default_account("unknown")
    made = pod("nobody")
    made["metadata"]["namespace"] = "unknown"
    made = bed.kube.create(made)
    wait_reason(bed, "unknown/nobody", "SlurmRefused", "does not know user 4242")
    states = {job["JobState"] for job in bed.slurm.job_of_pod(made["metadata"]["uid"])}
    assert states <= {"COMPLETED", "COMPLETING"}, states
    seen = bed.kube.now["Pod"]["unknown/nobody"]
    assert "deletionTimestamp" not in seen["metadata"] and "nodeName" not in seen["spec"], seen
    bed.kube.delete("Pod", "unknown/nobody")
    _wait_state(bed, "IDLE")


# ---- restarts ----


def test_an_agent_that_is_killed_goes_on(bed):
    made = _running(bed, "agent")
    bed.agent.kill9()
    bed.agent.start()
    equal(only_job(bed, made)["JobState"], "RUNNING")
    _end(bed, "agent", made)


def test_an_agent_that_is_killed_during_the_prolog_binds_late(bed):
    with _waiting(bed, "prolog"):
        made = bed.kube.create(pod("late", kwok={"run": "1h"}))
        job_in_state(bed, made, "RUNNING")
        bed.agent.kill9()
        bed.agent.start()
        wait_reason(bed, "late", "SlurmPending", "Prolog on a hybrid node")
        assert "nodeName" not in bed.kube.get("Pod", "late")["spec"], "bound too early"
    bed.kube.wait_phase("late", "Running")
    _end(bed, "late", made)


def test_a_slurmd_that_is_killed_during_the_prolog_holds_no_job(bed):
    """slurmctld never hears of its end. The job is given back in time, and the same pod gets
    another one.
    """
    with _waiting(bed, "prolog"):
        (bed.dir / "prolog-runs").unlink(missing_ok=True)
        made = bed.kube.create(pod("deaf", kwok={"run": "1h"}))
        wait_for(lambda: (bed.dir / "prolog-runs").exists(), "Prolog to run")
        bed.slurm.slurmd.kill9()
    bed.slurm.slurmd.start()
    wait_for(lambda: _jobs_in(bed, made, "FAILED"), "the first job to be given back")
    again = bed.kube.wait_phase("deaf", "Running", timeout=180)  # after a pause of a minute
    equal(again["metadata"]["uid"], made["metadata"]["uid"])
    end_pod(bed, "deaf")
    wait_for(lambda: len(_jobs_in(bed, made, "COMPLETED")) == 1, "the second job to end")
    _wait_state(bed, "IDLE")


def test_slurmctld_restarts(bed):
    """Pod and native job go on; the end is seen."""
    made, number = _running(bed, "ctld"), _native(bed)
    bed.slurm.restart()
    bed.agent.wait_ready()
    equal(
        (only_job(bed, made)["JobState"], bed.slurm.jobs()[number]["JobState"]),
        ("RUNNING", "RUNNING"),
    )
    _end(bed, "ctld", made)
    bed.slurm.run("scancel", str(number))
    _wait_state(bed, "IDLE")


# ---- the node ----


def test_a_cordon_excludes_the_node_for_pods_only(bed):
    """A pod that may use both nodes goes to the other one; native jobs go on, and start there. From
    25.05 on no partition can have both kinds of nodes, and the pod waits.
    """
    number = _native(bed)
    waits = bed.slurm.number >= (25, 5)
    both = {} if waits else {"slurm-kube.io/partition": "both"}
    with _cordoned(bed):
        wait_for(
            lambda: next(n for n in bed.agent.skube("show", "nodes")["nodes"] if n["name"] == NODE)[
                "cordoned"
            ],
            "the agent to know the cordon",
        )
        made = bed.kube.create(pod("corded", kwok={"run": "1h"}, annotations=both))
        if waits:
            wait_reason(bed, "corded", "SlurmRefused", "onfiguration")
        else:
            bed.kube.wait_phase("corded", "Running")
            equal(bed.kube.get("Pod", "corded")["spec"]["nodeName"], "node-0")
            equal(only_job(bed, made)["ExcNodeList"], NODE)
        bed.slurm.wait_job(_native(bed, 0), "COMPLETED")
        assert "DRAIN" not in _state(bed), _state(bed)
    if waits:
        bed.kube.wait_phase("corded", "Running", timeout=90)  # asked for again each minute
    equal(bed.slurm.jobs()[number]["JobState"], "RUNNING")
    end_pod(bed, "corded")
    wait_for(lambda: _jobs_in(bed, made, "COMPLETED"), "the job to end")
    bed.slurm.run("scancel", str(number))
    _wait_state(bed, "IDLE")


def test_a_kubelet_that_is_long_away_ends_pods_only(bed):
    """The pod's job ends as cancelled, native jobs go on, new ones start, and the node is not
    drained.
    """
    made, number = _running(bed, "away"), _native(bed)
    bed.plane.freeze("kwok")
    not_ready(bed, NODE)
    job_in_state(bed, made, "CANCELLED")
    equal(bed.slurm.jobs()[number]["JobState"], "RUNNING")
    bed.slurm.wait_job(_native(bed, 0), "COMPLETED")
    state = _state(bed)
    assert "DRAIN" not in state and "DOWN" not in state, state
    bed.plane.thaw("kwok")
    bed.plane.wait_ready(NODE)
    bed.kube.wait_gone("away")
    bed.slurm.run("scancel", str(number))
    _wait_state(bed, "IDLE")


def _boot(bed, boot_id):
    info = bed.kube.get("Node", NODE)["status"].get("nodeInfo", {})
    bed.kube.patch("Node", NODE, {"status": {"nodeInfo": {**info, "bootID": boot_id}}}, "status")


def test_a_reboot_ends_pods_only(bed):
    """Slurm may let their jobs go on, which have no steps, but no container can start there."""
    _boot(bed, "first")
    made, number = _running(bed, "rebooted"), _native(bed)
    notes = bed.kube.get("Pod", "rebooted")["metadata"]["annotations"]
    equal(notes["allocation.slurm-kube.io/boot-id"], "first")
    _boot(bed, "second")
    time.sleep(3)
    equal(only_job(bed, made)["JobState"], "RUNNING")  # the pod's container runs
    waiting = {
        "reason": "CreateContainerError",
        "message": (
            f"slurm-kube: Slurm job {only_job(bed, made)['JobId']} has no processors on this node"
        ),
    }
    status = {"name": "main", "image": "", "imageID": "", "ready": False, "restartCount": 1}
    status["state"] = {"waiting": waiting}
    bed.kube.patch("Pod", "rebooted", {"status": {"containerStatuses": [status]}}, "status")
    job_in_state(bed, made, "CANCELLED")
    bed.kube.wait_gone("rebooted")
    equal(bed.slurm.jobs()[number]["JobState"], "RUNNING")
    bed.slurm.run("scancel", str(number))
    _wait_state(bed, "IDLE")


def test_mixed_partitions_are_told(bed):
    """By slurmctld's log at its start, and by skube check. Native jobs may go to the hybrid
    node's own partition.
    """
    line = _check(bed, "partitions")
    equal(line["ok"], False)
    assert "external nodes and hybrid nodes in one partition: both" in line["text"], line
    assert "partition of their own" in line["remedy"], line
    log = (bed.dir / "log/slurmctld.out").read_text(errors="replace")
    assert "partition both has external nodes and hybrid nodes" in log, "not in the log"


def test_native_nodes_in_a_partition_of_pods_are_told(bed):
    """Where no kubelet would start a pod. Partition both has all nodes."""
    path = bed.dir / "slurm.conf"
    good = path.read_text()
    path.write_text(f"{good}NodeName=bare NodeHostname=localhost CPUs=1 State=DOWN\n")
    bed.slurm.restart()
    bed.agent.wait_ready()
    line = _check(bed, "partition")
    equal(line["ok"], False)
    assert "'both' has 1 nodes without a kubelet beside hybrid nodes" in line["text"], line
    assert "a partition of hybrid nodes only" in line["remedy"], line
    path.write_text(good)
    bed.slurm.restart()
    bed.agent.wait_ready()
    wait_for(lambda: _check(bed, "partition")["ok"], "the line to be ok again")


MISTAKES = [
    ("slurm.conf", "PrologFlags=Contain", "PrologFlags=Alloc", "PrologFlags lacks Contain"),
    (
        "slurm.conf",
        "TaskPlugin=task/cgroup,task/affinity",
        "TaskPlugin=task/affinity",
        "task/cgroup",
    ),
    ("slurm.conf", "Epilog={dir}/epilog\n", "", "no Epilog is set"),
    ("slurm.conf", "Prolog={dir}/prolog\n", "", "no Prolog is set"),
    ("slurm.conf", "PrologFlags=Contain", "PrologFlags=Contain,Serial", "PrologFlags has Serial"),
    ("slurm.conf", "Epilog=", "PrologEpilogTimeout=30\nEpilog=", "ends Epilog while a pod"),
    ("slurm.conf", "Epilog=", "CompleteWait=5\nEpilog=", "CompleteWait=5"),
    ("slurm.conf", "proctrack/cgroup", "proctrack/linuxproc", "is not proctrack/cgroup"),
    ("cgroup.conf", "ConstrainCores=yes", "ConstrainCores=no", "does not set ConstrainCores"),
    ("cgroup.conf", "ConstrainRAMSpace=yes\n", "", "does not set ConstrainRAMSpace"),
    ("cgroup.conf", "ConstrainDevices=yes\n", "", "does not set ConstrainDevices"),
]


def test_mistakes_of_the_configuration_are_told(bed):
    """Each row of the table in doc/hybrid.md. slurmctld alone reads the files again."""
    for file, right, wrong, text in MISTAKES:
        path = bed.dir / file
        good = path.read_text()
        right = right.format(dir=bed.dir)
        assert right in good, right
        path.write_text(good.replace(right, wrong))
        bed.slurm.restart()
        bed.agent.wait_ready()
        said = wait_for(
            lambda text=text: (line := _check(bed, "hybrid settings"))
            and text in line["text"]
            and line,
            f"skube check to say {text}",
        )
        equal((said["ok"], said["remedy"] != ""), (False, True))
        path.write_text(good)
    bed.slurm.restart()
    bed.agent.wait_ready()
    wait_for(lambda: _check(bed, "hybrid settings")["ok"], "the line to be ok again")


def test_a_node_that_is_smaller_in_kubernetes_is_told(bed):
    """With the numbers to write."""
    size = {"allocatable": {"cpu": "1", "memory": "3000Mi", "pods": "500"}}
    bed.kube.patch("Node", NODE, {"status": size}, "status")
    said = wait_for(
        lambda: None if (line := _check(bed, "hybrid sizes"))["ok"] else line, "hybrid sizes"
    )
    assert "keep 1 more CPUs" in said["remedy"], said
    assert "raise MemSpecLimit by 1000" in said["remedy"], said
    size = {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "500"}}
    bed.kube.patch("Node", NODE, {"status": size}, "status")
    wait_for(lambda: _check(bed, "hybrid sizes")["ok"], "hybrid sizes to be ok")


def test_what_pods_of_others_request_is_told(bed):
    """As those of DaemonSets: the kubelet counts them."""
    bed.kube.create(pod("others", scheduler="none", memory="5000Mi"))
    bed.kube.bind("others", NODE)
    said = wait_for(
        lambda: None if (line := _check(bed, "hybrid sizes"))["ok"] else line, "hybrid sizes"
    )
    assert "keep 1 more CPUs" in said["remedy"], said
    assert "raise MemSpecLimit by 808" in said["remedy"], said
    bed.kube.delete("Pod", "others", gracePeriodSeconds=0)
    wait_for(lambda: _check(bed, "hybrid sizes")["ok"], "hybrid sizes to be ok")


def test_a_native_job_and_a_pod_start_in_a_reservation(bed):
    """Together, as soon as it begins: doc/hybrid.md, Heterogeneous work."""
    bed.slurm.run(
        *("scontrol", "create", "reservation", "reservationname=together", f"nodes={NODE}"),
        *("starttime=now+8", "duration=10", "users=root", "flags=ignore_jobs"),
    )
    made = bed.kube.create(pod("with", annotations={"slurm-kube.io/reservation": "together"}))
    text = bed.slurm.run(
        *("sbatch", "--parsable", f"--partition={PARTITION}", "--reservation=together"),
        *(f"--output={bed.dir}/native-%j.out", "--wrap=exec sleep 600"),
    )
    number = int(text)
    wait_for(lambda: _jobs_in(bed, made, "PENDING"), "the pod's job")
    equal(bed.slurm.jobs()[number]["JobState"], "PENDING")
    bed.slurm.wait_job(number, "RUNNING", timeout=60)
    bed.kube.wait_phase("with", "Running", timeout=60)
    equal(bed.slurm.jobs()[number]["JobState"], "RUNNING")
    bed.slurm.run("scancel", str(number))
    end_pod(bed, "with")
    wait_for(lambda: _jobs_in(bed, made, "COMPLETED"), "the job to end")
    bed.slurm.run("scontrol", "delete", "reservationname=together")
    _wait_state(bed, "IDLE")


def test_the_record_of_the_node_was_never_touched(bed):
    """No drain, no reason, no update by the agent."""
    node = bed.slurm.node(NODE)
    equal((node["CPUTot"], node["RealMemory"]), ("2", "4000"))
    assert "Reason" not in node, node
    log = (bed.dir / "log/slurmctld.out").read_text(errors="replace")
    resumed = r"state set to (IDLE|MIXED)"  # by tests, after a Prolog that failed
    assert not re.search(rf"update_node: node {NODE} (?!{resumed})", log), "the node was changed"
    equal(condition(bed.kube.get("Node", NODE), "Ready")["status"], "True")


def test_no_job_is_left(bed):
    wait_no_live_jobs(bed, 60)


class _Hybrid(Cluster):
    def __init__(self, build):
        super().__init__(
            build,
            kwok=1,
            slurm_options={
                "native_name": NODE,
                "native_size": "CPUs=2 RealMemory=4000 Feature=kube-hybrid",
            },
            agent_options={
                "namespaces": [
                    {"namespace": "unknown", "user": "4242", "group": "4242"},
                    {
                        "namespace": "default",
                        "user": "root",
                        "partitions": [PARTITION, "both"],
                        "reservations": ["together"],
                    },
                ],
                "settings": {
                    "partition": PARTITION,
                    "limits": {"prolog_wait_seconds": 15},
                    "nodes": {"manage": True, "not_ready_after": 3, "max_gone_percent": 100},
                },
            },
        )
        use_cgroups(self, CONF)
        for name, text in (("prolog", PROLOG), ("epilog", EPILOG)):
            script = self.dir / name
            script.write_text(text.format(dir=self.dir))
            script.chmod(0o755)

    def start_kubernetes(self):
        super().start_kubernetes()
        self.plane.kube.create(kwok_node(NODE, 2, "8Gi"))
        self.plane.wait_ready(NODE)

    def start_agent(self):
        super().start_agent()
        _wait_state(self, "IDLE")  # slurmctld was restarted for the external node


if __name__ == "__main__":
    run(_Hybrid)
