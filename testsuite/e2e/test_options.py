#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of pods: scontrol shows the effect of each, bad ones are refused on the pod, and none
extends what the namespace may do.
"""
import re
import time

from lib import Cluster, equal, job, pod, run, wait_for, workloads
from lib.expect import job_in_state, only_job, uid_of, wait_no_live_jobs, wait_reason
from lib.waiting import LIMIT

OURS = "slurm-kube.io/"
NODES, CPUS = 3, 8

# option: value, what scontrol show job shows (a regular expression for the whole value)
SEEN = {
    "account": ("shared", {"Account": "shared"}),
    "begin": ("2037-01-02T03:04:05", {"StartTime": "2037-01-02T03:04:05"}),
    "comment": ("two words", {"Comment": "two words"}),
    "constraints": ("kube&kube", {"Features": "kube&kube"}),
    "contiguous": ("true", {"Contiguous": "1"}),
    "core-spec": ("1", {"CoreSpec": "1"}),
    "cpu-per-task": ("2500m", {"CPUs/Task": "3", "NumCPUs": "3"}),
    "current-working-dir": ("/home/nobody", {"WorkDir": "/home/nobody"}),
    "deadline": ("2037-01-02T03:04:05", {"Deadline": "2037-01-02T03:04:05"}),
    "delay-boot": ("5", {"DelayBoot": "00:05:00"}),
    "excluded-nodes": ("{node0}", {"ExcNodeList": "{node0}"}),
    "exclusive": ("user", {"OverSubscribe": "USER"}),
    "group-id": ("{gid}", {"GroupId": r"nogroup\({gid}\)"}),
    "hold": ("true", {"Reason": "JobHeldUser", "Priority": "0"}),
    "job-name": ("fit", {"JobName": "fit"}),
    "kill-on-invalid-dep": ("yes", {"KillOInInvalidDependent": "Yes"}),
    "licenses": ("abaqus:2", {"Licenses": "abaqus:2"}),
    "mail-type": ("BEGIN,TIME_LIMIT_80", {"MailType": "BEGIN,TIME_LIMIT_80"}),
    "mail-user": ("a@b.example", {"MailUser": "a@b.example"}),
    "mem-per-node": ("1Gi", {"MinMemoryNode": "1G"}),
    "nice": ("-7", {"Nice": "-7"}),
    "partition": ("other", {"Partition": "other"}),
    "prefer": ("kube", {"Prefer": "kube"}),
    "required-nodes": ("{node1}", {"ReqNodeList": "{node1}"}),
    "reservation": ("night", {"Reservation": "night"}),
    "switches": ("1@3", {"Switches": "1@00:03:00"}),
    "threads-per-core": ("1", {"ReqB:S:C:T": "0:0:\\*:1"}),
    "time-min": ("7", {"TimeMin": "00:07:00"}),
    "timelimit": ("01:30:00", {"TimeLimit": "01:30:00"}),
    "user-id": ("{uid}", {"UserId": r"nobody\({uid}\)"}),
    "wckey": ("project", {"WCKey": "project"}),
}
# scontrol shows these only together with others
BESIDE = {"mail-user": {OURS + "mail-type": "END"}}
# the first Slurm version that has the option; scontrol does not show segment
SINCE = {"extra": ("23.02", "some text", {"Extra": "some text"}), "segment": ("24.05", "1", {})}
# tested by their effect, or only in clusters made for them
ELSEWHERE = {
    "end-together": "test_unlike",
    "gang": "test_gangs",
    "job": "test_native_pods",
    "pods-per-node": "test_gangs",
    "dependency": "test_dependency_waits_for_a_native_job",
    "priority": "test_jobs.py",
    "qos": "test_identity.py",
    "gres": "test_gres_and_cpus_per_gpu",
    "cpus-per-gpu": "test_gres_and_cpus_per_gpu",
    "burst-buffer": "refused: no plugin here",
    "mcs-label": "refused: no plugin here",
    "thread-spec": "test_thread_spec",
    "min-nodes": "test_one_pod_has_one_node",
    "max-nodes": "test_one_pod_has_one_node",
    "spread-job": "no word of it in scontrol: test_spread_and_use_min_nodes_are_accepted",
    "use-min-nodes": "no word of it in scontrol: test_spread_and_use_min_nodes_are_accepted",
}


def _version(text):
    return tuple(map(int, text.split(".")))


def _filled(bed, text):
    return (
        text.replace("{node0}", bed.names[0])
        .replace("{node1}", bed.names[1])
        .replace("{uid}", "65534")
        .replace("{gid}", "65534")
    )


def _held(bed, name, annotations, **options):
    return bed.kube.create(pod(name, annotations={OURS + "hold": "true", **annotations}, **options))


def _seen_as(bed, made, wanted, timeout=LIMIT):
    """Waits until scontrol shows these values for the pending job."""
    wait_for(
        lambda: _shown(bed, made, wanted) or True,
        f"the job of {made['metadata']['name']} to be {wanted}",
        timeout,
    )


def _shown(bed, made, wanted):
    job = only_job(bed, made)
    equal(job["JobState"], "PENDING")
    if "Exclusive" in job and wanted.get("OverSubscribe") == "USER":  # a separate field since 26.05
        wanted = {**wanted, "OverSubscribe": "NO", "Exclusive": "USER"}
    if (
        "KillOnInvalidDependent" in job and "KillOInInvalidDependent" in wanted
    ):  # older versions have this misspelling
        wanted = {"KillOnInvalidDependent": wanted["KillOInInvalidDependent"]}
    wrong = {
        k: job.get(k)
        for k, v in wanted.items()
        if not re.fullmatch(_filled(bed, v), job.get(k, ""))
    }
    assert not wrong, f"{wrong} instead of {wanted}: {job}"


def _forget(bed, *names):
    for name in names:
        bed.kube.delete("Pod", name)
    for name in names:
        bed.kube.wait_gone(name)


def test_the_list_is_complete(bed):
    """Every option that the program knows is in one of these lists."""
    known = {
        line.split()[0]
        for line in bed.agent.skube_text("explain", "options").partition("\n\n")[0].splitlines()[1:]
    }
    equal(known, set(SEEN) | set(SINCE) | set(ELSEWHERE))


def test_every_option_is_seen_in_slurm(bed):
    """One held pod per option: scontrol shows the requested value."""
    asked = dict(SEEN)
    if bed.slurm.number >= (26,):  # nobody may have none there
        del asked["reservation"]
    else:
        bed.slurm.run(
            "scontrol",
            "create",
            "reservation",
            "ReservationName=night",
            "Users=nobody",
            "StartTime=now+365days",
            "Duration=60",
            "Nodes=ALL",
            "Flags=IGNORE_JOBS",
        )
    made = {
        option: _held(
            bed, f"seen-{option}", {OURS + option: _filled(bed, value), **BESIDE.get(option, {})}
        )
        for option, (value, _) in asked.items()
    }
    wrong = []
    for option, (_, wanted) in asked.items():
        try:
            _seen_as(bed, made[option], wanted)
        except AssertionError as error:
            wrong.append(f"{option}: {error}")
    assert not wrong, "\n".join(wrong)
    _forget(bed, *(f"seen-{option}" for option in asked))
    wait_no_live_jobs(bed)
    if "reservation" in asked:
        bed.slurm.run("scontrol", "delete", "ReservationName=night")


def test_options_of_later_versions_are_refused_before(bed):
    """An option that this Slurm does not have is reported, not ignored."""
    for option, (since, value, wanted) in SINCE.items():
        made = _held(bed, f"since-{option}", {OURS + option: value})
        if bed.slurm.number >= _version(since):
            _seen_as(bed, made, wanted)
        else:
            text = wait_reason(bed, f"since-{option}", "SlurmRefused")
            assert option in text and since in text, text
        _forget(bed, f"since-{option}")


def test_the_sbatch_string(bed):
    """Words are split as by a shell, with short and long options; the same words are given to
    sbatch for comparison.
    """
    made = bed.kube.create(
        pod(
            "words",
            annotations={
                OURS
                + "sbatch": (
                    "-H -t 10 --licenses abaqus:1 -J 'a b' --comment=\"it's\" --mem=300 -x"
                    f" {bed.names[0]} --exclusive=user --nice"
                )
            },
        )
    )
    _seen_as(
        bed,
        made,
        {
            "TimeLimit": "00:10:00",
            "Licenses": "abaqus:1",
            "JobName": "a b",
            "Comment": "it's",
            "MinMemoryNode": "300M",
            "ExcNodeList": bed.names[0],
            "OverSubscribe": "USER",
            "Nice": "100",
        },
    )
    _forget(bed, "words")


def test_aliases_of_the_rivals(bed):
    """Unchanged manifests of slurm-bridge and of SUNK; their times have different units."""
    bridge, sunk = "slurmjob.slinky.slurm.net/", "sunk.coreweave.com/"
    one = _held(
        bed,
        "bridge",
        {
            bridge + k: v
            for k, v in {
                "timelimit": "60",
                "job-name": "fit",
                "mem-per-node": "256Mi",
                "cpu-per-task": "2",
                "licenses": "abaqus",
                "partition": "other",
                "exclusive": "true",
            }.items()
        },
    )
    other = _held(
        bed,
        "sunk",
        {
            sunk + k: v
            for k, v in {
                "timeout": "3600",
                "comment": "hello",
                "exclusive": "none",
                "excluded-nodes": bed.names[0],
                "current-working-dir": "/data",
                "constraints": "kube",
                "lock": "false",
            }.items()
        },
    )
    _seen_as(
        bed,
        one,
        {
            "TimeLimit": "01:00:00",
            "JobName": "fit",
            "MinMemoryNode": "256M",
            "NumCPUs": "2",
            "Licenses": "abaqus.*",
            "Partition": "other",
            "OverSubscribe": "NO",
        },
    )
    _seen_as(
        bed,
        other,
        {
            "TimeLimit": "01:00:00",
            "Comment": "hello",
            "OverSubscribe": "NO",
            "ExcNodeList": bed.names[0],
            "WorkDir": "/data",
            "Features": "kube",
        },
    )
    _forget(bed, "bridge", "sunk")


# name: (annotations, texts in the condition)
REFUSED = {
    "typo": ({OURS + "licences": "abaqus"}, ["licences", "abaqus", "licenses"]),
    "alias-typo": (
        {"sunk.coreweave.com/time-limit": "3"},
        ["sunk.coreweave.com/time-limit", "timelimit"],
    ),
    "time": ({OURS + "begin": "soon"}, ["begin", "soon", "now+2hours"]),
    "smaller": ({OURS + "mem-per-node": "1Mi"}, ["mem-per-node", "1Mi", "give 64Mi"]),
    "array": ({OURS + "sbatch": "--array=1-5"}, [OURS + "sbatch", "--array", "Indexed"]),
    "quote": ({OURS + "sbatch": "--comment='x"}, [OURS + "sbatch", "not closed"]),
    "disagree": (
        {"sunk.coreweave.com/timeout": "60", "slurmjob.slinky.slurm.net/timelimit": "60"},
        ["sunk.coreweave.com/timeout", "something else"],
    ),
    "not-mine": ({OURS + "partition": "native"}, ["partition", "native", "kube, other"]),
    "root": ({OURS + "user-id": "0"}, ["user-id", "65534"]),
    "root-by-words": ({OURS + "sbatch": "--uid=0"}, ["--uid", "65534"]),
    "nobodys-reservation": ({OURS + "reservation": "secret"}, ["reservation", "secret", "night"]),
    "burst": ({OURS + "burst-buffer": "x"}, ["burst-buffer", "BurstBufferType"]),
    "mcs": ({OURS + "mcs-label": "x"}, ["mcs-label", "MCSPlugin"]),
    # only slurmctld can detect these
    "no-feature": ({OURS + "constraints": "nonesuch"}, ["constraints='nonesuch'"]),
    "no-license": ({OURS + "licenses": "nonesuch:1"}, ["licenses='nonesuch:1'"]),
    "host-bomb": (
        {OURS + "excluded-nodes": "a" + 8 * "[1-9]"},
        ["excluded-nodes", "pairs of brackets"],
    ),
    "no-node": ({OURS + "required-nodes": "nonesuch"}, ["required-nodes='nonesuch'"]),
    "no-gres": ({OURS + "gres": "nonesuch:1"}, ["gres='nonesuch:1'"]),
    "no-dependency": ({OURS + "dependency": "nonsense:1"}, ["dependency='nonsense:1'"]),
}


def test_bad_options_are_refused_on_the_pod(bed):
    """The condition has key, value and remedy, and there is no job in Slurm."""
    made = {
        name: bed.kube.create(pod(f"bad-{name}", annotations=annotations))
        for name, (annotations, _) in REFUSED.items()
    }
    wrong = []
    for name, (_, parts) in REFUSED.items():
        text = wait_reason(bed, f"bad-{name}", "SlurmRefused")
        wrong += [f"{name}: {text}" for part in parts if part not in text]
    assert not wrong, "\n".join(wrong)
    live = [
        name
        for name, p in made.items()
        if any(j["JobState"] == "PENDING" for j in bed.slurm.job_of_pod(uid_of(p)))
    ]
    equal(live, [])
    _forget(bed, *(f"bad-{name}" for name in REFUSED))


def test_what_operators_may_needs_a_permission(bed):
    """The agent submits with SlurmUser's privileges. It must therefore itself refuse what Slurm
    would refuse a user.
    """
    bed.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "plain"}})
    bed.plane.default_account("plain")
    for option, value, part in (
        ("priority", "5", "may_set_priority"),
        ("nice", "-1", "negative"),
        ("burst-buffer", "x", "may_use_burst_buffer"),
        ("reservation", "night", "allowed: none"),
        ("wckey", "project", "allowed: none"),
    ):
        manifest = pod(f"may-{option}", annotations={OURS + option: value})
        manifest["metadata"]["namespace"] = "plain"
        bed.kube.create(manifest)
        text = wait_reason(bed, f"plain/may-{option}", "SlurmRefused")
        assert part in text, text
    for option in ("priority", "nice", "burst-buffer", "reservation", "wckey"):
        bed.kube.delete("Pod", f"plain/may-{option}")


def test_dependency_waits_for_a_native_job(bed):
    """afterok with a native job: the pod waits for that job and runs when it has succeeded."""
    number = bed.slurm.run(
        "sbatch", "--parsable", "-p", "native", "-o", "/dev/null", "--hold", "--wrap", "true"
    ).strip()
    made = bed.kube.create(
        pod("after", annotations={OURS + "dependency": f"afterok:{number}"}, kwok={"run": "100ms"})
    )
    _seen_as(bed, made, {"Reason": "Dependency", "Dependency": rf"afterok:{number}\(unfulfilled\)"})
    bed.slurm.run("scontrol", "release", number)
    bed.kube.wait_phase("after", "Succeeded", timeout=60)
    job_in_state(bed, made, "COMPLETED")


def test_one_pod_has_one_node(bed):
    """min-nodes and max-nodes of slurm-bridge: 1 is what a pod has anyway, more is refused."""
    made = _held(
        bed,
        "one",
        {"slurmjob.slinky.slurm.net/min-nodes": "1", "slurmjob.slinky.slurm.net/max-nodes": "1"},
    )
    _seen_as(bed, made, {"NumNodes": "1(-1)?"})
    bed.kube.create(pod("two", annotations={"slurmjob.slinky.slurm.net/min-nodes": "2"}))
    assert "min-nodes" in wait_reason(bed, "two", "SlurmRefused")
    _forget(bed, "one", "two")


def test_spread_and_use_min_nodes_are_accepted(bed):
    made = _held(bed, "spread", {OURS + "spread-job": "true", OURS + "use-min-nodes": "true"})
    job_in_state(bed, made, "PENDING")
    _forget(bed, "spread")


def test_thread_spec(bed):
    made = _held(bed, "threads", {OURS + "thread-spec": "2"})
    _seen_as(bed, made, {"ThreadSpec": "2"})
    _forget(bed, "threads")


def test_gres_and_cpus_per_gpu(bed):
    """GPUs of nodes in another partition: requested there, and shown."""
    made = _held(
        bed, "gpu", {OURS + "gres": "gpu:1", OURS + "cpus-per-gpu": "2", OURS + "partition": "gpus"}
    )
    _seen_as(bed, made, {"TresPerNode": "gres[:/]gpu:1", "CpusPerTres": "gres[:/]gpu:2"})
    _forget(bed, "gpu")


def test_exclusive_keeps_others_out(bed):
    """A pod of one CPU that wants its node alone: no other pod comes to that node, and a pod that
    shares nodes is not held up.
    """
    alone = bed.kube.create(
        pod(
            "alone", annotations={OURS + "exclusive": "true", OURS + "required-nodes": bed.names[0]}
        )
    )
    bed.kube.wait_phase("alone", "Running")
    other = bed.kube.create(pod("beside", annotations={OURS + "required-nodes": bed.names[0]}))
    _seen_as(bed, other, {"JobState": "PENDING"})
    bed.kube.delete("Pod", "alone")
    bed.kube.wait_phase("beside", "Running")
    equal(job_in_state(bed, alone, "CANCELLED")["NumCPUs"], str(CPUS))
    _forget(bed, "beside")


def _annotate(bed, name, **options):
    """None removes an option."""
    bed.kube.patch(
        "Pod",
        name,
        {"metadata": {"annotations": {OURS + k.replace("_", "-"): v for k, v in options.items()}}},
    )


def test_a_change_of_options_changes_the_job(bed):
    """kubectl annotate while the job is pending: options are set, changed and removed, and what
    scontrol set for other options stays.
    """
    made = _held(bed, "change", {OURS + "timelimit": "10", OURS + "licenses": "abaqus:1"})
    job = job_in_state(bed, made, "PENDING")["JobId"]
    _seen_as(bed, made, {"TimeLimit": "00:10:00", "Licenses": "abaqus:1"})
    updated = bed.agent.skube("diag")["counters"]["updated"]
    bed.slurm.run("scontrol", "update", f"JobId={job}", "Nice=77")
    _annotate(
        bed,
        "change",
        timelimit="20",
        comment="new words",
        licenses=None,
        excluded_nodes=bed.names[0],
    )
    _seen_as(
        bed,
        made,
        {
            "TimeLimit": "00:20:00",
            "Licenses": r"(\(null\))?",
            "Comment": "new words",
            "ExcNodeList": bed.names[0],
            "Nice": "77",
            "JobId": job,
        },
    )
    _annotate(bed, "change", sbatch="--dependency=afterany:999999 -t 30", timelimit=None)
    _seen_as(bed, made, {"TimeLimit": "00:30:00"})
    wait_for(
        lambda: bed.agent.skube("diag")["counters"]["updated"] == updated + 2,
        "skube diag to count both changes",
    )


def test_a_change_that_is_not_possible_is_said(bed):
    """The change is invalid, refused by Slurm, or not possible: the job keeps its former options,
    and the pod reports that. After the change is reverted, the report disappears.
    """
    made = _held(bed, "stays", {OURS + "timelimit": "10"})
    job_in_state(bed, made, "PENDING")
    for change, part in (
        ({"timelimit": "soon"}, "soon"),
        ({"timelimit": "10", "gres": "gpu:1"}, "cannot be changed while the job waits: "),
        ({"gres": None, "licenses": "nonesuch:1"}, "nonesuch"),
        ({"licenses": None, "timelimit": None}, "timelimit cannot be taken back"),
    ):
        _annotate(bed, "stays", **change)
        text = wait_reason(bed, "stays", "SlurmPending", part)
        assert "keeps the options" in text, text
    _annotate(bed, "stays", timelimit="10")
    wait_reason(bed, "stays", "SlurmPending", "is pending: JobHeldUser")
    _seen_as(bed, made, {"TimeLimit": "00:10:00", "Licenses": r"(\(null\))?"})
    _forget(bed, "stays")


def test_a_change_while_the_agent_is_away(bed):
    """The marker records which options the job has: after a restart the agent sends nothing again,
    except a change made meanwhile.
    """
    made = _held(bed, "away", {OURS + "timelimit": "10"})
    job = job_in_state(bed, made, "PENDING")["JobId"]
    bed.slurm.run("scontrol", "update", f"JobId={job}", "TimeLimit=15")
    before = bed.slurm.rpcs().get("REQUEST_UPDATE_JOB", 0)
    bed.agent.restart()
    later = bed.kube.create(pod("later", kwok={"run": "100ms"}))
    bed.kube.wait_phase("later", "Succeeded")
    job_in_state(bed, later, "COMPLETED")
    time.sleep(3)  # the agent looks at the nodes of all pending jobs within a second
    equal(
        bed.slurm.rpcs().get("REQUEST_UPDATE_JOB", 0),
        before,
        "updates by an agent that has just started",
    )
    _seen_as(bed, made, {"TimeLimit": "00:15:00"})
    bed.agent.stop()
    _annotate(bed, "away", comment="meanwhile")
    bed.agent.start()
    _seen_as(bed, made, {"Comment": "meanwhile", "TimeLimit": "00:10:00"})
    _forget(bed, "away", "later", "change")


def test_a_change_of_an_owners_options_changes_the_jobs(bed):
    """Annotations of a Deployment whose pods wait, and of an Indexed Job, which is a gang; a pod's
    own options take precedence.
    """
    options = {OURS + "hold": "true", OURS + "timelimit": "10", OURS + "licenses": "abaqus:1"}
    template = workloads.template(
        labels={"app": "passes-on"}, restart="Always", annotations={OURS + "comment": "its own"}
    )
    workloads.create(
        bed,
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "passes-on", "annotations": options},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "passes-on"}},
                "template": template,
            },
        },
    )
    gang = job("passes-on-gang", 2, indexed=True)
    gang["metadata"]["annotations"] = options
    gang = bed.kube.create(gang)
    bed.kube.wait(lambda: len(bed.kube.pods("passes-on-")) == 4, "the pods to be made")
    alone = [p for name, p in bed.kube.pods("passes-on-").items() if "gang" not in name]
    for made in (*alone, gang):
        _seen_as(bed, made, {"TimeLimit": "00:10:00", "Licenses": "abaqus:1"})
    change = {
        "metadata": {
            "annotations": {
                OURS + "timelimit": "20",
                OURS + "licenses": None,
                OURS + "comment": "of the owner",
                OURS + "nice": "5",
            }
        }
    }
    workloads.change(bed, "Deployment", "passes-on", change)
    workloads.change(bed, "Job", "passes-on-gang", change)
    later = {"TimeLimit": "00:20:00", "Nice": "5"}
    for made in alone:  # the Deployment's ReplicaSet keeps a copy of a removed annotation
        _seen_as(bed, made, {**later, "Comment": "its own"}, 120)
    _seen_as(bed, gang, {**later, "Comment": "of the owner", "Licenses": r"(\(null\))?"}, 120)
    for kind, name in (("Deployment", "passes-on"), ("Job", "passes-on-gang")):
        workloads.delete(bed, kind, name)
    bed.kube.wait(lambda: not bed.kube.pods("passes-on-"), "the pods to go", 60)


def test_hold_is_let_go_by_annotation(bed):
    made = bed.kube.create(pod("held", annotations={OURS + "hold": "true"}, kwok={"run": "100ms"}))
    _seen_as(bed, made, {"Reason": "JobHeldUser"})
    _annotate(bed, "held", hold="false")
    bed.kube.wait_phase("held", "Succeeded")
    job_in_state(bed, made, "COMPLETED")


def test_check_names_partitions_open_to_native_jobs(bed):
    def line():
        return next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == "kube.conf")

    conf = bed.slurm.dir / "kube.conf"
    good = conf.read_text()
    wait_for(
        lambda: "Partitions=kube,gpus leaves out other:" in line()["text"],
        "skube check to name the partition",
    )
    assert not line()["ok"] and "add other to Partitions" in line()["remedy"], line()
    conf.write_text(good.replace("kube,gpus", "kube,gpus,other"))
    bed.slurm.reconfigure()
    wait_for(
        lambda: line()["ok"] and "Partitions=kube,gpus,other" in line()["text"],
        "skube check to find it kept",
    )
    conf.write_text(good)
    bed.slurm.reconfigure()
    wait_for(lambda: not line()["ok"], "skube check to find it open again")


def test_nothing_is_left(bed):
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=NODES,
            cpus=CPUS,
            slurm_options={
                "pod_partitions": "kube,gpus",
                "extra": [
                    "PartitionName=other Nodes=kube DefMemPerCPU=100",
                    (
                        "NodeName=gpunode NodeAddr=127.0.0.1 CPUs=8 RealMemory=4000 Gres=gpu:2"
                        " State=DOWN"
                    ),
                    "PartitionName=gpus Nodes=gpunode",
                    "Licenses=abaqus:4",
                    "GresTypes=gpu",
                    "AllowSpecResourcesUsage=YES",
                    "TrackWCKey=YES",
                ],
            },
            agent_options={
                "namespaces": [
                    {
                        "name": "default",
                        "user": "nobody",
                        "group": "nogroup",
                        "accounts": ["users", "shared"],
                        "partitions": ["kube", "other", "gpus"],
                        "permissions": ["may_set_priority", "may_use_burst_buffer"],
                        "reservations": ["night"],
                        "wckeys": ["*"],
                    },
                    {"name": "plain", "user": "nobody"},
                ],
                "settings": {"limits": {"condition_interval_seconds": 1}},
            },
        )
    )
