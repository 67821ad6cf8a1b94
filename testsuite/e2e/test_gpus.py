#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Extended resources as GRES: GPUs of kwok nodes are Slurm's gpu, pods that request them are jobs
with the same number, and a resource without a rule is refused.
"""
from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import job_in_state, only_job, uid_of, wait_no_live_jobs, wait_reason
from lib.manifests import kwok_node

GPU, MIG = "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"

RACKS = ["rack-0", "rack-1", "rack-2"]

# Dynamic nodes need this file, and on other nodes it numbers the devices. The device files need not
# exist where slurmctld runs.
GRES_CONF = """\
NodeName=gpu-0 Name=gpu File=/dev/kube-gpu[0-3]
NodeName=node-0 Name=gpu File=/dev/kube-gpu[0-1]
NodeName=mig-0 Name=gpu Type=mig-1g.5gb File=/dev/kube-mig[0-1]
NodeName=rack-[0-2] Name=gpu File=/dev/kube-gpu[0-7]
"""


class GpuTestbed(Cluster):
    """One node without GPUs, one with four GPUs and a taint as GPU operators set it, one with two
    slices of a GPU, and three with eight GPUs and another taint.
    """

    def start_slurm(self):
        (self.dir / "gres.conf").write_text(GRES_CONF if self.slurm.dynamic_nodes else "")
        super().start_slurm()

    def start_kubernetes(self):
        super().start_kubernetes()
        for name, resource, count in (
            ("gpu-0", GPU, 4),
            ("mig-0", MIG, 2),
            *((rack, GPU, 8) for rack in RACKS),
        ):
            node = kwok_node(name, *self.size, labels={"rack": str(name in RACKS).lower()})
            for side in ("capacity", "allocatable"):
                node["status"][side][resource] = str(count)
            node["spec"] = {
                "taints": [
                    {
                        "key": "rack" if name in RACKS else "nvidia.com/gpu",
                        "value": "present",
                        "effect": "NoSchedule",
                    }
                ]
            }
            self.kube.create(node)
            self.plane.wait_ready(name)
            self.names.append(name)


def _with(name, resource, count, **options):
    manifest = pod(name, **options)
    resources = manifest["spec"]["containers"][0]["resources"]
    resources["requests"][resource] = resources["limits"][resource] = str(count)
    manifest["spec"]["tolerations"] = [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]
    return manifest


def test_nodes_have_gpus(bed):
    """Nodes have as many GPUs as are allocatable, slices by their type, or none."""
    equal(
        {n: bed.slurm.node(n).get("Gres", "(null)") for n in bed.names},
        {
            "node-0": "(null)",
            "gpu-0": "gpu:4",
            "mig-0": "gpu:mig-1g.5gb:2",
            **dict.fromkeys(RACKS, "gpu:8"),
        },
    )


def test_gpus_are_shared_out(bed):
    """Two pods of two GPUs fill the node; the third waits in Slurm until one of them ends."""
    made = [bed.kube.create(_with(f"two-{i}", GPU, 2)) for i in range(2)]
    equal(
        {bed.kube.wait_phase(f"two-{i}", "Running")["spec"]["nodeName"] for i in range(2)},
        {"gpu-0"},
    )
    seen = only_job(bed, made[0])
    assert seen["TresPerNode"].replace("/", ":") == "gres:gpu:2", seen["TresPerNode"]
    bed.kube.create(_with("two-next", GPU, 2, kwok={"run": "50ms"}))
    wait_reason(bed, "two-next", "SlurmPending", "Resources")
    bed.kube.delete("Pod", "two-0")
    equal(bed.kube.wait_phase("two-next", "Succeeded")["spec"]["nodeName"], "gpu-0")
    bed.kube.delete("Pod", "two-1")
    wait_no_live_jobs(bed)


def test_slices_have_a_type(bed):
    """A slice is requested by its type, and does not count as a whole GPU."""
    made = bed.kube.create(_with("slice", MIG, 1, kwok={"run": "50ms"}))
    equal(bed.kube.wait_phase("slice", "Succeeded")["spec"]["nodeName"], "mig-0")
    equal(
        job_in_state(bed, made, "COMPLETED")["TresPerNode"].replace("/", ":"),
        "gres:gpu:mig-1g.5gb:1",
    )
    whole = [bed.kube.create(_with(f"whole-{i}", GPU, 1, kwok={"run": "50ms"})) for i in range(6)]
    equal(
        {
            bed.kube.wait_phase(m["metadata"]["name"], "Succeeded")["spec"]["nodeName"]
            for m in whole
        },
        {"gpu-0"},
    )


def test_pods_without_gpu_stay_off(bed):
    """The taint keeps them off the GPU node."""
    names = [f"plain-{i}" for i in range(4)]
    for name in names:
        bed.kube.create(pod(name, cpu=4, kwok={"run": "50ms"}))
    equal(
        {bed.kube.wait_phase(name, "Succeeded")["spec"]["nodeName"] for name in names}, {"node-0"}
    )


def _ranks(bed, name, pods, gpus, cpu=None, **annotations):
    """Runs an Indexed Job on the racks to its end; returns its Slurm job and the nodes of its pods,
    sorted.
    """
    manifest = job(name, pods, indexed=True, kwok={"run": "500ms"})
    manifest["metadata"]["annotations"] = {f"slurm-kube.io/{k}": v for k, v in annotations.items()}
    spec = manifest["spec"]["template"]["spec"]
    spec["tolerations"] = [{"key": "rack", "operator": "Exists"}]
    spec["nodeSelector"] = {"rack": "true"}
    spec["containers"][0]["resources"] = {
        "limits": {GPU: str(gpus)},
        "requests": {"cpu": str(cpu)} if cpu else {},
    }
    uid = bed.kube.create(manifest)["metadata"]["uid"]
    bed.kube.wait(
        lambda: sum(
            p["status"].get("phase") == "Succeeded" for p in bed.kube.pods(f"{name}-").values()
        )
        == pods,
        f"{pods} pods of {name} to succeed",
    )
    ended = [j for j in bed.slurm.jobs().values() if f'"uid":"{uid}' in j.get("AdminComment", "")]
    equal(len(ended), 1, "jobs of the gang")
    bed.slurm.wait_job(int(ended[0]["JobId"]), "COMPLETED")
    return ended[0], sorted(p["spec"]["nodeName"] for p in bed.kube.pods(f"{name}-").values())


def test_ranks_with_gpus_and_no_cpu(bed):
    """Devices are not added up: two pods of eight GPUs are not one task of sixteen, and nine pods
    of one GPU share nodes of eight.
    """
    seen, nodes = _ranks(bed, "pair", 2, 8)
    equal((seen["NumTasks"], len(set(nodes))), ("2", 2))
    equal(_ranks(bed, "nine", 9, 1)[0]["NumTasks"], "9")


def test_exclusive_ranks_with_gpus(bed):
    """Two exclusive nodes for four ranks of four GPUs: two ranks each, although the first node has
    enough CPUs for all.
    """
    seen, nodes = _ranks(bed, "alone", 4, 4, cpu=1, exclusive="true")
    equal((seen["NumNodes"], [nodes.count(n) for n in sorted(set(nodes))]), ("2", [2, 2]))


def test_more_than_any_node_has_is_not_submitted(bed):
    """The pod reports its request."""
    made = bed.kube.create(_with("many", GPU, 9))  # the racks have 8
    text = wait_reason(bed, "many", "SlurmNoNode")
    assert "no node is large enough" in text and "gpu" in text, text
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    bed.kube.delete("Pod", "many")


def test_unknown_resource_is_refused(bed):
    """The condition names the resource, and the place in the configuration for a rule."""
    made = bed.kube.create(_with("fpga", "example.com/fpga", 1))
    text = wait_reason(bed, "fpga", "SlurmRefused")
    assert "example.com/fpga" in text and "'gres' in slurmkubed.yaml" in text, text
    equal(bed.slurm.job_of_pod(uid_of(made)), [])
    bed.kube.delete("Pod", "fpga")


def test_node_that_gets_its_gpus_late(bed):
    """If Slurm has dynamic nodes, a node whose device plugin starts late is created again;
    otherwise skube check reports it.
    """
    bed.kube.patch(
        "Node", "node-0", {"status": {"capacity": {GPU: "2"}, "allocatable": {GPU: "2"}}}, "status"
    )
    if not bed.slurm.dynamic_nodes:
        wait_for(
            lambda: any(
                "NodeName=node-0 " in line and "Gres=gpu:2" in line
                for line in bed.agent.skube_text("nodes", "--slurm-conf", check=False).splitlines()
            ),
            "the line of node-0 to have GPUs",
        )
        return
    wait_for(
        lambda: bed.slurm.nodes().get("node-0", {}).get("Gres") == "gpu:2",
        "node-0 to have GPUs in Slurm",
        60,
    )
    bed.kube.create(_with("late", GPU, 1, cpu=1, kwok={"run": "50ms"}))
    bed.kube.wait_phase("late", "Succeeded", timeout=60)


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(
        lambda build: GpuTestbed(
            build,
            kwok=1,
            slurm_options={"extra": ["GresTypes=gpu"]},
            agent_options={"settings": {"limits": {"condition_interval_seconds": 1}}},
        )
    )
