#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends, limits and preemption as accounting records them: a real slurmdbd with enforced QOS and
associations. Every end is checked in Kubernetes, scontrol, squeue and sacct. Two nodes of 8 CPUs;
jobs run as nobody in the account kube.
"""
import re
import time

from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import (
    Sight,
    agreed,
    bound,
    deleted,
    disruption,
    fill,
    free,
    gone,
    job_in_state,
    jobs_by_uid,
    only_job,
    sacct_agrees,
    uid_of,
    wait_no_live_jobs,
    wait_reason,
)
from lib.kube import condition
from lib.kubelets import end_pod

START_LIMIT = 15  # seconds; limits.start_seconds
GRACE = 2  # seconds; GraceTime of the QOS low


def _pod(name, cpu=1, qos="normal", run_time=None, **kwok):
    life = {
        **({"run": run_time} if run_time else {}),
        **{k.replace("_", "-"): v for k, v in kwok.items()},
    }
    return pod(name, cpu=cpu, kwok=life, annotations={"slurm-kube.io/qos": qos})


def _make(bed, *words, **options):
    return bed.kube.create(_pod(*words, **options))


def _running(bed, *words, **options):
    made = _make(bed, *words, **options)
    bed.kube.wait_phase(made["metadata"]["name"], "Running")
    return made


def _pending(bed, *words, **options):
    made = _make(bed, *words, **options)
    return made, job_in_state(bed, made, "PENDING")["JobId"]


def _drop(bed, *names):
    for name in names:
        bed.kube.delete("Pod", name)
    for name in names:
        bed.kube.wait_gone(name)
    wait_no_live_jobs(bed)


def test_ends_of_containers(bed):
    """Exit codes 0 and n, and signals: the pod's result, and its record."""
    for name, code, state, seen in (
        ("zero", 0, "COMPLETED", "0:0"),
        ("seven", 7, "FAILED", "7:0"),
        ("highest", 255, "FAILED", "255:0"),
        ("killed", 137, "FAILED", "0:9"),
        ("faulty", 139, "FAILED", "0:11"),
        ("startless", 128, "FAILED", "128:0"),
    ):
        made = _make(bed, name, run_time="10ms", exit_code=code)
        row = agreed(bed, made, state, seen)
        equal((row["User"], row["Account"]), ("nobody", "kube"))


def test_out_of_memory_is_a_state_of_its_own(bed):
    """OOMKilled: OUT_OF_MEMORY 0:125."""
    agreed(
        bed,
        _make(bed, "greedy", run_time="10ms", exit_code=137, container_reason="OOMKilled"),
        "OUT_OF_MEMORY",
        "0:125",
    )


def test_pod_that_never_starts_is_given_up(bed):
    """An image that never arrives. The pod gets a condition and an event, is deleted, and the job
    is FAILED 125:0. A pod that starts slowly is not affected.
    """
    slow = _make(bed, "slow", run_time="10ms", start="1s")
    stuck = _make(bed, "stuck", start="1h")
    bed.kube.wait_gone("stuck")
    agreed(bed, stuck, "FAILED", "125:0")
    said = condition(Sight(bed, "stuck", deleted).pod, "slurm-kube.io/StartLimit")
    equal((said["status"], said["reason"]), ("True", "SlurmStartLimit"))
    assert f"within {START_LIMIT} s" in said["message"] and "node-" in said["message"], said
    equal(
        [p for _, _, p in bed.kube.events_of("stuck") if condition(p, "DisruptionTarget")],
        [],
        "DisruptionTarget, which a Job may ignore",
    )
    events = wait_for(
        lambda: [e for e in bed.kube.list("Event") if e["reason"] == "SlurmStartLimit"], "the event"
    )
    equal((events[0]["regarding"]["name"], events[0]["note"]), ("stuck", said["message"]))
    agreed(bed, slow, "COMPLETED", "0:0")


def test_deadline_of_the_pod(bed):
    """activeDeadlineSeconds: the kubelet ends the pod with the reason DeadlineExceeded, which is
    TIMEOUT in Slurm.
    """
    made = _make(bed, "late", run_time="10ms", exit_code=137, reason="DeadlineExceeded")
    agreed(bed, made, "TIMEOUT", "0:0")


def test_deadline_beside_overtimelimit(bed):
    """Where jobs may run over their limit, Slurm gives no TIMEOUT before that time, which may be
    unlimited. The pod has ended, so its job ends, too.
    """
    bed.slurm.run("scontrol", "update", "PartitionName=kube", "OverTimeLimit=UNLIMITED")
    try:
        made = _make(bed, "later", run_time="10ms", exit_code=137, reason="DeadlineExceeded")
        agreed(bed, made, "FAILED", "0:9")
    finally:
        bed.slurm.run("scontrol", "update", "PartitionName=kube", "OverTimeLimit=0")


def test_time_limit_of_slurm(bed):
    """Slurm's time limit: TIMEOUT, and the pod gets the reason. The test moves the job's end
    closer, instead of waiting a minute.
    """
    made = _running(bed, "long", stop="1s")
    number = only_job(bed, made)["JobId"]
    bed.slurm.run(
        "scontrol", "update", f"JobId={number}", "EndTime=now+10seconds"
    )  # slurmctld refuses an end in the past
    bed.kube.wait_gone("long", timeout=120)
    agreed(bed, made, "TIMEOUT", "0:0")
    assert "time limit reached" in disruption(bed, "long")["message"]


def test_scancel_by_the_owner_and_by_root(bed):
    """sacct shows which user cancelled the job."""
    for name, user, uid in (("by-owner", "nobody", 65534), ("by-root", None, 0)):
        made = _running(bed, name, stop="1s")
        bed.slurm.run("scancel", only_job(bed, made)["JobId"], user=user)
        bed.kube.wait_gone(name)
        row = agreed(bed, made, "CANCELLED", "0:0")
        equal(row["StateText"], f"CANCELLED by {uid}")
        equal(disruption(bed, name)["reason"], "SlurmJobEnded")


def test_scancel_by_the_owner_of_a_pending_job(bed):
    """The job never ran: its record has no node, and the pod is deleted with the reason."""
    fill(bed, "holds", 8, 2)
    made, number = _pending(bed, "unwanted", 8)
    bed.slurm.run("scancel", number, user="nobody")
    bed.kube.wait_gone("unwanted")
    row = agreed(bed, made, "CANCELLED", "0:0")
    equal((row["StateText"], row["NodeList"]), ("CANCELLED by 65534", "None assigned"))
    assert number in condition(Sight(bed, "unwanted", gone).pod, "DisruptionTarget")["message"]
    _drop(bed, "holds-0", "holds-1")


def test_scancel_by_a_stranger_is_refused(bed):
    """Another user's scancel changes nothing."""
    made = _running(bed, "guarded")
    number = only_job(bed, made)["JobId"]
    bed.slurm.run("scancel", number, user="daemon", check=False)
    bed.slurm.run("scancel", "--signal=USR1", number)
    equal(only_job(bed, made)["JobState"], "RUNNING")
    equal(bed.slurm.node(only_job(bed, made)["NodeList"])["State"].split("+")[0], "MIXED")
    _drop(bed, "guarded")


def test_preemption_by_qos_with_grace(bed):
    """PreemptMode=CANCEL with GraceTime: the job of the pod with low priority is PREEMPTED after
    its grace time and the pod deleted; then the other pod runs.
    """
    low = [_running(bed, f"low-{i}", 8, "low", stop="1s") for i in range(2)]
    high = _make(bed, "high", 8, "high", run_time="100ms")
    t0 = time.monotonic()
    bed.kube.wait_phase("high", "Succeeded", timeout=60)
    assert time.monotonic() - t0 > GRACE, "no grace was given"
    agreed(bed, high, "COMPLETED", "0:0")
    victims = [p for p in low if only_job(bed, p)["JobState"] != "RUNNING"]
    equal(len(victims), 1, "victims")
    name = victims[0]["metadata"]["name"]
    agreed(bed, victims[0], "PREEMPTED", "0:0")
    assert "preempted" in disruption(bed, name)["message"]
    assert Sight(bed, name, free).place < Sight(bed, "high", bound).place
    _drop(bed, *(p["metadata"]["name"] for p in low if p is not victims[0]))


def test_preemption_by_requeue_makes_a_new_pod(bed):
    """PreemptMode=REQUEUE cannot requeue a job without a script: the job is PREEMPTED, the
    Kubernetes Job creates a new pod, and that pod waits in the queue.
    """
    manifest = job(
        "again", 2, cpu=8, kwok={"run": "1h"}, annotations={"slurm-kube.io/qos": "again"}
    )
    manifest["spec"]["backoffLimit"] = 6
    bed.kube.create(manifest)
    bed.kube.wait(
        lambda: [p["status"].get("phase") for p in bed.kube.pods("again-").values()]
        == ["Running"] * 2,
        "both to run",
    )
    first = {uid_of(p) for p in bed.kube.pods("again-").values()}
    high = _make(bed, "higher", 8, "high", run_time="2s")
    bed.kube.wait_phase("higher", "Succeeded", timeout=60)

    def whole_again():
        now = {
            uid_of(p): p
            for p in bed.kube.pods("again-").values()
            if p["status"].get("phase") == "Running"
        }
        return now if len(now) == 2 and set(now) != first else None

    now = wait_for(whole_again, "a new pod to run in place of the victim", 60)
    (victim,) = first - set(now)
    (heir,) = set(now) - first
    for uid, state in ((victim, "PREEMPTED"), (heir, "RUNNING")):
        wait_for(
            lambda u=uid, s=state: [j["JobState"] for j in jobs_by_uid(bed)[u]] == [s],
            f"the one job of {uid} to be {state}",
        )
    agreed(bed, high, "COMPLETED", "0:0")
    bed.kube.delete("Job", "again")
    wait_no_live_jobs(bed)


def test_updates_of_a_pending_job(bed):
    """scontrol update: time limit and priority are up to Slurm, a node list is honoured, but a job
    cannot be made smaller than its pod's requests.
    """
    fill(bed, "full", 8, 2)
    made, number = _pending(bed, "changed", 2, run_time="10ms")
    bed.slurm.run("scontrol", "update", f"JobId={number}", "TimeLimit=77", "ReqNodeList=node-1")
    bed.slurm.run("scontrol", "update", f"JobId={number}", "Priority=99999")
    equal(
        {k: only_job(bed, made)[k] for k in ("TimeLimit", "Priority")},
        {"TimeLimit": "01:17:00", "Priority": "99999"},
    )
    at_home = [p for p in bed.kube.pods("full-").values() if p["spec"]["nodeName"] == "node-1"][0][
        "metadata"
    ]["name"]
    other = "full-0" if at_home == "full-1" else "full-1"
    _delete_and_wait(bed, other)
    equal(only_job(bed, made)["JobState"], "PENDING")
    _delete_and_wait(bed, at_home)
    equal(bed.kube.wait_phase("changed", "Succeeded")["spec"]["nodeName"], "node-1")
    agreed(bed, made, "COMPLETED", "0:0")


def _delete_and_wait(bed, name):
    bed.kube.delete("Pod", name)
    bed.kube.wait_gone(name)


def test_requeue_is_refused(bed):
    """scontrol requeue of a job without a script: Slurm refuses it, pending or running, and nothing
    changes.
    """
    made = _running(bed, "kept", 8)
    _running(bed, "fills", 8)
    waiter, number = _pending(bed, "kept-waiting", 8)
    for n in (only_job(bed, made)["JobId"], number):
        for verb in ("requeue", "requeuehold"):
            said = _refusal(bed, verb, n)
            assert said, f"scontrol {verb} {n} was accepted"
    equal(
        (only_job(bed, made)["JobState"], only_job(bed, waiter)["JobState"]), ("RUNNING", "PENDING")
    )
    equal(bed.kube.pods()["kept"]["status"]["phase"], "Running")
    _drop(bed, "kept", "kept-waiting", "fills")


def _refusal(bed, *words):
    """The error text of scontrol, or an empty string."""
    try:
        bed.slurm.run("scontrol", *words)
        return ""
    except RuntimeError as e:
        return str(e)


def test_suspend_and_resume(bed):
    """scontrol suspend: the job is SUSPENDED, but the pod continues, because nothing here can stop
    it; resume restores the job. The node stays usable.
    """
    made = _running(bed, "paused", 8)
    number = only_job(bed, made)["JobId"]
    home = only_job(bed, made)["NodeList"]
    print(
        "# suspend:",
        _refusal(bed, "suspend", number) or "accepted",
        only_job(bed, made)["JobState"],
        bed.slurm.node(home)["State"],
        flush=True,
    )
    print(
        "# resume:",
        _refusal(bed, "resume", number) or "accepted",
        only_job(bed, made)["JobState"],
        bed.slurm.node(home)["State"],
        flush=True,
    )
    equal(bed.kube.pods()["paused"]["status"]["phase"], "Running")
    _drop(bed, "paused")
    agreed(bed, made, "CANCELLED", "0:0")
    wait_for(lambda: bed.slurm.node(home)["State"].startswith("IDLE"), f"{home} to be idle")


def test_suspended_pod_that_ends(bed):
    """The pod ends while its job is suspended: the job gets the true result, and the node
    is free.
    """
    made = _running(bed, "asleep", 8)
    number = only_job(bed, made)["JobId"]
    _refusal(bed, "suspend", number)
    end_pod(bed, "asleep", 5)
    agreed(bed, made, "FAILED", "5:0")
    after = _make(bed, "after-sleep", 8, run_time="10ms")
    agreed(bed, after, "COMPLETED", "0:0")


def test_suspended_job_cannot_give_its_cpus_away(bed):
    """Slurm gives a suspended job's CPUs to other jobs, but the pod still uses them. The next pod
    must therefore wait.
    """
    first = [_running(bed, f"sleeps-{i}", 8) for i in range(2)]
    next_pod, _ = _pending(bed, "impatient", 8, run_time="10ms")
    _refusal(bed, "suspend", only_job(bed, first[0])["JobId"])
    _refusal(bed, "suspend", only_job(bed, first[1])["JobId"])
    print("# the next:", only_job(bed, next_pod)["JobState"], flush=True)
    wait_reason(bed, "impatient", "SlurmPending")
    assert not bed.kube.pods()["impatient"]["spec"].get("nodeName")
    _delete_and_wait(bed, "sleeps-0")
    bed.kube.wait_phase("impatient", "Succeeded")
    agreed(bed, next_pod, "COMPLETED", "0:0")
    _drop(bed, "sleeps-1")


def test_eviction(bed):
    """As with kubectl drain: the eviction API deletes the pod, and the job is CANCELLED when the
    pod has ended.
    """
    made = _running(bed, "evicted", stop="300ms")
    bed.kube.request(
        "POST",
        bed.kube.path("Pod", "evicted", "eviction"),
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "evicted", "namespace": "default"},
        },
    )
    bed.kube.wait_gone("evicted")
    agreed(bed, made, "CANCELLED", "0:0")
    equal(disruption(bed, "evicted")["reason"], "EvictionByEvictionAPI")


def test_pressure_eviction(bed):
    """A kubelet short of memory ends the pod itself: Failed, reason Evicted. Its containers were
    killed: 0:9.
    """
    agreed(
        bed,
        _make(bed, "pressed", run_time="10ms", exit_code=137, reason="Evicted"),
        "FAILED",
        "0:9",
    )


def test_namespace_deletion(bed):
    """kubectl delete namespace deletes running and waiting pods; all jobs end CANCELLED."""
    bed.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "doomed"}})
    bed.plane.default_account("doomed")
    made = []
    for name in ("one", "two", "three"):
        manifest = _pod(name, 8)
        manifest["metadata"]["namespace"] = "doomed"
        made.append(bed.kube.create(manifest))
    wait_for(
        lambda: sorted(only_job(bed, m)["JobState"] for m in made)
        == ["PENDING", "RUNNING", "RUNNING"],
        "two to run and one to wait",
    )
    bed.kube.request("DELETE", "/api/v1/namespaces/doomed")
    wait_no_live_jobs(bed)
    for m in made:
        agreed(bed, m, "CANCELLED", "0:0")


def test_limit_of_running_jobs(bed):
    """QOS MaxJobsPerUser=1: the second pod waits with Slurm's reason, and runs when the first has
    ended.
    """
    first = _running(bed, "single", qos="one")
    second = _make(bed, "queued", qos="one", run_time="10ms")
    wait_reason(bed, "queued", "SlurmPending", "QOSMaxJobsPerUserLimit")
    _drop_one(bed, "single", first)
    agreed(bed, second, "COMPLETED", "0:0")


def _drop_one(bed, name, made):
    _delete_and_wait(bed, name)
    agreed(bed, made, "CANCELLED", "0:0")


def test_limit_of_resources(bed):
    """QOS GrpTRES=cpu=4: a pod beyond that waits with Slurm's reason, and runs when there
    is room.
    """
    first = _running(bed, "three-cpus", 3, "four")
    second = _make(bed, "two-cpus", 2, "four", run_time="10ms")
    wait_reason(bed, "two-cpus", "SlurmPending", "QOSGrpCpuLimit")
    _drop_one(bed, "three-cpus", first)
    agreed(bed, second, "COMPLETED", "0:0")


def test_limit_of_the_association(bed):
    """GrpTRES of the account in the cluster: AssocGrpCpuLimit. The administrator raises it while
    the pod waits.
    """
    bed.slurm.accounting.sacctmgr("modify", "account", "kube", "set", "GrpTRES=cpu=2")
    try:
        made = _make(bed, "associated", 3, run_time="10ms")
        wait_reason(bed, "associated", "SlurmPending", "AssocGrpCpuLimit")
    finally:
        bed.slurm.accounting.sacctmgr("modify", "account", "kube", "set", "GrpTRES=cpu=-1")
    agreed(bed, made, "COMPLETED", "0:0", timeout=90)


def test_limit_of_submitted_jobs(bed):
    """QOS MaxSubmitJobsPerUser=1: Slurm refuses the second job. The pod reports that, the agent
    retries, and the pod runs when there is room.
    """
    first = _running(bed, "only", qos="few")
    second = _make(bed, "refused-for-now", qos="few", run_time="10ms")
    text = wait_reason(bed, "refused-for-now", "SlurmRetrying")
    assert "limit" in text.lower() or "policy" in text.lower(), text
    equal(bed.slurm.job_of_pod(uid_of(second)), [])
    _drop_one(bed, "only", first)
    agreed(bed, second, "COMPLETED", "0:0", timeout=60)


def test_unknown_qos_and_account_are_refused(bed):
    """A QOS and an account that the namespace may use but Slurm does not know: the pod is refused
    with the reason.
    """
    made = _make(bed, "wrong-qos", qos="forgotten")
    assert "qos" in wait_reason(bed, "wrong-qos", "SlurmRefused").lower()
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    _delete_and_wait(bed, "wrong-qos")


def _native(bed, *options):
    return int(
        bed.slurm.run(
            "sbatch", *options, "--partition=native", "--output=/dev/null", "--chdir=/tmp"
        ).split()[-1]
    )


def test_native_job_depends_on_a_pod(bed):
    """sbatch --dependency=afterok:POD starts when the pod ends with 0, afternotok when it does not;
    the other one never runs.
    """
    good, bad = _running(bed, "good"), _running(bed, "bad")
    ids = {name: only_job(bed, m)["JobId"] for name, m in (("good", good), ("bad", bad))}
    after = {
        (kind, name): _native(
            bed, f"--dependency={kind}:{ids[name]}", "--kill-on-invalid-dep=no", "--wrap=true"
        )
        for kind in ("afterok", "afternotok")
        for name in ids
    }
    for waiting in after.values():
        equal(bed.slurm.jobs()[waiting]["JobState"], "PENDING")
    end_pod(bed, "good")
    end_pod(bed, "bad", 1)
    agreed(bed, good, "COMPLETED", "0:0")
    agreed(bed, bad, "FAILED", "1:0")
    bed.slurm.wait_job(after["afterok", "good"], "COMPLETED")
    bed.slurm.wait_job(after["afternotok", "bad"], "COMPLETED")
    for never in (("afternotok", "good"), ("afterok", "bad")):
        wait_for(
            lambda never=never: bed.slurm.jobs()[after[never]]["Reason"]
            == "DependencyNeverSatisfied",
            f"{never} never to start",
        )
        bed.slurm.run("scancel", str(after[never]))


def test_pod_depends_on_a_native_job(bed):
    """scontrol update Dependency= of a pending placeholder: the pod waits with Slurm's reason, and
    starts when the native job has succeeded.
    """
    fill(bed, "before", 8, 2)
    made, number = _pending(bed, "dependent", 1, run_time="10ms")
    flag = bed.dir / "native-may-end"
    native = _native(bed, f"--wrap=until [ -e {flag} ]; do sleep 0.1; done")
    bed.slurm.run("scontrol", "update", f"JobId={number}", f"Dependency=afterok:{native}")
    for i in range(2):
        _delete_and_wait(bed, f"before-{i}")
    wait_reason(bed, "dependent", "SlurmPending", "Dependency")
    equal(only_job(bed, made)["JobState"], "PENDING")
    flag.touch()
    bed.slurm.wait_job(native, "COMPLETED")
    agreed(bed, made, "COMPLETED", "0:0", timeout=60)


def test_pod_depends_on_what_fails(bed):
    """The native job fails: the pod's job never starts, and the pod reports that and waits for its
    owner.
    """
    fill(bed, "until", 8, 2)
    made, number = _pending(bed, "hopeless", 1)
    native = _native(bed, "--hold", "--wrap=exit 1")
    bed.slurm.run("scontrol", "update", f"JobId={number}", f"Dependency=afterok:{native}")
    bed.slurm.run("scontrol", "release", str(native))
    bed.slurm.wait_job(native, "FAILED")
    wait_reason(bed, "hopeless", "SlurmPending", "DependencyNeverSatisfied", timeout=60)
    equal(only_job(bed, made)["JobState"], "PENDING")
    _drop(bed, "hopeless", "until-0", "until-1")
    agreed(bed, made, "CANCELLED", "0:0")


def test_stage_latencies_are_counted(bed):
    """skube diag: the latency of every stage has been measured by then, and none is
    unreasonable.
    """
    bed.plane.kubectl("cordon", "node-0")
    wait_for(lambda: "DRAIN" in bed.slurm.node("node-0")["State"], "node-0 to be drained")
    bed.plane.kubectl("uncordon", "node-0")
    wait_for(lambda: "DRAIN" not in bed.slurm.node("node-0")["State"], "node-0 to be back")
    never = lambda: [
        name for name, e in bed.agent.skube("diag")["stage_latencies"].items() if not e["count"]
    ]  # noqa: E731
    wait_for(lambda: never() == [], "every edge to have a count")
    stage_latencies = bed.agent.skube("diag")["stage_latencies"]
    print(
        "# p50, p99, max in ms: "
        + ", ".join(
            f"{n} {e['p50_ms']:.1f} {e['p99_ms']:.1f} {e['max_ms']:.1f}"
            for n, e in stage_latencies.items()
        ),
        flush=True,
    )
    text = bed.agent.skube_text("diag")
    for name in stage_latencies:
        assert re.search(rf"^\s*{name}\s+\d+", text, re.M), f"{name} is not in skube diag:\n{text}"


def test_sacct_agrees_about_all_jobs(bed):
    """Over all these tests, state and exit code of every job of ours are the same in scontrol and
    in the database.
    """
    wait_no_live_jobs(bed)
    assert sacct_agrees(bed) > 40


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


def _bed(build):
    qos = ["normal", "low", "high", "again", "one", "four", "few", "forgotten"]
    bed = Cluster(
        build,
        kwok=2,
        cpus=8,
        accounting="associations,limits,qos",
        slurm_options={
            "extra": [
                "PreemptType=preempt/qos",
                "PreemptMode=REQUEUE",
                "PreemptExemptTime=00:00:00",
                "SchedulerParameters=bf_interval=2,sched_interval=5",
            ]
        },
        agent_options={
            "namespaces": [
                {
                    "name": "*",
                    "user": "nobody",
                    "group": "nogroup",
                    "accounts": ["kube"],
                    "qos": qos,
                }
            ],
            "settings": {"limits": {"condition_interval_seconds": 1, "start_seconds": START_LIMIT}},
        },
    )
    bed.slurm.accounting.setup = [
        ("add", "qos", "low", f"GraceTime={GRACE}", "PreemptMode=cancel"),
        ("add", "qos", "again", "PreemptMode=requeue"),
        ("add", "qos", "high", "Preempt=low,again", "Priority=1000"),
        ("add", "qos", "one", "MaxJobsPerUser=1"),
        ("add", "qos", "four", "GrpTRES=cpu=4"),
        ("add", "qos", "few", "MaxSubmitJobsPerUser=1"),
        ("modify", "user", "nobody", "set", "qos=" + ",".join(qos[:-1])),
    ]
    return bed


if __name__ == "__main__":
    run(_bed)
