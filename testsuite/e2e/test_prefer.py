#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Node labels as Slurm features, and preferred node affinity as --prefer."""
from lib import Cluster, equal, pod, run
from lib.expect import job_in_state, wait_no_live_jobs
from lib.manifests import kwok_node

ZONE = "topology.kubernetes.io/zone"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _liking(*wishes):
    """wishes: (weight, key, operator, values)"""
    terms = [
        {
            "weight": weight,
            "preference": {
                "matchExpressions": [{"key": key, "operator": operator, "values": values}]
            },
        }
        for weight, key, operator, values in wishes
    ]
    return {"affinity": {"nodeAffinity": {PREFERRED: terms}}}


def _node_of(bed, name):
    return bed.kube.wait_phase(name, "Succeeded", timeout=60)["spec"]["nodeName"]


def test_labels_are_features(bed):
    """Nodes have the features named in the configuration, and no others."""
    equal(
        {n: bed.slurm.node(n)["AvailableFeatures"] for n in ("east", "west")},
        {"east": "kube,zone_east", "west": "kube,zone_west"},
    )
    bed.kube.create(
        pod("asks", kwok={"run": "50ms"}, annotations={"slurm-kube.io/constraints": "zone_west"})
    )
    equal(_node_of(bed, "asks"), "west")


def test_preferred_affinity_decides(bed):
    """Each of eight pods runs where it prefers to, on empty and otherwise equal nodes."""
    for i in range(4):
        for zone in ("east", "west"):
            bed.kube.create(
                pod(
                    f"likes-{zone}-{i}", kwok={"run": "50ms"}, spec=_liking((1, ZONE, "In", [zone]))
                )
            )
    for i in range(4):
        equal([_node_of(bed, f"likes-{zone}-{i}") for zone in ("east", "west")], ["east", "west"])


def test_a_wish_is_no_demand(bed):
    """The preferred node is full: the pod runs on the other one. A preference that no node
    satisfies, or that Slurm cannot parse, refuses nothing.
    """
    bed.kube.create(pod("full", cpu=8, spec={"nodeSelector": {ZONE: "east"}}))
    bed.kube.wait_phase("full", "Running", timeout=60)
    bed.kube.create(pod("would", kwok={"run": "50ms"}, spec=_liking((1, ZONE, "In", ["east"]))))
    equal(_node_of(bed, "would"), "west")
    bed.kube.create(
        pod(
            "nowhere",
            kwok={"run": "50ms"},
            spec=_liking(
                (9, ZONE, "In", ["north"]), (8, ZONE, "NotIn", ["east"]), (7, "disk", "In", ["ssd"])
            ),
        )
    )
    equal(_node_of(bed, "nowhere"), "west")
    bed.kube.delete("Pod", "full")
    bed.kube.wait_gone("full")


def test_the_option_comes_first(bed):
    """The pod's option overrides its preferred affinity."""
    made = bed.kube.create(
        pod(
            "says",
            kwok={"run": "50ms"},
            spec=_liking((1, ZONE, "In", ["west"])),
            annotations={"slurm-kube.io/prefer": "zone_east"},
        )
    )
    equal(_node_of(bed, "says"), "east")
    job_in_state(bed, made, "COMPLETED")


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed, 60)


class _Zones(Cluster):
    """Two nodes in different zones, with another label that is not configured as a feature."""

    def __init__(self, build):
        super().__init__(
            build, agent_options={"settings": {"nodes": {"features": [{"label": ZONE}]}}}
        )

    def start_kubernetes(self):
        super().start_kubernetes()
        self.names = ["east", "west"]
        for name in self.names:
            self.kube.create(kwok_node(name, 8, "16Gi", {ZONE: name, "disk": "ssd"}))


if __name__ == "__main__":
    run(_Zones)
