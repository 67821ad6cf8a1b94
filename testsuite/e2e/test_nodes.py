#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes: Slurm uses a node according to its state in Kubernetes, and keeps the states that
administrators have set.
"""
import re
import signal
import time
from contextlib import contextmanager

from lib import Cluster, equal, pod, run, wait_for
from lib.cluster import claim_ports
from lib.control_plane import ControlPlane
from lib.expect import fill, job_in_state, number_of, uid_of, wait_no_live_jobs, wait_reason
from lib.kubelets import end_pod, not_ready
from lib.process import SOURCE

OURS = "slurm-kube: "


def _state(bed, name, *flags, reason=""):
    """Waits until a node's State has exactly these flags (apart from those that tell how it was
    created), and the reason. A node in use may show an old reason: 24.11 without accounting never
    clears it.
    """

    def seen():
        node = bed.slurm.node(name)
        words = set(node["State"].rstrip("*").split("+")) - {
            "CLOUD",
            "DYNAMIC_NORM",
            "POWERED_ON",
            "EXTERNAL",
        }
        assert words == set(flags), f"{name} is {node['State']} {node.get('Reason', '')}"
        assert node.get("Reason", "").startswith(reason), node.get("Reason", "")
        return node

    return wait_for(seen, f"{name} to be {'+'.join(flags)} {reason}")


def _cordon(bed, name, on=True):
    bed.plane.kubectl("cordon" if on else "uncordon", name)


def _set_features(bed, name, features):
    """Both lists at once: since 24.11 the active ones must be among those that are available."""
    kinds = (f"AvailableFeatures={features}", f"ActiveFeatures={features}")
    bed.slurm.run("scontrol", "update", f"NodeName={name}", *kinds)


@contextmanager
def _not_ready(bed, *names):
    """Freezes kwok meanwhile, which would report Ready at once."""
    bed.plane.freeze("kwok")
    try:
        for name in names:
            not_ready(bed, name)
        yield
    finally:
        bed.plane.thaw("kwok")
        for name in names:
            bed.plane.wait_ready(name)


def test_node_is_as_large_as_kubernetes_says(bed):
    """CPUs and memory of allocatable, our feature, and an address that needs no resolver."""
    node = _state(bed, "node-0", "IDLE")
    equal((node["CPUTot"], node["RealMemory"], node["ActiveFeatures"]), ("8", "16384", "kube"))
    equal(node["NodeAddr"], "127.0.0.1")


def test_cordoned_node_is_drained_and_comes_back(bed):
    """kubectl cordon: DRAIN with our reason; uncordon: the former state."""
    _cordon(bed, "node-0")
    _state(bed, "node-0", "IDLE", "DRAIN", reason=OURS + "cordoned")
    _cordon(bed, "node-0", False)
    _state(bed, "node-0", "IDLE")


def test_annotations_of_slinky(bed):
    """The cordon's reason is the drain's; names become features of new node lines, and what Slurm
    could misread is left out.
    """
    reason, partitions = (
        "nodeset.slinky.slurm.net/node-cordon-reason",
        "scheduler.slinky.slurm.net/external-node-partitions",
    )
    spec = "features.slinky.slurm.net/spec"
    bed.plane.kubectl(
        "annotate",
        "node",
        "node-0",
        reason + "=GPU ECC error\nNodeName=x",
        partitions + "=slurm-bridge,a State=DOWN,kube-beta",
        spec + "=switch=s1",
    )
    _cordon(bed, "node-0")
    _state(bed, "node-0", "IDLE", "DRAIN", reason=OURS + "cordoned: GPU ECC error?NodeName=x")
    _cordon(bed, "node-0", False)
    _state(bed, "node-0", "IDLE")
    line = next(
        one
        for one in bed.agent.skube_text("nodes", "--slurm-conf").splitlines()
        if one.startswith("NodeName=node-0 ")
    )
    equal(re.findall(r"Feature=(\S*)", line), ["kube,slurm-bridge,k8s/switch=s1"], line)
    equal(re.findall(r"State=(\S*)", line), ["UNKNOWN"], line)
    _set_features(bed, "node-0", "kube,k8s/switch=s1")
    bed.kube.create(
        pod(
            "by-feature",
            kwok={"run": "10ms"},
            annotations={"slurm-kube.io/constraints": "k8s/switch=s1"},
        )
    )
    equal(bed.kube.wait_phase("by-feature", "Succeeded")["spec"]["nodeName"], "node-0")
    wait_no_live_jobs(bed, 60)
    _set_features(bed, "node-0", "kube")
    bed.plane.kubectl("annotate", "node", "node-0", reason + "-", partitions + "-", spec + "-")


def test_node_whose_record_lost_its_feature_takes_no_more_pods(bed):
    """slurmctld gives such a node to pods, but does not show it: a pod gives it back once, and says
    so; no other pod gets the node before its record is right again.
    """
    pods = fill(bed, "beside", 8, 3)
    name = next(n for n, p in bed.kube.pods("beside-").items() if p["spec"]["nodeName"] == "node-1")
    bed.kube.delete("Pod", name)
    bed.kube.wait_gone(name)
    _state(bed, "node-1", "IDLE")
    _set_features(bed, "node-1", "other")
    wait_for(lambda: not _check(bed, "nodes")["ok"], "skube check to miss the node")
    made = bed.kube.create(pod("misled", cpu=8, kwok={"run": "10ms"}))
    text = "has node node-1, which is no external node of this Kubernetes cluster"
    wait_reason(bed, "misled", "SlurmPending", text)
    wait_reason(bed, "misled", "SlurmPending", "is pending", timeout=120)
    warned = bed.kube.create(pod("warned", cpu=8, kwok={"run": "10ms"}))

    def excluded(one):
        jobs = bed.slurm.job_of_pod(uid_of(one))
        return [j["ExcNodeList"] for j in jobs if j["JobState"] == "PENDING"]

    wait_for(lambda: excluded(made) == excluded(warned) == ["node-1"], "the node to be excluded")
    equal(len(bed.slurm.job_of_pod(uid_of(made))), 2)
    _set_features(bed, "node-1", "kube")
    for waits in ("misled", "warned"):
        equal(bed.kube.wait_phase(waits, "Succeeded")["spec"]["nodeName"], "node-1")
    for p in pods:
        if p["metadata"]["name"] != name:
            bed.kube.delete("Pod", p["metadata"]["name"])
    wait_no_live_jobs(bed)


def test_cordon_spares_the_running_pod(bed):
    """The pod on the node ends in its own time, new ones go elsewhere."""
    pods = {f"spread-{i}": bed.kube.create(pod(f"spread-{i}", cpu=8)) for i in range(3)}
    for name in pods:
        bed.kube.wait_phase(name, "Running")
    name = next(n for n, p in bed.kube.pods("spread-").items() if p["spec"]["nodeName"] == "node-1")
    _cordon(bed, "node-1")
    _state(bed, "node-1", "ALLOCATED", "DRAIN", reason=OURS)
    equal(job_in_state(bed, pods[name], "RUNNING", "CANCELLED", "NODE_FAIL")["JobState"], "RUNNING")
    bed.kube.delete("Pod", name)
    _state(bed, "node-1", "IDLE", "DRAIN", reason=OURS)
    waits = bed.kube.create(pod("elsewhere", cpu=8, kwok={"run": "10ms"}))
    wait_reason(bed, "elsewhere", "SlurmPending", "is pending")
    _cordon(bed, "node-1", False)
    equal(bed.kube.wait_phase("elsewhere", "Succeeded")["spec"]["nodeName"], "node-1")
    job_in_state(bed, waits, "COMPLETED")
    for n in pods:
        if n != name:
            bed.kube.delete("Pod", n)
    wait_no_live_jobs(bed)


def test_tainted_node_is_drained_and_comes_back(bed):
    """A taint that keeps pods off also keeps jobs off."""
    bed.plane.kubectl("taint", "node", "node-0", "site/repair=yes:NoSchedule")
    _state(bed, "node-0", "IDLE", "DRAIN", reason=OURS + "taint site/repair")
    bed.plane.kubectl("taint", "node", "node-0", "site/repair-")
    _state(bed, "node-0", "IDLE")


def test_a_problem_of_a_node_drains_it(bed):
    """As node-problem-detector reports it; a condition that no list names is none."""
    bed.plane.freeze("kwok")  # it would write the node's conditions again
    try:
        for kind, status in (("Harmless", "True"), ("KernelDeadlock", "True")):
            _condition(bed, "node-0", kind, status)
        _state(bed, "node-0", "IDLE", "DRAIN", reason=OURS + "condition KernelDeadlock DockerHung")
        _condition(bed, "node-0", "KernelDeadlock", "False")
        _state(bed, "node-0", "IDLE")
    finally:
        bed.plane.thaw("kwok")


def _condition(bed, node, kind, status):
    """Adds the condition to the others, or changes it."""
    one = {"type": kind, "status": status, "reason": "DockerHung"}
    bed.kube.request(
        "PATCH",
        bed.kube.path("Node", node, "status"),
        {"status": {"conditions": [one]}},
        "application/strategic-merge-patch+json",
    )


def test_not_ready_node_is_down_and_comes_back(bed):
    """NotReady keeps new jobs off at once; after not_ready_after the node is DOWN. Ready restores
    the former state.
    """
    with _not_ready(bed, "node-0"):
        _down(bed, "node-0")
        wait_for(
            lambda: bed.slurm.node("node-0")["Reason"].startswith(OURS + "NotReady"), "the reason"
        )
    _state(bed, "node-0", "IDLE")


def _down(bed, name):
    wait_for(lambda: bed.slurm.node(name)["State"].startswith("DOWN"), f"{name} to be DOWN")


@contextmanager
def _agent_frozen(bed):
    bed.agent.daemon.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        bed.agent.daemon.signal(signal.SIGCONT)


def test_allocation_on_a_node_that_stays_away_is_given_back(bed):
    """More nodes are NotReady than the agent accepts as lost, so that it ends no job because of
    that. A running pod continues; a pod that got its node too late is charged for it for at most a
    minute.
    """
    runs = fill(bed, "runs", 8, 3)
    name, lost = next(
        (n, p) for n, p in bed.kube.pods("runs-").items() if p["spec"]["nodeName"] == "node-1"
    )
    waits = bed.kube.create(pod("held", cpu=8))
    first = number_of(job_in_state(bed, waits, "PENDING"))
    wait_reason(bed, "held", "SlurmPending", "is pending")
    with _agent_frozen(bed):
        bed.plane.freeze("kwok")
        for i in range(3):
            not_ready(bed, f"node-{i}")
        bed.slurm.run("scancel", job_in_state(bed, lost, "RUNNING")["JobId"])
        bed.slurm.wait_job(first, "RUNNING")
    try:
        wait_reason(
            bed,
            "held",
            "SlurmPending",
            f"job {first} has node node-1, which is not Ready in Kubernetes",
        )
        bed.slurm.wait_job(first, "FAILED", timeout=90)
        wait_reason(bed, "held", "SlurmPending", "is pending")
        equal([j["JobState"] for j in bed.slurm.job_of_pod(uid_of(waits))], ["FAILED", "PENDING"])
        for made in runs:
            if made["metadata"]["name"] != name:
                _lives_on(bed, made)
    finally:
        bed.plane.thaw("kwok")
        for i in range(3):
            bed.plane.wait_ready(f"node-{i}")
    bed.kube.wait_gone(name)
    # The last nodes to come back are few enough to count as lost, so their pods may have been
    # deleted, and their nodes be free, too.
    where = bed.kube.wait_phase("held", "Running")["spec"]["nodeName"]
    taken = {
        p["spec"]["nodeName"]
        for p in bed.kube.pods("runs-").values()
        if "deletionTimestamp" not in p["metadata"]
    }
    assert where not in taken, (where, taken)
    bed.plane.kubectl(
        "delete", "pod", "--ignore-not-found", "--wait=false", "held", *bed.kube.pods("runs-")
    )
    wait_no_live_jobs(bed)
    for i in range(3):
        _state(bed, f"node-{i}", "IDLE")


def test_drain_by_an_administrator_stays(bed):
    """The agent does not undo an administrator's drain: not after uncordon, not when the node is
    Ready again, and not after its own restart.
    """
    bed.slurm.run("scontrol", "update", "NodeName=node-2", "State=DRAIN", "Reason=bad disk")
    _cordon(bed, "node-2")
    bed.kube.wait(
        lambda: bed.kube.now["Node"]["node-2"]["spec"].get("unschedulable"), "node-2 to be cordoned"
    )
    _cordon(bed, "node-2", False)
    bed.agent.restart()
    _others_moved(bed)
    _state(bed, "node-2", "IDLE", "DRAIN", reason="bad disk")
    with _not_ready(bed, "node-2", "node-1"):
        _down(bed, "node-1")
        _state(bed, "node-2", "IDLE", "DRAIN", reason="bad disk")
    _state(bed, "node-1", "IDLE")
    _others_moved(bed)
    _state(bed, "node-2", "IDLE", "DRAIN", reason="bad disk")
    _resume(bed, "node-2")


def _resume(bed, name):
    bed.slurm.run("scontrol", "update", f"NodeName={name}", "State=RESUME")
    _state(bed, name, "IDLE")


def test_drained_node_that_is_lost_fails_its_job(bed):
    """An administrator has drained the node, its pod still runs, then the node becomes NotReady:
    the job must end. The node keeps the administrator's state and reason.
    """
    pods = {p["metadata"]["name"]: p for p in fill(bed, "each", 8, 3)}
    name = next(n for n, p in bed.kube.pods("each-").items() if p["spec"]["nodeName"] == "node-2")
    bed.slurm.run("scontrol", "update", "NodeName=node-2", "State=DRAIN", "Reason=bad disk")
    with _not_ready(bed, "node-2"):
        job_in_state(bed, pods[name], "NODE_FAIL")
        _state(bed, "node-2", "DOWN", "DRAIN", reason="bad disk")
    bed.kube.wait_gone(name)
    _others_moved(bed)
    _state(bed, "node-2", "DOWN", "DRAIN", reason="bad disk")
    for n in pods:
        if n != name:
            bed.kube.delete("Pod", n)
    wait_no_live_jobs(bed)
    _resume(bed, "node-2")


def test_failing_node_that_is_lost_fails_its_job(bed):
    """The same for a node that an administrator has set FAIL."""
    pods = {p["metadata"]["name"]: p for p in fill(bed, "fails", 8, 3)}
    name = next(n for n, p in bed.kube.pods("fails-").items() if p["spec"]["nodeName"] == "node-2")
    bed.slurm.run("scontrol", "update", "NodeName=node-2", "State=FAIL", "Reason=bad fan")
    with _not_ready(bed, "node-2"):
        job_in_state(bed, pods[name], "NODE_FAIL")
    equal(bed.slurm.node("node-2")["Reason"].split(" [")[0], "bad fan")
    bed.kube.wait_gone(name)
    _others_moved(bed)
    for n in pods:
        if n != name:
            bed.kube.delete("Pod", n)
    wait_no_live_jobs(bed)
    _resume(bed, "node-2")


def test_down_by_an_administrator_stays(bed):
    """The same for a node that an administrator has set DOWN."""
    bed.slurm.run("scontrol", "update", "NodeName=node-2", "State=DOWN", "Reason=no power")
    with _not_ready(bed, "node-2"):
        _state(bed, "node-2", "DOWN", reason="no power")
    _others_moved(bed)
    _state(bed, "node-2", "DOWN", reason="no power")
    _resume(bed, "node-2")


def _others_moved(bed):
    """Waits until the agent has handled all earlier changes of nodes: it handles nodes in the order
    in which it hears of them.
    """
    _cordon(bed, "node-0")
    wait_for(lambda: "DRAIN" in bed.slurm.node("node-0")["State"], "node-0 to be drained")
    _cordon(bed, "node-0", False)
    wait_for(lambda: "DRAIN" not in bed.slurm.node("node-0")["State"], "node-0 to be back")


def test_uncordoned_while_the_agent_was_away(bed):
    """The reason in Slurm alone tells that the drain was the agent's."""
    _cordon(bed, "node-1")
    _state(bed, "node-1", "IDLE", "DRAIN", reason=OURS)
    bed.agent.kill9()
    _cordon(bed, "node-1", False)
    bed.agent.start()
    _state(bed, "node-1", "IDLE")


def test_slurmctld_restart_keeps_nodes(bed):
    """Nodes without slurmd are IDLE again within moments, and the drained one is still drained."""
    _cordon(bed, "node-1")
    _state(bed, "node-1", "IDLE", "DRAIN", reason=OURS)
    bed.slurm.restart()
    for name in ("node-0", "node-2"):
        _state(bed, name, "IDLE")
    _state(bed, "node-1", "IDLE", "DRAIN", reason=OURS)
    _cordon(bed, "node-1", False)
    _state(bed, "node-1", "IDLE")


def _check(bed, name):
    return next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == name)


def _follow_the_advice(bed):
    """Follows what skube check and the generated file advise for a node that Slurm does not have;
    slurmctld must survive that.
    """
    advice = wait_for(
        lambda: not (line := _check(bed, "nodes"))["ok"]
        and "big-0" in line["text"]
        and line["remedy"],
        "skube check to miss the node",
    )
    assert (
        "'skube nodes --slurm-conf --output FILE'" in advice
        and "'systemctl restart slurmctld'" in advice
        and "reconfigure" not in advice
    ), advice
    said = bed.agent.skube_text("nodes", "--slurm-conf", "--output", bed.dir / "kube-nodes.conf")
    assert (
        "4 nodes (before: 3)" in said
        and "'systemctl restart slurmctld'"
        in (bed.dir / "kube-nodes.conf").read_text().splitlines()[0]
    ), said
    bed.slurm.restart()


def test_new_node_comes_into_slurm(bed):
    """Automatically if Slurm has dynamic nodes, otherwise after following skube check's advice. A
    pod runs there.
    """
    bed.plane.kwok_nodes(1, cpus=16, prefix="big")
    if not bed.slurm.dynamic_nodes:
        _follow_the_advice(bed)
    for name in ("node-0", "big-0"):
        _state(bed, name, "IDLE")
    wait_for(lambda: _check(bed, "nodes")["ok"], "skube check to find every node in Slurm")
    made = bed.kube.create(pod("needs-big", cpu=12, kwok={"run": "10ms"}))
    equal(bed.kube.wait_phase("needs-big", "Succeeded")["spec"]["nodeName"], "big-0")
    job_in_state(bed, made, "COMPLETED")


def _gone_from_slurm(bed, name):
    if bed.slurm.dynamic_nodes:
        wait_for(lambda: name not in bed.slurm.nodes(), f"{name} to be deleted from Slurm")
    else:
        wait_for(
            lambda: bed.slurm.node(name)["State"].startswith("DOWN")
            and bed.slurm.node(name)["Reason"].startswith(OURS),
            f"{name} to be DOWN",
        )


def _lives_on(bed, made):
    """The pod runs, no deletion was requested, and its job is unchanged."""
    name = made["metadata"]["name"]
    now = bed.kube.get("Pod", name)
    equal(
        (uid_of(now), now["status"]["phase"], now["metadata"].get("deletionTimestamp")),
        (uid_of(made), "Running", None),
    )
    equal(job_in_state(bed, made, "RUNNING", "NODE_FAIL", "CANCELLED")["JobState"], "RUNNING")


def test_node_that_loses_its_label_is_drained_and_its_pod_goes_on(bed):
    """Removing the label ends and deletes nothing; with the label back the node is undrained, and
    the pod still runs.
    """
    made = bed.kube.create(pod("stays", cpu=12))
    equal(bed.kube.wait_phase("stays", "Running")["spec"]["nodeName"], "big-0")
    bed.kube.patch("Node", "big-0", {"metadata": {"labels": {"slurm-kube.io/managed": None}}})
    _state(bed, "big-0", "MIXED", "DRAIN", reason=OURS + "not a managed node")
    _others_moved(bed)
    _lives_on(bed, made)
    bed.kube.patch("Node", "big-0", {"metadata": {"labels": {"slurm-kube.io/managed": "true"}}})
    _state(bed, "big-0", "MIXED")
    _lives_on(bed, made)


def test_restart_with_a_wrong_selector_harms_nobody(bed):
    """The agent sees no node: all nodes are drained, `skube check` reports that, and pods continue.
    With the right selector the former state returns.
    """
    made = bed.kube.get("Pod", "stays")
    names = [f"node-{i}" for i in range(3)] + ["big-0"]
    right = dict(bed.agent.settings["nodes"])
    bed.agent.settings["nodes"] = {**right, "selector": "site/typo"}
    bed.agent.restart()
    for name in names:
        wait_for(
            lambda name=name: "DRAIN" in bed.slurm.node(name)["State"], f"{name} to be drained"
        )

    def told():
        line = next(
            c for c in bed.agent.skube_all("check")["checks"] if c["name"] == "vanished nodes"
        )
        assert (
            not line["ok"] and "exist in Kubernetes without the label site/typo" in line["text"]
        ), line
        return line

    wait_for(told, "skube check to tell")
    _lives_on(bed, made)
    bed.agent.settings["nodes"] = right
    bed.agent.restart()
    for name in names:
        _state(bed, name, "MIXED" if name == "big-0" else "IDLE")
    _lives_on(bed, made)
    bed.kube.delete("Pod", "stays")
    wait_no_live_jobs(bed)


def _another_cluster(bed):
    """Starts another control plane, which has none of our pods, nodes or uids."""
    other = ControlPlane(bed.dir / "cp-other", claim_ports(bed.stack), {"KCM": "0", "KWOK": "0"})
    bed.stack.callback(other.stop)
    other.start()
    return other


def test_kubeconfig_of_another_cluster_harms_nobody(bed):
    """The agent does nothing at all and gives the reason; with the right file, pods and jobs are
    unchanged.
    """
    made = bed.kube.create(pod("elsewhere-runs", cpu=8))
    bed.kube.wait_phase("elsewhere-runs", "Running")
    waits = bed.kube.create(
        pod("elsewhere-waits", cpu=8, annotations={"slurm-kube.io/begin": "now+1hour"})
    )
    jobs = [
        job_in_state(bed, made, "RUNNING")["JobId"],
        job_in_state(bed, waits, "PENDING")["JobId"],
    ]
    other = _another_cluster(bed)
    ours, bed.agent.plane = bed.agent.plane, other
    bed.agent.restart_without_waiting()
    line = wait_for(
        lambda: not (line := _check(bed, "cluster"))["ok"] and "live jobs" in line["text"] and line,
        "skube check to tell of the other cluster",
    )
    assert (
        jobs[0] in line["text"] and jobs[0] in line["remedy"] and "kubeconfig" in line["remedy"]
    ), line
    time.sleep(5)
    equal(bed.agent.skube_all("ping")["ready"], False)
    equal(
        [bed.slurm.jobs()[int(j)]["JobState"] for j in jobs],
        ["RUNNING", "PENDING"],
        "jobs while the agent sees another cluster",
    )
    assert "DRAIN" not in bed.slurm.node("node-0")["State"], bed.slurm.node("node-0")
    bed.agent.plane = ours
    bed.agent.restart()
    equal(_check(bed, "cluster")["ok"], True)
    _lives_on(bed, made)
    equal(
        [bed.slurm.job_of_pod(uid_of(p))[-1]["JobId"] for p in (made, waits)],
        jobs,
        "jobs with the right kubeconfig",
    )
    for name in ("elsewhere-waits", "elsewhere-runs"):
        bed.kube.delete("Pod", name)
    wait_no_live_jobs(bed)
    other.stop()


def test_removed_node_leaves_slurm(bed):
    """kubectl delete node: DOWN in Slurm 22.05, deleted from 24.11 on; when the node is created
    again, it is usable again.
    """
    bed.kube.delete("Node", "big-0")
    _gone_from_slurm(bed, "big-0")
    bed.plane.kwok_nodes(1, cpus=16, prefix="big")
    _state(bed, "big-0", "IDLE")
    made = bed.kube.create(pod("big-again", cpu=12, kwok={"run": "10ms"}))
    bed.kube.wait_phase("big-again", "Succeeded")
    job_in_state(bed, made, "COMPLETED")


def test_removed_node_takes_its_pod_along(bed):
    """A node is deleted with a pod on it: the node is drained while the pod exists. When the pod is
    garbage-collected, its job ends, and not as COMPLETED.
    """
    made = bed.kube.create(pod("on-big", cpu=12))
    bed.kube.wait_phase("on-big", "Running")
    bed.kube.delete("Node", "big-0")
    _state(bed, "big-0", "MIXED", "DRAIN", reason=OURS)
    _others_moved(bed)
    equal(job_in_state(bed, made, "RUNNING", "NODE_FAIL", "CANCELLED")["JobState"], "RUNNING")
    bed.plane.kubectl(
        "delete",
        "pod",
        "on-big",
        "--force",
        "--grace-period=0",
        "--ignore-not-found",
        "--wait=false",
    )
    job_in_state(bed, made, "NODE_FAIL", "CANCELLED", "FAILED")
    bed.kube.wait_gone("on-big")
    _gone_from_slurm(bed, "big-0")
    wait_for(
        lambda: uid_of(made)
        not in {
            j["uid"] for j in bed.agent.skube("show", "jobs")["jobs"] if j["state"] == "running"
        },
        "the agent to know the end",
    )


def _run_remedy(bed, line):
    """Runs the command in the first quotes of skube check's remedy, split into words."""
    bed.slurm.run(*line["remedy"].split("'")[1].split())


def test_partition_that_takes_no_job_is_found(bed):
    """A partition is DOWN, and the reported remedy brings it up."""
    bed.slurm.run("scontrol", "update", "partitionname=kube", "state=down")
    down = wait_for(
        lambda: not (line := _check(bed, "partition"))["ok"] and line,
        "skube check to find the partition down",
    )
    assert "'kube' is not UP" in down["text"], down
    _run_remedy(bed, down)
    equal(_check(bed, "partition")["ok"], True)


def _no_list(bed, path):
    """The agent cannot know all nodes: it refuses to write the list, and the file stays."""
    before = path.read_bytes() if path.exists() else None
    equal(bed.agent.skube_text("nodes", "--slurm-conf", "--output", path, check=False), "")
    equal(path.read_bytes() if path.exists() else None, before)


def _failing(bed):
    """The names of the failing checks, and how long skube check took."""
    began = time.monotonic()
    names = {c["name"] for c in bed.agent.skube_all("check")["checks"] if not c["ok"]}
    return names, time.monotonic() - began


def test_check_tells_what_is_so_now(bed):
    """A stopped API server and a dead slurmctld fail at the next call of skube check, within
    seconds; after their return the next call reports them as fine.
    """
    wait_for(lambda: _failing(bed)[0] <= {"nodes", "partitions"}, "skube check to find all well")
    bed.plane.freeze("kube-apiserver")
    try:
        failing, took = _failing(bed)
        _no_list(bed, bed.dir / "kube-nodes.conf")
    finally:
        bed.plane.thaw("kube-apiserver")
    assert {"API server", "rights", "clock", "pods", "nodes"} <= failing and took < 5, (
        failing,
        took,
    )
    wait_for(
        lambda: not _failing(bed)[0] & {"API server", "rights", "clock", "pods"},
        "the API server to be fine again",
        10,
    )
    bed.slurm.kill9()
    failing, took = _failing(bed)
    assert {"slurmctld", "plugin", "partition"} <= failing and took < 5, (failing, took)
    _no_list(bed, bed.dir / "kube-nodes.conf")
    equal(bed.agent.skube_text("nodes", "--slurm-conf", check=False), "", "a list of nodes")
    bed.slurm.start_slurmctld()
    assert "job_submit/kube: version " in (bed.dir / "log/slurmctld.out").read_text(
        errors="replace"
    ), "the plugin's version in slurmctld's log"
    wait_for(
        lambda: not _failing(bed)[0] & {"slurmctld", "SlurmUser", "plugin", "partition"},
        "slurmctld to be fine again",
        10,
    )


SLURMD_TIMEOUT = 5  # seconds


@contextmanager
def _without_plugin(bed):
    """slurmctld runs without kube, and the partition of pods is closed, as the emergency procedure
    of admin.md has it.
    """
    conf = bed.slurm.dir / "slurm.conf"
    text = conf.read_text()
    closed = text.replace("JobSubmitPlugins=kube\n", "").replace(
        "PartitionName=kube Nodes=kube", "PartitionName=kube State=INACTIVE Nodes=kube"
    )
    assert closed.count("INACTIVE") == 1 and "=kube\n" not in closed.replace("Feature=kube\n", "")
    bed.agent.stop()
    bed.slurm.slurmctld.stop()
    conf.write_text(closed + f"SlurmdTimeout={SLURMD_TIMEOUT}\n")
    try:
        bed.slurm.start_slurmctld()
        yield
    finally:
        bed.slurm.slurmctld.stop()
        conf.write_text(text)
        bed.slurm.start_slurmctld()
        bed.agent.start()


def test_slurm_goes_on_without_the_plugin_and_takes_it_back(bed):
    """For longer than SlurmdTimeout: native jobs run, and the nodes of pods stay in service, so no
    pod loses its job. A pod that ends meanwhile has its result when plugin and agent are back.
    """
    name = "without-plugin"
    made = bed.kube.create(pod(name, kwok={"run": "1h"}))
    bed.kube.wait_phase(name, "Running")
    job = number_of(job_in_state(bed, made, "RUNNING"))
    with _without_plugin(bed):
        time.sleep(3 * SLURMD_TIMEOUT)
        bed.slurm.run("srun", "--partition=native", "true")
        job_in_state(bed, made, "RUNNING")
        end_pod(bed, name)
    bed.slurm.wait_job(job, "COMPLETED")
    bed.kube.delete("Pod", name)
    _state(bed, "node-0", "IDLE")


def test_a_native_node_becomes_an_external_one(bed):
    """As the guide has it: while slurm.conf has the drained node, the agent creates no record for
    the Kubernetes node of the same name; when its line is deleted, pods run there.
    """
    conf, name = bed.slurm.dir / "slurm.conf", "turns-0"
    text = conf.read_text()
    native = f"NodeName={name} NodeAddr=127.0.0.1 Port=1 CPUs=4 RealMemory=4000"
    conf.write_text(f"{text}{native}\nPartitionName=old Nodes={name}\n")
    bed.slurm.restart()
    bed.slurm.run("scontrol", "update", f"NodeName={name}", "State=DRAIN", "Reason=moves")
    bed.plane.kwok_nodes(1, cpus=32, prefix="turns")
    wait_for(lambda: name in _check(bed, "nodes")["text"], "skube check to miss the node")
    time.sleep(2)
    equal(bed.slurm.node(name)["CPUTot"], "4")
    conf.write_text(text)
    bed.slurm.restart()
    bed.sync_nodes([*bed.names, name])
    if "DRAIN" in bed.slurm.node(name)["State"]:
        bed.slurm.run("scontrol", "update", f"NodeName={name}", "State=RESUME")
    _state(bed, name, "IDLE")
    wait_for(lambda: _check(bed, "nodes")["ok"], "skube check to find the node")
    bed.kube.create(pod("on-turned", cpu=24, kwok={"run": "10ms"}))
    equal(bed.kube.wait_phase("on-turned", "Succeeded")["spec"]["nodeName"], name)
    bed.kube.delete("Node", name)
    _gone_from_slurm(bed, name)


def _guide(bed, word):
    """The lines that the command in doc/admin.md with this word prints."""
    guide = (SOURCE / "doc/admin.md").read_text(encoding="utf-8")
    command = next(b for b in re.findall(r"```\w*\n(.*?)```", guide, re.DOTALL) if word in b)
    path = f"PATH={bed.slurm.bin or '/usr/bin/'}:$PATH;"
    return bed.slurm.run_program("/bin/sh", "-c", path + command).splitlines()


def test_commands_of_the_guide_list_records_and_jobs(bed):
    """The guide's commands for the time without an agent: one lists the node records that the agent
    created, the other the placeholders with their states.
    """
    made = bed.kube.create(pod("listed"))
    bed.kube.wait_phase("listed", "Running")
    number = str(number_of(job_in_state(bed, made, "RUNNING")))
    nodes = bed.agent.skube_text("show", "nodes", "--output", "name").split()
    bed.agent.stop()
    try:
        records = {f"NodeName={n}" for n in nodes} if bed.slurm.dynamic_nodes else set()
        equal(set(_guide(bed, "scontrol show nodes --oneliner")), records)
        states = dict(line.split()[:2] for line in _guide(bed, "admin_comment"))
        equal(states[number], "RUNNING")
        bed.slurm.run("scancel", number)
        wait_for(
            lambda: dict(line.split()[:2] for line in _guide(bed, "admin_comment"))[number]
            == "CANCELLED",
            "the command to show that the job is cancelled",
        )
    finally:
        bed.agent.start()
    bed.kube.wait_gone("listed")


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=3,
            cpus=8,
            agent_options={
                "settings": {
                    "nodes": {"manage": True, "not_ready_after": 1},
                    "limits": {"condition_interval_seconds": 1},
                }
            },
        )
    )
