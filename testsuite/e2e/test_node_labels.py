#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes whose names in Slurm are given by the label slurm-kube.io/slurm-node: one has a real slurmd
with another name than its kubelet (kwok), which has a domain. Node "node-0" is external.
"""
import os
import time
from pathlib import Path

from lib import Cluster, equal, pod, run, wait_for
from lib.admin import needs_kubectl, skube
from lib.expect import job_in_state, number_of, only_job, wait_no_live_jobs
from lib.hybrid_testbed import use_cgroups
from lib.kubelets import end_pod
from lib.manifests import kwok_node

RECORD = f"named{os.getpid()}"  # names slurmd's cgroups, which are the machine's
NODE = f"{RECORD}.kube.example.org"
LABEL = "slurm-kube.io/slurm-node"
PARTITION = "native"
CONF = """ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
PrologFlags=Contain
FirstJobId={first}
""".splitlines()


def _label(bed, value, node=NODE):
    bed.kube.patch("Node", node, {"metadata": {"labels": {LABEL: value}}})


def _check(bed, name):
    return next((c for c in bed.agent.skube_all("check")["checks"] if c["name"] == name), None)


def _wait_names(bed, is_ok, text):
    def fits():
        line = _check(bed, "node names")
        return line and line["ok"] == is_ok and text in line["text"]

    wait_for(fits, f"skube check's line node names to have {text!r}")


def _wait_no_names(bed):
    wait_for(lambda: not _check(bed, "node names"), "no label to count")


def _running(bed, name):
    made = bed.kube.create(pod(name, kwok={"run": "1h"}))
    bed.kube.wait_phase(name, "Running")
    equal(bed.kube.get("Pod", name)["spec"]["nodeName"], NODE)
    done = only_job(bed, made)
    equal((done["JobState"], done["NodeList"]), ("RUNNING", RECORD))
    return made


def _goes_on(bed, made, seconds=3):
    """What must not happen has no event."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        now = bed.kube.get("Pod", made["metadata"]["name"])
        assert "deletionTimestamp" not in now["metadata"], now["metadata"]
        equal(only_job(bed, made)["JobState"], "RUNNING")
        time.sleep(0.2)


def _end(bed, made):
    end_pod(bed, made["metadata"]["name"])
    job_in_state(bed, made, "COMPLETED")


def _skube(bed, *words):
    done = skube(bed, *words)
    equal(done.returncode, 0, done.stdout + done.stderr)


def _wait_idle(bed):
    wait_for(lambda: bed.slurm.node(RECORD)["State"] == "IDLE", f"{RECORD} to be idle")


# ---- the label is there ----


def test_a_pod_runs_on_the_node_of_another_name(bed):
    """Beside a native job; Slurm's limits apply to it, and its end is Slurm's."""
    text = bed.slurm.run(
        *("sbatch", "--parsable", f"--partition={PARTITION}"),
        *(f"--output={bed.dir}/native-%j.out", "--wrap=exec sleep 600"),
    )
    made = _running(bed, "first")
    equal(bed.slurm.jobs()[int(text)]["JobState"], "RUNNING")
    bed.slurm.run("scancel", text.strip())
    _end(bed, made)
    made = _running(bed, "cancelled")
    bed.slurm.run("scancel", str(number_of(only_job(bed, made))))
    bed.kube.wait_gone("cancelled")
    _wait_idle(bed)


def test_skube_knows_both_names(bed):
    for line in ("hybrid nodes", "hybrid sizes", "node names"):
        wait_for(lambda line=line: (_check(bed, line) or {}).get("ok"), f"line {line} to be ok")
    assert "1 nodes have another name" in _check(bed, "node names")["text"]
    rows = {row["name"]: row for row in bed.agent.skube("show", "nodes")["nodes"]}
    equal(rows[NODE]["kind"], "hybrid")
    assert RECORD not in rows, rows


def test_skube_drain_and_resume_take_the_name_in_slurm(bed):
    needs_kubectl(bed)
    _skube(bed, "drain", NODE, "--reason", "repair")
    wait_for(lambda: "DRAIN" in bed.slurm.node(RECORD)["State"], "the drain")
    _skube(bed, "resume", NODE)
    _wait_idle(bed)
    bed.agent.kill9()
    done = skube(bed, "drain", NODE, "--reason", "repair")
    equal(done.returncode, 1)
    assert "the agent does not say which node it is in Slurm" in done.stderr, done.stderr
    bed.agent.start()
    equal(bed.slurm.node(RECORD)["State"], "IDLE")


def test_no_other_record_was_made(bed):
    nodes = set(bed.slurm.nodes())
    assert NODE not in nodes and RECORD in nodes, nodes


# ---- it goes, or another claims the name ----


def test_a_label_that_goes_parts_no_pod_from_its_job(bed):
    """The node keeps its name until the last pod is gone."""
    made = _running(bed, "stays")
    _label(bed, None)
    _wait_names(bed, False, f"node {NODE} keeps the name {RECORD}")
    _goes_on(bed, made)
    _end(bed, _running(bed, "meanwhile"))
    _label(bed, RECORD)
    _wait_names(bed, True, "1 nodes")
    _end(bed, made)
    _wait_idle(bed)


def test_an_agent_that_starts_without_the_label_keeps_the_name(bed):
    """The pod's binding and its job say it. Without jobs the node takes no pods; Slurm 24.11 and
    later get a record of its own name, which is told later.
    """
    made = _running(bed, "parted")
    bed.agent.daemon.kill9()
    _label(bed, None)
    bed.agent.start()
    _wait_names(bed, False, f"node {NODE} keeps the name {RECORD}")
    _goes_on(bed, made)
    _end(bed, _running(bed, "later"))
    _end(bed, made)
    wait_for(lambda: not _check(bed, "hybrid nodes")["ok"], "the node to take no pods")
    if bed.slurm.dynamic_nodes:
        wait_for(lambda: NODE in bed.slurm.nodes(), "a record")
    _label(bed, RECORD)
    if bed.slurm.dynamic_nodes:
        _wait_names(bed, False, f"have another name by their label: {NODE}")
        _end(bed, _running(bed, "elsewhere"))
        bed.slurm.run("scontrol", "delete", f"nodename={NODE}")
    _wait_names(bed, True, "1 nodes")
    _wait_idle(bed)


def test_scancel_ends_a_pod_whose_label_has_gone(bed):
    made = _running(bed, "unnamed")
    _label(bed, None)
    _wait_names(bed, False, f"node {NODE} keeps the name {RECORD}")
    bed.slurm.run("scancel", str(number_of(only_job(bed, made))))
    bed.kube.wait_gone("unnamed")
    _label(bed, RECORD)
    _wait_names(bed, True, "1 nodes")
    _wait_idle(bed)


def test_slurmctld_that_restarts_changes_no_name(bed):
    made = _running(bed, "before")
    bed.slurm.restart()
    bed.agent.wait_ready()
    _goes_on(bed, made)
    _end(bed, made)
    _wait_idle(bed)


def test_no_node_takes_the_name_of_another(bed):
    """A kubelet may label its own node."""
    made = _running(bed, "robbed")
    _label(bed, RECORD, "node-0")
    _wait_names(bed, False, f"which is that of node {NODE}")
    _goes_on(bed, made)
    _label(bed, "node-0")
    _wait_names(bed, False, f"node {NODE} keeps the name {RECORD}")
    _label(bed, RECORD)
    _label(bed, None, "node-0")
    _wait_names(bed, True, "1 nodes")
    _end(bed, made)
    _wait_idle(bed)
    wait_for(lambda: "DRAIN" not in bed.slurm.node("node-0")["State"], "node-0 to be in service")


def test_nothing_was_done_to_the_record(bed):
    """No drain but that of skube drain, no reason, no size."""
    node = bed.slurm.node(RECORD)
    equal((node["CPUTot"], node["RealMemory"]), ("2", "4000"))
    assert "Reason" not in node, node


def test_no_job_is_left(bed):
    wait_no_live_jobs(bed, 60)


class _Named(Cluster):
    def __init__(self, build):
        super().__init__(
            build,
            kwok=1,
            slurm_options={
                "native_name": RECORD,
                "native_size": "CPUs=2 RealMemory=4000 Feature=kube-hybrid",
            },
            agent_options={
                "namespaces": [{"namespace": "default", "user": "root", "partitions": [PARTITION]}],
                "settings": {
                    "partition": PARTITION,
                    "nodes": {"manage": True, "max_gone_percent": 100},
                },
            },
        )
        use_cgroups(self, CONF)

    def start_kubernetes(self):
        super().start_kubernetes()
        self.plane.kube.create(kwok_node(NODE, 2, "8Gi", {LABEL: RECORD}))
        self.plane.wait_ready(NODE)

    def start_slurm(self):
        self.stack.callback(_remove_cgroups)
        super().start_slurm()

    def start_agent(self):
        super().start_agent()
        _wait_idle(self)  # slurmctld was restarted for the external node


def _remove_cgroups():
    for cgroup in sorted(Path("/sys/fs/cgroup").glob(f"*/slurm_{RECORD}/**"), reverse=True):
        try:
            cgroup.rmdir()
        except OSError:  # a process is left: the failure is reported elsewhere
            pass


if __name__ == "__main__":
    run(_Named)
