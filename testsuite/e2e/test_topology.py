#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""skube nodes --topology-conf: slurmctld takes the lines, and shows the switches that Kubernetes
names.
"""
import re

from lib import Cluster, equal, pod, run, wait_for
from lib.expect import job_in_state, wait_no_live_jobs

LABELS = {
    "node-0": ("east", "east-a"),
    "node-1": ("east", "east-a"),
    "node-2": ("east", "east-b"),
}
SPEC = "topo-block:b2,topo-switch:s 2"  # of node-3
LINES = [
    "SwitchName=test-other Nodes=node-4",
    "SwitchName=test-east-a Nodes=node-0,node-1",
    "SwitchName=test-east-b Nodes=node-2",
    "SwitchName=test-east Switches=test-east-a,test-east-b",
    "SwitchName=test-s_2 Nodes=node-3",
    "SwitchName=test Switches=test-other,test-east,test-s_2",
]


def _lines(bed, *more):
    return bed.agent.skube_text("nodes", "--topology-conf", *more).splitlines()[1:]


def test_lines_follow_labels_and_annotation(bed):
    """The annotation is Slinky's. A node that says nothing has a switch, too."""
    for name, (region, zone) in LABELS.items():
        bed.plane.kubectl(
            "label",
            "node",
            name,
            f"topology.kubernetes.io/region={region}",
            f"topology.kubernetes.io/zone={zone}",
            f"example.com/rack=r-{name}",
        )
    bed.plane.kubectl("annotate", "node", "node-3", f"topology.slinky.slurm.net/spec={SPEC}")
    wait_for(lambda: equal(_lines(bed), LINES) or True, "the agent to know the labels")
    racks = [x for x in _lines(bed, "--topology-labels", "example.com/rack") if "r-" in x]
    equal(racks[:-1], [f"SwitchName=test-r-{name} Nodes={name}" for name in LABELS], racks)


def _hosts(bed, text):
    return set(bed.slurm.run("scontrol", "show", "hostnames", text).split())


def test_slurmctld_shows_the_same_switches(bed):
    """With topology/tree. The lines of a site connect them with its own switch, which has the name
    of one that Kubernetes names.
    """
    text = bed.agent.skube_text("nodes", "--topology-conf")
    native = "SwitchName=east-a Nodes=native\nSwitchName=all Switches=test,east-a\n"
    (bed.dir / "topology.conf").write_text(text + native)
    bed.slurm.extra.append("TopologyPlugin=topology/tree")
    bed.slurm.write_conf()
    bed.slurm.restart()
    shown = bed.slurm.run("scontrol", "show", "topology")
    for line in LINES:
        name, key, members = re.fullmatch(r"SwitchName=(\S+) (\w+)=(\S+)", line).groups()
        row = re.search(rf"^SwitchName={re.escape(name)} .*$", shown, re.M)
        assert row, (name, shown)
        seen = re.search(rf"\b{key}=(\S+)", row[0])
        equal(_hosts(bed, seen[1]), _hosts(bed, members), row[0])
    log = (bed.dir / "log/slurmctld.out").read_text(errors="replace")
    assert not re.search(r"error:.*(switch|topology)", log, re.I), log[-2000:]


def test_pods_run_on_nodes_of_each_switch(bed):
    """Slurm refuses jobs on nodes that topology.conf lacks; skube check finds none."""
    wait_for(lambda: bed.agent.skube("ping")["ready"], "the agent to be ready again")
    for name in bed.names:
        made = bed.kube.create(
            pod(
                f"on-{name}",
                kwok={"run": "10ms"},
                annotations={"slurm-kube.io/required-nodes": name},
            )
        )
        placed = bed.kube.wait_phase(f"on-{name}", "Succeeded")
        equal(placed["spec"]["nodeName"], name)
        job_in_state(bed, made, "COMPLETED")
    line = next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == "topology")
    equal(line["ok"], True, line)
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(lambda build: Cluster(build, kwok=5))
