#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""skube migrate on a cluster with the labels, taints and pods that the public pages of SUNK
describe, by the commands of doc/migrate-sunk.md. No pod that runs ends.
"""
import os
import re
import subprocess
from pathlib import Path

from lib import Cluster, equal, kubelets, pod, run
from lib.expect import job_in_state
from lib.process import CACHE, SOURCE

LABEL = "slurm-kube.io/managed"
SUNK, PREFIX = "tenant-slurm-slurm-scheduler", "sunk.coreweave.com/"
LOCK, NODE_SET, DRAIN = (PREFIX + word for word in ("lock", "nodeset", "drain"))
ARGUMENT = "--scheduler-name=" + SUNK


def _commands_of_guide():
    text = (SOURCE / "doc/migrate-sunk.md").read_text(encoding="utf-8")
    for language, block in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL):
        if not language:
            yield " ".join(block.replace("\\\n", " ").split())


def _follow(bed, start, end="", of="", other=""):
    """Runs the command of the guide that has this start and end, for another node than its."""
    command = next(c for c in _commands_of_guide() if start in c and c.endswith(end))
    bed.guide.discard(command)
    command = command.replace(of, other) if of else command
    path = f"{Path(bed.agent.skube_program).parent}:{CACHE}/k8s/bin:{bed.slurm.bin or '/usr/bin'}"
    done = subprocess.run(
        [
            "env",
            f"PATH={path}:{os.environ['PATH']}",
            f"KUBECONFIG={bed.plane.kubeconfig()}",
            *bed.slurm.program("sh", "-c", command),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    equal(done.returncode, 0, done.stdout + done.stderr)
    return done.stdout


def _node_states(bed):
    """{node: (has our label, keys of taints)}"""
    return {
        name: (
            LABEL in node["metadata"]["labels"],
            sorted(t["key"] for t in node["spec"].get("taints", [])),
        )
        for name in bed.names
        for node in [bed.kube.get("Node", name)]
    }


def _of_sunk(name, node, labels=None, containers=("main",), **annotations):
    made = pod(name, scheduler=SUNK, kwok={"run": "50ms" if name == "next" else "1h"})
    made["metadata"]["labels"] = labels or {}
    made["metadata"]["annotations"].update(annotations)
    made["spec"]["tolerations"] = [{"key": LOCK, "operator": "Exists"}]
    made["spec"]["containers"][0]["name"] = containers[0]
    if labels:
        made["spec"].update({"schedulerName": "default-scheduler", "nodeName": node})
        made["spec"]["containers"][0]["args"] = ["--scheduler-name=" + SUNK]
    return made


def test_their_guide(bed):
    """SUNK has a lock and slurmd on node-0 and node-1, and a stale lock on node-2, which its Slurm
    has drained. Only node-2 is taken.
    """
    for name in bed.names:
        bed.plane.kubectl("label", "node", name, LABEL + "-", NODE_SET + "=gpu")
        bed.plane.kubectl("taint", "node", name, LOCK + "=true:NoExecute")
    bed.plane.kubectl("annotate", "node", "node-2", DRAIN + "=moves|\nnode-1|gpu||x|{}")
    bed.kube.create(_of_sunk("slurmd-0", "node-0", {NODE_SET: "gpu"}))
    bed.kube.create(_of_sunk("slurmd-1", "node-1", {"app": "slurmd"}, ("slurmd",)))
    bed.kube.create(_of_sunk("sched", "node-0", {"app.kubernetes.io/name": "sunk-scheduler"}))
    bed.kube.create(_of_sunk("old", "", **{PREFIX + "timeout": "600"}))
    bed.kube.bind("old", "node-0")
    bed.kube.create(_of_sunk("next", "", **{PREFIX + "brand-new": "x"}))
    for name in ("slurmd-0", "slurmd-1", "sched", "old"):
        bed.kube.wait_phase(name, "Running")
    equal(set(re.findall(r"--scheduler-name\S*", _follow(bed, "sunk-scheduler"))), {ARGUMENT})
    equal(len(_follow(bed, "kubectl get pods -A --field-selector").splitlines()), 3)
    before = _node_states(bed)
    said = _follow(bed, "skube migrate")
    for line in (
        "slurmd-0 on node-0",
        "slurmd-1 on node-1",
        "/old on node-0",
        "/next",
        "brand-new",
    ):
        assert line in said, (line, said)
    equal(_node_states(bed), before)
    said = _follow(bed, "skube migrate", "--apply")
    assert "node-2: moves|?node-1|gpu||x|{}\n" in said, said
    equal(
        _node_states(bed),
        {
            "node-0": (False, [LOCK]),
            "node-1": (False, [LOCK]),
            "node-2": (True, ["node.kubernetes.io/unschedulable", LABEL]),
        },
    )


def test_sunk_ends_with_its_pods(bed):
    """What ran still runs. Without slurmd and with the alias, their pods are Slurm's."""
    runs = {n: bed.kube.get("Pod", n)["status"]["phase"] for n in ("slurmd-0", "old", "next")}
    equal(runs, {"slurmd-0": "Running", "old": "Running", "next": "Pending"})
    _follow(bed, "kubectl uncordon", of="node-1", other="node-2")
    for name in ("slurmd-0", "slurmd-1", "sched"):
        bed.plane.kubectl("delete", "pod", name, "--now")
    said = _follow(bed, "skube migrate", "--apply")
    equal(_node_states(bed), {name: (True, [LABEL]) for name in bed.names})
    assert "brand-new" in said and "on node-" not in said.replace("old on node-0", ""), said
    bed.plane.kubectl("annotate", "pod", "next", PREFIX + "brand-new-")
    bed.agent.settings["scheduler_aliases"] = [SUNK]
    bed.agent.restart()
    old = bed.kube.get("Pod", "old")
    equal(job_in_state(bed, old, "RUNNING", timeout=60)["NodeList"], "node-0")
    job_in_state(bed, bed.kube.get("Pod", "next"), "COMPLETED", timeout=60)
    kubelets.end_pod(bed, "old")
    job_in_state(bed, old, "COMPLETED")
    for name in bed.names:
        bed.plane.kubectl("label", "node", name, NODE_SET + "-")
    said = _follow(bed, "skube migrate", "--apply")
    equal(said.split(" in ")[0], "Nothing is left of SUNK")
    equal(bed.guide, set(), "commands of the guide that no test runs")


class _Sunk(Cluster):
    def __init__(self, build):
        super().__init__(build, kwok=3)
        self.guide = set(_commands_of_guide())


if __name__ == "__main__":
    run(_Sunk)
