#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm's drains are visible in Kubernetes: the condition SlurmDrain of nodes, which have another
name in Slurm here.
"""
import json
import os
import tempfile
import time
from pathlib import Path

from lib import Cluster, equal, pod, run, wait_for
from lib.admin import skube
from lib.expect import job_in_state, wait_no_live_jobs
from lib.kube import condition
from lib.kubelets import end_pod
from lib.objects import skube_manifests
from lib.process import TESTSUITE

PREFIX = "k-"
IN_SERVICE = ("False", "InService", "Slurm uses the node")


def _condition(bed, name):
    return condition(bed.kube.get("Node", name), "SlurmDrain")


def _wait_condition(bed, name, status, reason, message):
    """Returns when its status has changed."""

    def seen():
        now = _condition(bed, name)
        equal(tuple(now.get(k) for k in ("status", "reason", "message")), (status, reason, message))
        return now["lastTransitionTime"]

    return wait_for(seen, f"condition SlurmDrain of {name} to be {status} {reason}")


def _writes(bed):
    """(node, status of the answer) of each patch of a node's status that the agent has sent."""
    events = (bed.dir / "audit.log").read_text().rpartition("\n")[0].splitlines()
    return [
        (e["objectRef"]["name"], e["responseStatus"]["code"])
        for e in map(json.loads, events)
        if (e["verb"], e.get("objectRef", {}).get("resource")) == ("patch", "nodes")
    ]


def _update(bed, name, *words):
    bed.slurm.run("scontrol", "update", f"NodeName={PREFIX}{name}", *words)


def _rights(bed):
    return next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == "rights")


def test_without_the_right_an_error_is_told_once(bed):
    """The agent tries again, and pods run as ever."""
    wait_for(lambda: len(_writes(bed)) > 4, "the agent to try again")
    equal({code for _, code in _writes(bed)}, {403})
    log = (bed.dir / "log/slurmkubed.out").read_text(errors="replace")
    equal(log.count("nodes.report_drains needs the right to patch nodes/status"), 1)
    assert "missing: patch nodes/status" in _rights(bed)["text"], _rights(bed)
    equal([_condition(bed, name) for name in bed.names], [{}, {}])
    made = bed.kube.create(pod("without", kwok={"run": "10ms"}))
    bed.kube.wait_phase("without", "Succeeded")
    job_in_state(bed, made, "COMPLETED")


def test_the_right_is_printed_and_then_each_node_has_the_condition(bed):
    """By skube manifests, because slurmkubed.yaml says nodes.report_drains."""
    config = bed.agent.dir / "slurmkubed.yaml"
    text = skube_manifests(bed, "--config", config, "--only", "rbac")
    bed.plane.kubectl("apply", "-f", "-", stdin=text)
    for name in bed.names:
        _wait_condition(bed, name, *IN_SERVICE)
    wait_for(lambda: _rights(bed)["ok"], "skube check to find no right missing")


def test_a_drain_shows_with_its_reason(bed):
    """On this node alone, and until the node is resumed. Another reason is no transition."""
    since = _condition(bed, "node-0")["lastTransitionTime"]
    time.sleep(1.1)  # the times are in seconds
    _update(bed, "node-0", "State=DRAIN", "Reason=bad disk")
    drained = _wait_condition(bed, "node-0", "True", "Drained", "bad disk")
    assert drained > since, (drained, since)
    _update(bed, "node-0", "Reason=worse disk")
    equal(_wait_condition(bed, "node-0", "True", "Drained", "worse disk"), drained)
    equal(_condition(bed, "node-1")["status"], "False")
    _update(bed, "node-0", "State=RESUME")
    _wait_condition(bed, "node-0", *IN_SERVICE)


def test_a_node_drains_while_its_pod_runs(bed):
    """Draining, then Drained: the status does not change."""
    bed.kube.create(pod("drains", kwok={"run": "1h"}))
    name = bed.kube.wait_phase("drains", "Running")["spec"]["nodeName"]
    _update(bed, name, "State=DRAIN", "Reason=later")
    since = _wait_condition(bed, name, "True", "Draining", "later")
    end_pod(bed, "drains")
    equal(_wait_condition(bed, name, "True", "Drained", "later"), since)
    _update(bed, name, "State=DOWN", "Reason=no power")
    equal(_wait_condition(bed, name, "True", "Down", "no power"), since)
    _update(bed, name, "State=RESUME")
    _wait_condition(bed, name, *IN_SERVICE)
    bed.kube.delete("Pod", "drains")
    wait_no_live_jobs(bed)


def test_a_cordon_shows_as_a_drain_and_ends_with_it(bed):
    """The condition that the agent writes of its own drain does not keep the node drained."""
    bed.plane.kubectl("cordon", "node-1")
    _wait_condition(bed, "node-1", "True", "Drained", "slurm-kube: cordoned")
    bed.plane.kubectl("uncordon", "node-1")
    _wait_condition(bed, "node-1", *IN_SERVICE)
    equal(bed.slurm.node(f"{PREFIX}node-1")["State"].split("+")[0], "IDLE")
    assert "DRAIN" not in bed.slurm.node(f"{PREFIX}node-1")["State"]


def test_a_restart_writes_nothing(bed):
    """Neither of the agent nor of slurmctld: the nodes say already what they should."""
    _update(bed, "node-0", "State=DRAIN", "Reason=bad disk")
    _wait_condition(bed, "node-0", "True", "Drained", "bad disk")
    before = _writes(bed)
    bed.agent.restart()
    time.sleep(3)
    bed.slurm.restart()
    wait_for(lambda: bed.agent.skube("ping")["ready"], "the agent to be ready again")
    time.sleep(3)
    equal(_writes(bed), before)


def test_a_condition_that_another_program_has_changed_is_set_right(bed):
    """And that leads to no drain and no resume."""
    _patch_condition(bed, "node-0", {"type": "SlurmDrain", "status": "False"})
    _wait_condition(bed, "node-0", "True", "Drained", "bad disk")
    assert "DRAIN" in bed.slurm.node(f"{PREFIX}node-0")["State"]


def _remove_by_hand(bed, name):
    """The command in doc/admin.md."""
    gone = {"type": "SlurmDrain", "$patch": "delete"}
    _patch_condition(bed, name, gone)


def _patch_condition(bed, name, change):
    bed.plane.kubectl(
        "patch",
        "node",
        name,
        "--subresource=status",
        "--type=strategic",
        "--patch",
        json.dumps({"status": {"conditions": [change]}}),
    )


def test_turned_off_the_last_condition_can_be_removed_by_hand(bed):
    """And does not come back."""
    bed.agent.settings["nodes"]["report_drains"] = False
    bed.agent.restart()
    _remove_by_hand(bed, "node-1")
    time.sleep(3)
    equal(_condition(bed, "node-1"), {})
    bed.agent.settings["nodes"]["report_drains"] = True
    bed.agent.restart()
    _wait_condition(bed, "node-1", *IN_SERVICE)


def test_teardown_removes_the_condition(bed):
    """Other conditions stay."""
    bed.agent.stop()
    teardown = ("--config", bed.agent.dir / "slurmkubed.yaml", "teardown")
    done = skube(bed, *teardown, "--apply")
    equal(done.returncode, 0, done.stdout + done.stderr)
    for name in bed.names:
        equal(_condition(bed, name), {})
        equal(condition(bed.kube.get("Node", name), "Ready")["status"], "True")
    done = skube(bed, *teardown)
    assert "SlurmDrain" not in done.stdout, done.stdout


def _bed(build):
    directory = Path(tempfile.mkdtemp(prefix="slurm-kube-", dir=os.environ.get("SLURM_KUBE_RUN")))
    arguments = (
        f"--audit-policy-file={TESTSUITE}/e2e/audit-policy.yaml"
        f" --audit-log-path={directory}/audit.log --audit-log-mode=blocking"
    )
    settings = {
        "nodes": {"report_drains": True, "name_prefix": PREFIX},
        "limits": {"condition_interval_seconds": 1},
    }
    bed = Cluster(
        build,
        kwok=2,
        directory=directory,
        plane_env={"APISERVER_ARGS": arguments},
        agent_options={"settings": settings},
    )
    bed.prefix = PREFIX
    return bed


if __name__ == "__main__":
    run(_bed)
