#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What autoscalers make of pods that run through Slurm, by Karpenter's own functions and
cluster-autoscaler's rules (lib/autoscalers.py): a running pod keeps its node, and a waiting pod
never asks for one. Two nodes of 8 CPUs; jobs run as nobody, with enforced limits.

Each verdict is compared with the one on the same pod without our annotations, or with the reason of
kube-scheduler, which must differ. So no case passes because a rule always says the same.
"""
import copy
import re

from lib import Cluster, equal, job, pod, run, wait_for
from lib.autoscalers import DO_NOT_DISRUPT, SAFE_TO_EVICT, karpenter_says, verdicts
from lib.expect import uid_of, wait_no_live_jobs
from lib.kube import condition

OURS = "slurm-kube.io/"


def _without_annotations(made):
    bare = copy.deepcopy(made)
    for key in (SAFE_TO_EVICT, DO_NOT_DISRUPT):
        bare["metadata"]["annotations"].pop(key, None)
    return bare


def _unschedulable(made):
    """As kube-scheduler would report it."""
    told = copy.deepcopy(made)
    told["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    ]
    return told


def _differ(pods, field, value):
    """The names of pods of which an autoscaler does not say so."""
    return [
        f"{made['metadata']['name']} ({who}: {said})"
        for made, by in zip(pods, verdicts(pods))
        for who, said in by.items()
        if getattr(said, field) != value
    ]


def _keep_their_nodes(pods):
    equal(_differ(pods, "keeps", True), [], "pods that lose their node")
    bare = [_without_annotations(made) for made in pods]
    equal(_differ(bare, "keeps", False), [], "without annotations")


def _ask_for_no_node(pods):
    equal(_differ(pods, "asks", False), [], "pods that ask for a node")
    equal(_differ([_unschedulable(made) for made in pods], "asks", True), [], "with Unschedulable")


def _gang(name, pods, cpu, **options):
    return job(name, pods, indexed=True, cpu=cpu, kwok={"run": "1h"}, **options)


def _made(bed, manifest, are_ready):
    """Creates a pod, or a Job with its pods, and waits until they are ready; returns the pods as
    the API server has them. It may refuse a pod until it has seen a new PriorityClass.
    """
    name, count = manifest["metadata"]["name"], manifest["spec"].get("completions", 1)
    wait_for(lambda: bed.kube.create(manifest), f"{name} to be admitted")

    def look():
        found = [made for n, made in bed.kube.pods(name).items() if _is_of(n, name)]
        assert len(found) == count and all(map(are_ready, found)), [
            (made["status"].get("phase"), condition(made, "PodScheduled")) for made in found
        ]
        return found

    return wait_for(look, f"{name} to be as the case needs it")


def _is_of(pod_name, name):
    return pod_name == name or pod_name.startswith(name + "-")


def _running(bed, manifest):
    return _made(bed, manifest, lambda made: made["status"].get("phase") == "Running")


def _waiting(bed, manifest, pattern):
    """pattern: what the condition's message says. The verdicts go by the reason."""

    def says(made):
        said = condition(made, "PodScheduled")
        return said.get("status") == "False" and re.search(pattern, said.get("message", ""))

    return _made(bed, manifest, says)


def _drop(bed, *manifests):
    for manifest in manifests:
        bed.kube.delete(manifest["kind"], manifest["metadata"]["name"])
    wait_no_live_jobs(bed)


def test_running_pods_keep_their_node(bed):
    """A single pod and the pods of a gang. The drain of a node evicts none, and waits for all."""
    manifests = [pod("single"), _gang("ranks", 3, 2)]
    pods = [made for manifest in manifests for made in _running(bed, manifest)]
    _keep_their_nodes(pods)
    bare = [_without_annotations(made) for made in pods]
    for changed, is_evictable in ((pods, False), (bare, True)):
        said = {(v["evictable"], v["awaited"]) for v in karpenter_says(changed)}
        equal(said, {(is_evictable, True)})
    _drop(bed, *manifests)


def test_users_decide_otherwise(bed):
    """A value of the user's own stays, and the autoscaler obeys it."""
    for name, own, karpenter, autoscaler in (
        ("movable", {DO_NOT_DISRUPT: "false"}, False, True),
        ("for-an-hour", {DO_NOT_DISRUPT: "1h"}, True, True),
        ("evictable", {SAFE_TO_EVICT: "true"}, True, False),
        ("to-its-end", {SAFE_TO_EVICT: "on-completion"}, True, True),
    ):
        manifest = pod(name, annotations=own)
        equal(_kept_by(_running(bed, manifest)), (karpenter, autoscaler), name)
        _drop(bed, manifest)


def _kept_by(pods):
    """Whether Karpenter and cluster-autoscaler leave the node of the only pod."""
    (said,) = verdicts(pods)
    return said["karpenter"].keeps, said["cluster-autoscaler"].keeps


def test_cluster_autoscaler_ignores_pods_of_low_priority(bed):
    """doc/user.md: no annotation protects a pod whose priority is below -10."""
    for name, value, autoscaler in (("low", -10, True), ("lowest", -11, False)):
        bed.kube.request(
            "POST",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"metadata": {"name": name}, "value": value},
        )
        manifest = pod(name, spec={"priorityClassName": name})
        equal(_kept_by(_running(bed, manifest)), (True, autoscaler), name)
        _drop(bed, manifest)


def test_finished_pods_keep_no_node(bed):
    """Succeeded and Failed, with their annotations: the node may go, and nothing is evicted."""
    for name, code, phase in (("good", 0, "Succeeded"), ("bad", 3, "Failed")):
        manifest = pod(name, kwok={"run": "10ms", "exit-code": code})
        pods = _made(bed, manifest, lambda made, p=phase: made["status"].get("phase") == p)
        equal(pods[0]["metadata"]["annotations"].get(DO_NOT_DISRUPT), "true")
        equal(_differ(pods, "keeps", False), [], "pods that keep their node")
        equal(_differ(pods, "asks", False), [], "pods that ask for a node")
        (said,) = karpenter_says(pods)
        equal((said["evictable"], said["awaited"]), (False, False))
        _drop(bed, manifest)


def _limited(native_job):
    """(manifest, pattern) of pods that a limit or a wish holds back."""

    def waits(name, cpu, pattern, **own):
        return pod(name, cpu, annotations={OURS + k: v for k, v in own.items()}), pattern

    return [
        waits("group", 5, "QOSGrpCpuLimit", qos="four"),
        waits("user", 3, "QOSMaxCpuPerUserLimit", qos="two"),
        waits("account", 3, "AssocGrpCpuLimit", account="narrow"),
        waits("partition", 1, "PartitionTimeLimit", partition="short", timelimit="30"),
        waits("held", 1, "JobHeldUser", qos="few", hold="true"),
        waits("submitted", 1, "limit|policy", qos="few"),
        waits("begin", 1, "BeginTime", begin="now+1hour"),
        waits("after", 1, "Dependency", dependency=f"afterok:{native_job}"),
        (_gang("crowd", 3, 2, annotations={OURS + "qos": "four"}), "QOSGrpCpuLimit"),
    ]


def test_pods_that_limits_hold_ask_for_no_node(bed):
    """Limits of QOS, user, account and partition, a held job, a limit on submitted jobs, a begin
    time, a dependency, and a gang over a limit. Both nodes are idle.
    """
    held = ("sbatch", "--parsable", "-p", "native", "-o", "/dev/null", "--hold", "--wrap=true")
    number = bed.slurm.run(*held).strip()
    rows = _limited(number)
    _ask_for_no_node([made for row in rows for made in _waiting(bed, *row)])
    bed.slurm.run("scancel", number)
    _drop(bed, *(row[0] for row in rows))


def test_pods_that_wait_for_room_ask_for_no_node(bed):
    """All nodes are full. Pods that wait for resources ask for no node either: slurm-kube(7),
    "While a pod waits".
    """
    full = [pod("full-0", cpu=8), pod("full-1", cpu=8)]
    for manifest in full:
        _running(bed, manifest)
    waiting = [pod("next", cpu=4), pod("behind", cpu=4), _gang("wide", 2, 8)]
    pods = [made for manifest in waiting for made in _waiting(bed, manifest, "Resources|Priority")]
    _ask_for_no_node(pods)
    _drop(bed, *waiting, *full)


def test_pods_without_a_job_ask_for_no_node(bed):
    """A pod that is refused, one and a gang that are too large, one without its volume claim, and
    one that Kueue or another controller holds by a scheduling gate.
    """
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "missing"}}]
    rows = (
        (pod("refused", annotations={OURS + "no-such-option": "1"}), "no-such-option"),
        (pod("too-large", cpu=9), "asks for 9 CPUs"),
        (_gang("too-wide", 3, 6), "the largest node has"),
        (pod("no-claim", spec={"volumes": volumes}), "missing"),
        (pod("gated", spec={"schedulingGates": [{"name": "x.io/y"}]}), "gate"),
    )
    _ask_for_no_node([made for row in rows for made in _waiting(bed, *row)])
    _drop(bed, *(row[0] for row in rows))


def test_no_pod_ever_asked_or_was_unprotected(bed):
    """All versions of all pods, also of earlier cases, as the API server sent them: none ever asked
    for a node, and each kept its node from its binding to its end, unless its user or its priority
    had decided otherwise.
    """
    manifest = pod("lives", kwok={"run": "500ms"})
    (made,) = _made(bed, manifest, lambda made: made["status"].get("phase") == "Succeeded")
    with bed.kube.changed:
        seen = [one for _, _, one in bed.kube.history["Pod"]]
    kept = [one for one in seen if _must_keep(one)]
    phases = {one["status"]["phase"] for one in kept if uid_of(one) == uid_of(made)}
    equal(phases, {"Pending", "Running"})
    equal(_differ(seen, "asks", False), [], "pods that ask for a node")
    equal(_differ(kept, "keeps", True), [], "pods that lose their node")
    _drop(bed, manifest)


def _must_keep(made):
    return (
        made["spec"].get("nodeName")
        and "deletionTimestamp" not in made["metadata"]
        and made["status"]["phase"] in ("Pending", "Running")
        and made["metadata"]["name"] not in ("movable", "evictable", "lowest")
    )


def test_the_reason_of_another_scheduler_is_replaced(bed):
    """A pod that waits gets the condition Unschedulable, as from a scheduler that had it before.
    The autoscalers see that until the agent writes its own reason again.
    """
    manifest, ours = pod("other", annotations={OURS + "hold": "true"}), "JobHeldUser"
    (made,) = _waiting(bed, manifest, ours)
    status = {"conditions": _unschedulable(made)["status"]["conditions"]}
    told = bed.kube.patch("Pod", "other", {"status": status}, "status")
    equal(_differ([told], "asks", True), [], "pods with Unschedulable")
    (mended,) = wait_for(lambda: _with_reason(bed, "SlurmPending"), "the agent's own reason")
    assert ours in condition(mended, "PodScheduled")["message"], mended["status"]
    _ask_for_no_node([mended])
    _drop(bed, manifest)


def _with_reason(bed, reason):
    """The pod of the case above as the API server has it now: a watch may be behind."""
    seen = bed.kube.get("Pod", "other")
    return [seen] if condition(seen, "PodScheduled").get("reason") == reason else None


def _bed(build):
    bed = Cluster(
        build,
        kwok=2,
        cpus=8,
        accounting="associations,limits,qos",
        slurm_options={
            "extra": [
                "SchedulerParameters=bf_interval=2,sched_interval=5",
                "PartitionName=short Nodes=kube DefMemPerCPU=100 MaxTime=10",
            ]
        },
        agent_options={
            "namespaces": [
                {
                    "namespace": "default",
                    "user": "nobody",
                    "group": "nogroup",
                    "accounts": ["kube", "narrow"],
                    "qos": ["normal", "four", "two", "few"],
                    "partitions": ["kube", "short"],
                }
            ],
            "settings": {"limits": {"condition_interval_seconds": 1}},
        },
    )
    bed.slurm.accounting.setup = [
        ("add", "qos", "four", "GrpTRES=cpu=4"),
        ("add", "qos", "two", "MaxTRESPerUser=cpu=2"),
        ("add", "qos", "few", "MaxSubmitJobsPerUser=1"),
        ("add", "account", "narrow"),
        ("add", "user", "nobody", "account=narrow"),
        ("modify", "account", "narrow", "set", "GrpTRES=cpu=2"),
        ("modify", "user", "nobody", "set", "qos=normal,four,two,few"),
    ]
    return bed


if __name__ == "__main__":
    run(_bed)
