#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Placement: constraints of pods on nodes are honoured with Slurm as the scheduler, even when nodes
change meanwhile, or refused with the reason.
"""
import collections

from lib import Cluster, equal, job, pod, run, wait_for, workloads
from lib.expect import fill, job_in_state, only_job, uid_of, wait_no_live_jobs, wait_reason

NODES, CPUS = 4, 8
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _label(bed, node, *labels):
    bed.plane.kubectl("label", "node", node, "--overwrite", *labels)


def _node_of(bed, name, **expected):
    """Waits until the pod has succeeded; returns its node."""
    seen = bed.kube.wait_phase(name, "Succeeded", timeout=60)
    return seen["spec"]["nodeName"]


def _brief(name, spec=None, **options):
    return pod(name, kwok={"run": "50ms"}, spec=spec, **options)


def _in_terms(*terms):
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def _one(key, operator, *values):
    return {
        "matchExpressions": [
            {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
        ]
    }


def _apart(app):
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}


def _labelled(manifest, app):
    manifest["metadata"]["labels"] = {"app": app}
    return manifest


def _remove(bed, *names):
    for name in names:
        bed.kube.delete("Pod", name)
    for name in names:
        bed.kube.wait_gone(name)


def test_node_selector(bed):
    """Ten pods for the only node with the label; the others are excluded in Slurm."""
    _label(bed, "node-2", "disk=ssd")
    made = [
        bed.kube.create(_brief(f"ssd-{i}", {"nodeSelector": {"disk": "ssd"}})) for i in range(10)
    ]
    equal({_node_of(bed, m["metadata"]["name"]) for m in made}, {"node-2"})
    equal(job_in_state(bed, made[0], "COMPLETED")["ExcNodeList"], "node-[0-1,3]")


def test_node_affinity_terms(bed):
    """Terms are alternatives, operators work as in kube-scheduler, and a node may be named."""
    for i, cores in enumerate((8, 16, 32, 64)):
        _label(bed, f"node-{i}", f"cores={cores}")
    cases = {
        "gt": (_in_terms(_one("cores", "Gt", "32")), {"node-3"}),
        "lt": (_in_terms(_one("cores", "Lt", "16")), {"node-0"}),
        "or": (
            _in_terms(_one("cores", "Gt", "32"), _one("cores", "In", "8")),
            {"node-0", "node-3"},
        ),
        "not": (
            _in_terms(
                {
                    "matchExpressions": [
                        {"key": "cores", "operator": "NotIn", "values": ["8", "16"]},
                        {"key": "disk", "operator": "DoesNotExist"},
                    ]
                }
            ),
            {"node-3"},
        ),
        "name": (
            _in_terms(
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}
            ),
            {"node-1"},
        ),
    }
    for name, (spec, _) in cases.items():
        bed.kube.create(_brief(f"terms-{name}", spec))
    for name, (_, nodes) in cases.items():
        assert (
            _node_of(bed, f"terms-{name}") in nodes
        ), f"terms-{name} ran on {bed.kube.pods()[f'terms-{name}']['spec']['nodeName']}"


def test_no_node_says_so_and_waits_for_one(bed):
    """No job is submitted, and the condition says how many nodes lack what; once a node has the
    label, the pod runs there.
    """
    made = bed.kube.create(_brief("tape", {"nodeSelector": {"disk": "tape"}}))
    text = wait_reason(bed, "tape", "SlurmNoNode")
    equal(text, "no node may take the pod: 4 nodes: each has no label disk=tape (nodeSelector)")
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    _label(bed, "node-1", "disk=tape")
    equal(_node_of(bed, "tape"), "node-1")


def test_label_removed_while_the_job_waits(bed):
    """Slurm still allocates the node that the pod may not use any more: the allocation is given
    back, and the pod runs where it may.
    """
    _label(bed, "node-0", "pool=a")
    blocker = bed.kube.create(pod("pool-full", cpu=CPUS, spec={"nodeSelector": {"pool": "a"}}))
    bed.kube.wait_phase("pool-full", "Running")
    waits = bed.kube.create(_brief("pool-next", {"nodeSelector": {"pool": "a"}}))
    wait_reason(bed, "pool-next", "SlurmPending", "is pending")
    number = int(only_job(bed, waits)["JobId"])
    _label(bed, "node-0", "pool=b")
    _remove(bed, "pool-full")
    wait_reason(bed, "pool-next", "SlurmNoNode", "pool=a", timeout=60)
    bed.slurm.wait_job(number, "FAILED", "COMPLETED", "CANCELLED")
    _label(bed, "node-3", "pool=a")
    equal(_node_of(bed, "pool-next"), "node-3")
    job_in_state(bed, blocker, "CANCELLED", "FAILED", "COMPLETED")


def test_excluded_nodes_follow_the_nodes(bed):
    """A job waits for one node; another node gets the label, and its exclusion ends; then the
    first one loses the label.
    """
    _label(bed, "node-0", "rack=r1")
    bed.kube.create(pod("rack-full", cpu=CPUS, spec={"nodeSelector": {"rack": "r1"}}))
    bed.kube.wait_phase("rack-full", "Running")
    bed.kube.create(
        pod(
            "rack-2-full",
            cpu=CPUS,
            spec=_in_terms(
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-2"]}]}
            ),
        )
    )
    bed.kube.wait_phase("rack-2-full", "Running")
    waits = bed.kube.create(_brief("rack-next", {"nodeSelector": {"rack": "r1"}}))
    wait_reason(bed, "rack-next", "SlurmPending", "is pending")
    excluded = lambda: only_job(bed, waits)["ExcNodeList"]  # noqa: E731
    equal(excluded(), "node-[1-3]")
    _label(bed, "node-2", "rack=r1")
    wait_for(lambda: excluded() == "node-[1,3]", "node-2 to be offered")
    _label(bed, "node-0", "rack-")
    wait_for(lambda: excluded() == "node-[0-1,3]", "node-0 to be excluded")
    _remove(bed, "rack-full", "rack-2-full")
    equal(_node_of(bed, "rack-next"), "node-2")


def test_label_removed_between_allocation_and_binding(bed):
    """The agent is down when Slurm starts the job, and meanwhile another node gets the label."""
    _label(bed, "node-1", "kind=new")
    bed.slurm.run("scontrol", "update", "NodeName=node-1", "State=DRAIN", "Reason=test")
    made = bed.kube.create(_brief("kind", {"nodeSelector": {"kind": "new"}}))
    number = int(job_in_state(bed, made, "PENDING")["JobId"])
    bed.agent.kill9()
    bed.slurm.run("scontrol", "update", "NodeName=node-1", "State=RESUME")
    bed.slurm.wait_job(number, "RUNNING")
    _label(bed, "node-1", "kind-")
    bed.agent.start()
    wait_reason(bed, "kind", "SlurmNoNode", "kind=new", timeout=60)
    bed.slurm.wait_job(number, "FAILED")
    assert not bed.kube.get("Pod", "kind")["spec"].get(
        "nodeName"
    ), "bound to a node without the label"
    _label(bed, "node-2", "kind=new")
    equal(_node_of(bed, "kind"), "node-2")


def test_tolerated_taint_is_a_matter_of_the_pod(bed):
    """A tainted node is drained while no pod tolerates the taint; afterwards only tolerating pods
    can use it.
    """
    bed.plane.kubectl("taint", "node", "node-3", "dedicated=team:NoSchedule")
    wait_for(lambda: "DRAIN" in bed.slurm.node("node-3")["State"], "node-3 to be drained")
    tolerates = {
        "tolerations": [
            {"key": "dedicated", "operator": "Equal", "value": "team", "effect": "NoSchedule"}
        ]
    }
    bed.kube.create(_brief("team", {**tolerates, **_in_terms(_one("cores", "In", "64"))}))
    equal(_node_of(bed, "team"), "node-3")
    others = [bed.kube.create(_brief(f"anyone-{i}", cpu=4)) for i in range(8)]
    assert "node-3" not in {
        _node_of(bed, m["metadata"]["name"]) for m in others
    }, "a pod without the toleration ran on the tainted node"
    bed.plane.kubectl("taint", "node", "node-3", "dedicated-")


def test_host_ports(bed):
    """Four pods with one host port run on four nodes at once, one on each; the fifth waits for a
    free port. The same port of another protocol does not conflict.
    """

    def with_port(name, protocol="TCP"):
        manifest = pod(name)
        manifest["spec"]["containers"][0]["ports"] = [
            {"containerPort": 80, "hostPort": 8080, "protocol": protocol}
        ]
        return manifest

    names = [f"port-{i}" for i in range(4)]
    for name in names:
        bed.kube.create(with_port(name))
    nodes = {bed.kube.wait_phase(name, "Running")["spec"]["nodeName"] for name in names}
    equal(len(nodes), 4, "nodes of four pods with the same host port")
    bed.kube.create(with_port("port-udp", "UDP"))
    bed.kube.wait_phase("port-udp", "Running")
    bed.kube.create(with_port("port-5"))
    text = wait_reason(bed, "port-5", "SlurmNoNode")
    assert "host port 8080/TCP" in text, text
    free = bed.kube.pods()["port-2"]["spec"]["nodeName"]
    _remove(bed, "port-2")
    equal(bed.kube.wait_phase("port-5", "Running")["spec"]["nodeName"], free)
    _remove(bed, "port-0", "port-1", "port-3", "port-5", "port-udp")


def test_anti_affinity_spreads(bed):
    """A Job of four pods with anti-affinity gets four nodes, all at the first attempt."""
    manifest = job("apart", 4, cpu=1, kwok={"run": "1h"})
    manifest["spec"]["template"]["metadata"]["labels"] = {"app": "apart"}
    manifest["spec"]["template"]["spec"].update(_apart("apart"))
    bed.kube.create(manifest)
    bed.kube.wait(
        lambda: len([p for p in bed.kube.pods("apart-").values() if p["spec"].get("nodeName")])
        == 4,
        "four pods to be bound",
    )
    pods = list(bed.kube.pods("apart-").values())
    equal(len({p["spec"]["nodeName"] for p in pods}), 4, "nodes")
    for p in pods:
        equal(len(bed.slurm.job_of_pod(uid_of(p))), 1, "jobs of one pod")
    bed.kube.delete("Job", "apart")
    bed.kube.wait(lambda: not bed.kube.pods("apart-"), "the Job's pods to go")


def test_anti_affinity_of_those_who_are_there(bed):
    """The anti-affinity of another scheduler's pod applies to our pods, too."""
    alone = _labelled(pod("hermit", scheduler="by-hand", spec=_apart("noisy")), "hermit")
    bed.kube.create(alone)
    bed.kube.bind("hermit", "node-0")
    bed.kube.wait_phase("hermit", "Running")
    for i in range(8):
        bed.kube.create(_labelled(_brief(f"noisy-{i}", cpu=4), "noisy"))
    assert "node-0" not in {_node_of(bed, f"noisy-{i}") for i in range(8)}
    _remove(bed, "hermit")


def test_affinity_follows_company(bed):
    """The first pod of a group with affinity chooses the node, and the others follow."""
    _with_hosts(bed)
    together = {
        "affinity": {
            "podAffinity": {
                REQUIRED: [
                    {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "flock"}}}
                ]
            }
        }
    }
    for i in range(3):
        bed.kube.create(_labelled(pod(f"flock-{i}", spec=together), "flock"))
    nodes = {
        bed.kube.wait_phase(f"flock-{i}", "Running", timeout=60)["spec"]["nodeName"]
        for i in range(3)
    }
    equal(len(nodes), 1, f"{nodes}")
    _remove(bed, *(f"flock-{i}" for i in range(3)))


def _with_hosts(bed):
    for i in range(NODES):
        _label(bed, f"node-{i}", f"{HOST}=node-{i}")


def _zones(bed, zones):
    _with_hosts(bed)
    for node, zone in enumerate(zones):
        _label(bed, f"node-{node}", f"{ZONE}={zone}" if zone else ZONE + "-")


def _selecting(app, **more):
    return {"labelSelector": {"matchLabels": {"app": app}}, **more}


def _spread(app, key, **more):
    return {
        "topologySpreadConstraints": [
            _selecting(app, topologyKey=key, maxSkew=1, whenUnsatisfiable="DoNotSchedule", **more)
        ]
    }


def _bound_counts(bed, prefix, count, key):
    """The number of bound pods on the nodes of each value of the label."""
    bound = lambda: [
        p["spec"]["nodeName"] for p in bed.kube.pods(prefix).values() if p["spec"].get("nodeName")
    ]  # noqa: E731
    bed.kube.wait(lambda: len(bound()) == count, f"{count} pods {prefix} to be bound", 60)
    return dict(
        collections.Counter(
            bed.kube.get("Node", name)["metadata"]["labels"].get(key) for name in bound()
        )
    )


def test_topology_spread_over_zones(bed):
    """Seven pods of a Deployment in zones of one, one and two nodes: the counts never differ by
    more than one, at the first attempt, and pods beyond the zones' capacity wait.
    """
    _zones(bed, "abcc")
    made = workloads.template(
        cpu=2, labels={"app": "even"}, restart="Always", spec=_spread("even", ZONE)
    )
    workloads.create(
        bed,
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "even"},
            "spec": {"replicas": 7, "selector": {"matchLabels": {"app": "even"}}, "template": made},
        },
    )
    counts = _bound_counts(bed, "even-", 7, ZONE)
    equal(sorted(counts.values()), [2, 2, 3], f"pods in each zone: {counts}")
    for p in bed.kube.pods("even-").values():
        equal(len(bed.slurm.job_of_pod(uid_of(p))), 1, "jobs of one pod")
    workloads.change(bed, "Deployment", "even", {"spec": {"replicas": 14}})
    bed.kube.wait(
        lambda: len([p for p in bed.kube.pods("even-").values() if p["spec"].get("nodeName")])
        == 13,
        "all that the zones can take to be bound",
        60,
    )
    waits = next(
        name for name, p in bed.kube.pods("even-").items() if not p["spec"].get("nodeName")
    )
    wait_for(
        lambda: job_in_state(bed, bed.kube.pods()[waits], "PENDING")["ExcNodeList"] == "node-[2-3]",
        "the job that waits to be kept off zone c",
    )
    workloads.delete(bed, "Deployment", "even")
    bed.kube.wait(lambda: not bed.kube.pods("even-"), "the Deployment's pods to go", 60)


def test_topology_spread_of_those_who_waited_together(bed):
    """Slurm starts six waiting jobs at once, next to each other; allocations that violate the
    spread are given back, and never bound.
    """
    _zones(bed, "aabb")
    full = [bed.kube.create(pod(f"wall-{i}", cpu=CPUS)) for i in range(NODES)]
    for made in full:
        bed.kube.wait_phase(made["metadata"]["name"], "Running")
    for i in range(6):
        bed.kube.create(_labelled(pod(f"crowd-{i}", spec=_spread("crowd", ZONE)), "crowd"))
    for i in range(6):
        wait_reason(bed, f"crowd-{i}", "SlurmPending", "is pending")
    _remove(bed, *(m["metadata"]["name"] for m in full))
    equal(_bound_counts(bed, "crowd-", 6, ZONE), {"a": 3, "b": 3})
    _remove(bed, *(f"crowd-{i}" for i in range(6)))


def test_topology_spread_counts_as_kube_scheduler_does(bed):
    """minDomains, matchLabelKeys, nodeAffinityPolicy, nodeTaintsPolicy."""
    _zones(bed, "aabb")

    def labelled(name, spec, rev="1"):
        made = _labelled(pod(name, spec=spec), "count")
        made["metadata"]["labels"]["rev"] = rev
        return made

    zone_of = lambda name: bed.kube.get(
        "Node", bed.kube.wait_phase(name, "Running")["spec"]["nodeName"]
    )["metadata"]["labels"][
        ZONE
    ]  # noqa: E731
    bed.kube.create(labelled("count-0", _in_terms(_one(ZONE, "In", "a"))))
    equal(zone_of("count-0"), "a")
    bed.kube.create(labelled("few", _spread("count", ZONE, minDomains=3)))
    equal(zone_of("few"), "b")
    bed.kube.create(labelled("too-few", _spread("count", ZONE, minDomains=3)))
    wait_reason(bed, "too-few", "SlurmNoNode", f"the skew by {ZONE} 2")
    bed.kube.create(
        labelled(
            "keyed",
            {
                **_spread("count", ZONE, minDomains=3, matchLabelKeys=["rev"]),
                **_in_terms(_one(ZONE, "In", "a")),
            },
            rev="2",
        )
    )
    equal(zone_of("keyed"), "a")
    for name, policy in (("ignores", "Ignore"), ("honors", "Honor")):
        bed.kube.create(
            labelled(
                name,
                {
                    **_spread("count", ZONE, nodeAffinityPolicy=policy),
                    **_in_terms(_one(ZONE, "In", "a")),
                },
            )
        )
    wait_reason(bed, "ignores", "SlurmNoNode", "the skew by")
    equal(zone_of("honors"), "a")
    _remove(bed, "count-0", "few", "too-few", "keyed", "ignores", "honors")


def test_topology_spread_over_hosts_in_a_gang(bed):
    """Pods of an Indexed Job that start together: at most as many tasks per node as the spread
    allows.
    """
    manifest = job("hosts", NODES, indexed=True, cpu=1, kwok={"run": "2s"})
    manifest["spec"]["template"]["metadata"]["labels"] = {"app": "hosts"}
    manifest["spec"]["template"]["spec"].update(_spread("hosts", HOST))
    bed.kube.create(manifest)
    equal(_bound_counts(bed, "hosts-", NODES, HOST), {f"node-{i}": 1 for i in range(NODES)})
    bed.kube.delete("Job", "hosts")
    bed.kube.wait(lambda: not bed.kube.pods("hosts-"), "the Job's pods to go", 60)


def test_anti_affinity_by_zone(bed):
    """With two zones two such pods run, even beside a pod of another scheduler; the next one waits
    until one of them is gone.
    """
    _zones(bed, "aabb")
    apart = {"affinity": {"podAntiAffinity": {REQUIRED: [_selecting("zoned", topologyKey=ZONE)]}}}
    for i in range(3):
        bed.kube.create(_labelled(pod(f"zoned-{i}", spec=apart), "zoned"))
    equal(_bound_counts(bed, "zoned-", 2, ZONE), {"a": 1, "b": 1})
    waits = next(
        name for name, p in bed.kube.pods("zoned-").items() if not p["spec"].get("nodeName")
    )
    assert f"by {ZONE}, near default/zoned-" in wait_reason(bed, waits, "SlurmNoNode")
    gone = next(name for name, p in bed.kube.pods("zoned-").items() if p["spec"].get("nodeName"))
    _remove(bed, gone)
    bed.kube.wait_phase(waits, "Running", timeout=60)
    equal(_bound_counts(bed, "zoned-", 2, ZONE), {"a": 1, "b": 1})
    _remove(bed, *bed.kube.pods("zoned-"))


def test_affinity_by_zone(bed):
    """All pods run in the zone of the first, on any of its nodes."""
    _zones(bed, "aabb")
    near = {"affinity": {"podAffinity": {REQUIRED: [_selecting("herd", topologyKey=ZONE)]}}}
    for i in range(4):
        bed.kube.create(_labelled(pod(f"herd-{i}", cpu=3, spec=near), "herd"))
    counts = _bound_counts(bed, "herd-", 4, ZONE)
    equal(list(counts.values()), [4], f"pods in each zone: {counts}")
    _remove(bed, *(f"herd-{i}" for i in range(4)))


def test_affinity_by_labels_of_namespaces(bed):
    """A pod stays away from pods of namespaces with a label, as soon as these have the label."""
    _zones(bed, "aabb")
    bed.plane.kubectl("create", "namespace", "noisy-team")
    bed.plane.kubectl("label", "namespace", "noisy-team", "noise=high")
    loud = _labelled(pod("loud", scheduler="by-hand", spec={"nodeName": "node-0"}), "loud")
    loud["metadata"]["namespace"] = "noisy-team"
    bed.kube.request("POST", "/api/v1/namespaces/noisy-team/pods", loud)
    shy = {
        "affinity": {
            "podAntiAffinity": {
                REQUIRED: [
                    _selecting(
                        "loud",
                        topologyKey=ZONE,
                        namespaceSelector={"matchLabels": {"noise": "high"}},
                    )
                ]
            }
        }
    }
    zone_of = lambda name: bed.kube.get("Node", _node_of(bed, name))["metadata"]["labels"][
        ZONE
    ]  # noqa: E731
    bed.kube.create(_brief("shy-a", {**shy, "nodeSelector": {ZONE: "a"}}))
    wait_reason(bed, "shy-a", "SlurmNoNode", "near noisy-team/loud")
    for i in range(4):
        bed.kube.create(_brief(f"shy-{i}", shy, cpu=4))
    equal({zone_of(f"shy-{i}") for i in range(4)}, {"b"})
    bed.plane.kubectl("label", "namespace", "noisy-team", "noise=low", "--overwrite")
    equal(zone_of("shy-a"), "a")
    bed.plane.kubectl("delete", "namespace", "noisy-team", "--wait=false")


def test_what_cannot_be_honoured_is_refused(bed):
    """Slurm chooses the nodes of pods that start together all at once. Constraints between them by
    zone are therefore refused, and the condition names the field. Preferences are accepted.
    """
    near = {"affinity": {"podAffinity": {REQUIRED: [_selecting("together", topologyKey=ZONE)]}}}
    apart = {
        "affinity": {"podAntiAffinity": {REQUIRED: [_selecting("together", topologyKey=ZONE)]}}
    }
    specs = {
        "near": (near, "spec.affinity.podAffinity"),
        "apart": (apart, "spec.affinity.podAntiAffinity"),
        "spread": (_spread("together", ZONE), "spec.topologySpreadConstraints"),
    }
    for name, (spec, field) in specs.items():
        manifest = job(f"refused-{name}", 2, indexed=True)
        manifest["spec"]["template"]["metadata"]["labels"] = {"app": "together"}
        manifest["spec"]["template"]["spec"].update(spec)
        bed.kube.create(manifest)
        bed.kube.wait(
            lambda name=name: len(bed.kube.pods(f"refused-{name}-")) == 2, "its pods to be made"
        )
        one = next(iter(bed.kube.pods(f"refused-{name}-")))
        assert f"{field} with topologyKey {ZONE} between pods that start together" in wait_reason(
            bed, one, "SlurmRefused"
        ), field
        bed.kube.delete("Job", f"refused-{name}")
    bed.kube.create(
        pod("refused-claims", spec={"resourceClaims": [{"name": "x", "resourceClaimName": "y"}]})
    )
    wait_reason(bed, "refused-claims", "SlurmRefused", "spec.resourceClaims")
    _remove(bed, "refused-claims")
    soft = {
        "topologySpreadConstraints": [
            _selecting(
                "any", topologyKey="no-such-key", maxSkew=1, whenUnsatisfiable="ScheduleAnyway"
            )
        ]
    }
    bed.kube.create(_brief("spread-soft", soft))
    _node_of(bed, "spread-soft")


def test_foreign_pods_are_counted(bed):
    """Resources used by another scheduler's pods are not allocated: of eight pods of four CPUs only
    seven have room.
    """
    bed.kube.create(pod("daemon", cpu=3, scheduler="by-hand"))
    bed.kube.bind("daemon", "node-0")
    bed.kube.wait_phase("daemon", "Running")
    made = fill(bed, "beside", 4, 7)
    used = [p["spec"]["nodeName"] for p in (bed.kube.pods()[m["metadata"]["name"]] for m in made)]
    equal(used.count("node-0"), 1, "pods of four CPUs beside one of three on eight")
    _remove(bed, "daemon", *(m["metadata"]["name"] for m in made))


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed, 60)


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=NODES,
            cpus=CPUS,
            agent_options={"settings": {"limits": {"condition_interval_seconds": 1}}},
        ),
        unless=lambda p: p["spec"].get("schedulerName") != "slurm",
    )
