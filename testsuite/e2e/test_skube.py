#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What skube does to nodes and jobs for an administrator: drain, resume, hold, release; and what it
shows of logs and releases. Two nodes of 8 CPUs; jobs run as nobody.
"""
import json

from lib import Cluster, equal, pod, run, wait_for
from lib.admin import needs_kubectl, skube
from lib.expect import fill, only_job, wait_no_live_jobs, wait_reason
from lib.kubelets import end_pod

CPUS = 8
KEY = "slurm-kube.io/drain-reason"


def _fine(bed, *words, user=None):
    done = skube(bed, *words, user=user)
    equal(done.returncode, 0, done.stdout + done.stderr)
    return done.stdout


def _refused(bed, *words, user=None):
    """The error of a command that changes nothing."""
    done = skube(bed, *words, user=user)
    equal((done.returncode, done.stdout), (1, ""), done.stderr)
    return done.stderr


def _kube(bed, node):
    """(cordoned, reason) of the Kubernetes node."""
    seen = bed.kube.get("Node", node)
    return (
        seen["spec"].get("unschedulable", False),
        seen["metadata"].get("annotations", {}).get(KEY),
    )


def _agent_sees(bed, node, cordoned, drained):
    """Waits until the agent knows both states; returns Slurm's reason."""

    def look():
        (row,) = [n for n in bed.agent.skube("show", "nodes")["nodes"] if n["name"] == node]
        assert (row["cordoned"], "drain" in row["slurm_state"]) == (cordoned, drained), row
        return {"reason": row["slurm_reason"]}

    return wait_for(look, f"the agent to see the state of {node}")["reason"]


def _reason(bed, node):
    """Slurm's own reason of a node."""
    return bed.slurm.node(node).get("Reason", "").partition(" [")[0]


def test_both_sides_see_a_drain(bed):
    """Both have the reason, and the agent leaves it alone; resume removes both."""
    needs_kubectl(bed)
    node = bed.names[0]
    _fine(bed, "drain", node, "--reason", "new disk")
    equal(_kube(bed, node), (True, "new disk"))
    equal(_agent_sees(bed, node, True, True), "skube: new disk")
    equal(_reason(bed, node), "skube: new disk")
    assert "is drained already" in _fine(bed, "drain", node, "--reason", "new disk")
    _fine(bed, "resume", node)
    equal(_kube(bed, node), (False, None))
    _agent_sees(bed, node, False, False)
    wait_for(lambda: bed.slurm.node(node)["State"] == "IDLE", f"{node} to be IDLE")
    assert "was not drained by skube" in _fine(bed, "resume", node)


def test_a_drain_of_others_is_theirs(bed):
    """A node that an administrator has drained in Slurm, or cordoned in Kubernetes, stays so."""
    needs_kubectl(bed)
    node = bed.names[0]
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=fan broken")
    for words in (("drain", node, "--reason", "x"), ("resume", node)):
        error = _refused(bed, *words)
        assert "with the reason 'fan broken', and not by skube drain" in error, error
    equal((_reason(bed, node), _kube(bed, node)), ("fan broken", (False, None)))
    bed.slurm.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
    _agent_sees(bed, node, False, False)
    bed.plane.kubectl("cordon", node)
    equal(_agent_sees(bed, node, True, True), "slurm-kube: cordoned")
    for words in (("drain", node, "--reason", "x"), ("resume", node)):
        error = _refused(bed, *words)
        assert "is cordoned, and not by skube drain" in error, error
    equal(_kube(bed, node), (True, None))
    bed.plane.kubectl("uncordon", node)
    _agent_sees(bed, node, False, False)
    assert "Kubernetes has no node native" in _refused(bed, "drain", "native", "--reason", "x")


def test_a_held_pod_waits(bed):
    """A waiting pod's job is held, stays when there is room, and starts after its release. Another
    pod that waits with it starts. A pod that runs cannot be held.
    """
    needs_kubectl(bed)
    blocking = fill(bed, "block", CPUS, 2)
    made = bed.kube.create(pod("held", kwok={"run": "1h"}))
    other = bed.kube.create(pod("other", kwok={"run": "1h"}))
    number = wait_for(lambda: only_job(bed, made), "the job of held")["JobId"]
    wait_for(lambda: only_job(bed, other), "the job of other")
    said = _fine(bed, "hold", "held", "--verbose")
    assert said == f"scontrol hold {number}\nheld pod default/held: job {number}\n", said
    equal(only_job(bed, made)["Priority"], "0")
    for one in blocking:
        end_pod(bed, one["metadata"]["name"])
    bed.kube.wait_phase("other", "Running")
    seen = only_job(bed, made)
    equal((seen["JobState"], seen["Priority"]), ("PENDING", "0"))
    wait_for(
        lambda: bed.agent.skube("why", "held")["data"]["job"]["reason"] == "JobHeldAdmin",
        "the agent to see the hold",
    )
    _fine(bed, "release", number)
    bed.kube.wait_phase("held", "Running")
    assert "does not wait any more" in _refused(bed, "hold", "held")
    for name in ("held", "other"):
        end_pod(bed, name)
    wait_no_live_jobs(bed)


def test_owners_hold_with_their_own_rights(bed):
    """Slurm lets the job's user hold the job, and the plugin agrees; another user may not."""
    needs_kubectl(bed)
    blocking = fill(bed, "full", CPUS, 2)
    made = bed.kube.create(pod("mine", kwok={"run": "10ms"}))
    number = wait_for(lambda: only_job(bed, made), "the job of mine")["JobId"]
    denied = bed.slurm.run("scontrol", "hold", number, user="daemon", check=False)
    equal((denied, only_job(bed, made)["Priority"] != "0"), ("", True))
    bed.slurm.run("scontrol", "hold", number, user="nobody")
    equal(only_job(bed, made)["Priority"], "0")
    bed.slurm.run("scontrol", "release", number, user="nobody")
    for one in blocking:
        end_pod(bed, one["metadata"]["name"])
    bed.kube.wait_phase("mine", "Succeeded")
    wait_no_live_jobs(bed)


def _top(bed):
    """The reply of the agent, with pods and jobs as {(state, reason): count}."""
    seen = json.loads(_fine(bed, "top", "-o", "json"))
    for kind in ("pods", "jobs"):
        seen[kind] = {(row["state"], row["reason"]): row["count"] for row in seen[kind]}
    return seen


def test_top_counts_what_waits_and_runs(bed):
    """Two pods run, and of two that wait the older one is named. The page has the same."""
    needs_kubectl(bed)
    blocking = fill(bed, "busy", CPUS, 2)
    for name in ("first", "second"):
        bed.kube.create(pod(name, kwok={"run": "10ms"}))
        wait_for(lambda: only_job(bed, bed.kube.get("Pod", name)), f"the job of {name}")

    def settled():
        seen = _top(bed)
        assert seen["pods"].get(("running", "")) == 2, seen["pods"]
        assert seen["pods"].get(("waiting", "SlurmPending")) == 2, seen["pods"]
        assert sum(n for (state, _), n in seen["jobs"].items() if state == "pending") == 2, seen
        return seen

    seen = wait_for(settled, "top to show two pods that wait and two that run")
    equal((seen["oldest"]["name"], seen["nodes"]["in_service"]), ("first", 2))
    page = _fine(bed, "top")
    assert "\noldest waiting pod: default/first for " in page and "\x1b" not in page, page
    assert "\nwaiting " in page and "\nnodes: 2 in service, " in page, page
    for one in blocking:
        end_pod(bed, one["metadata"]["name"])
    wait_no_live_jobs(bed)


def test_logs_of_a_file(bed):
    """The log of this agent is a file of text lines. Those of one pod are selected by the pod, its
    job and its node, and no other.
    """
    needs_kubectl(bed)
    forged = {"slurm-kube.io/no-such": "v. pod=default/said job=1 forged"}
    bed.kube.create(pod("forger", annotations=forged))
    wait_reason(bed, "forger", "SlurmRefused", "forged")
    for name in ("said", "unsaid"):
        bed.kube.create(pod(name, kwok={"run": "10ms"}))
        bed.kube.wait_phase(name, "Succeeded")
    bed.kube.delete("Pod", "forger")
    wait_no_live_jobs(bed)
    log = bed.dir / "log/slurmkubed.out"
    job = bed.agent.skube("why", "said")["data"]["job"]["id"]

    def lines():
        text = _fine(bed, "logs", "said", "--file", log)
        assert "bound pod=default/said " in text and "ended pod=default/said " in text, text
        return text

    text = wait_for(lines, "the lines of said")
    assert "unsaid" not in text and "forged" not in text, text
    assert "forged" in log.read_text(encoding="utf-8")
    equal(_fine(bed, "logs", str(job), "--file", log).splitlines()[-1], text.splitlines()[-1])


def test_releases(bed):
    """All of the chain, as their own commands print them."""
    needs_kubectl(bed)
    seen = json.loads(_fine(bed, "version", "-o", "json"))
    equal(seen["slurmctld"], bed.slurm.version)
    equal((seen["slurmkubed"], seen["plugin"]), (seen["skube"], seen["skube"]))
    equal(seen["kubernetes"], bed.kube.request("GET", "/version")["gitVersion"])


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=2,
            cpus=CPUS,
            agent_options={"namespaces": [{"namespace": "default", "user": "nobody"}]},
        )
    )
