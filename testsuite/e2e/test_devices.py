#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices of dynamic resource allocation as GRES: ResourceSlices decide the GRES of nodes and which
device has which index, and the list in the record of a node stays while it is in use. No driver
runs here: the test writes the slices.
"""
import time

from lib import Cluster, equal, pod, run, wait_for
from lib.device_claims import device_class
from lib.expect import wait_no_live_jobs, wait_reason
from lib.manifests import kwok_node
from lib.objects import skube_manifests

DRIVER, TYPED, GPU = "gpu.example.com", "accel.example.com", "nvidia.com/gpu"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
WORD = f"slurm-kube:gpu@{DRIVER}="

# Dynamic nodes need this file, and on other nodes it numbers the devices.
GRES_CONF = """\
NodeName=node-0 Name=gpu File=/dev/kube-gpu[0-3]
NodeName=late-0 Name=gpu File=/dev/kube-gpu[0-1]
NodeName=node-1 Name=accel Type=a100 File=/dev/kube-accel[0-1]
NodeName=node-1 Name=accel Type=h100 File=/dev/kube-accel2
"""

RULES = [
    {"driver": DRIVER},
    {
        "driver": TYPED,
        "gres": "accel",
        "only": f"device.attributes['{TYPED}'].?spare.orValue(false) == false",
        "type_attribute": "model",
        "order": "name",
    },
]


def _slice(name, node, devices, generation=1, count=1, driver=DRIVER):
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": generation, "resourceSliceCount": count},
            "devices": devices,
        },
    }


def _devices(*names):
    return [{"name": name} for name in names]


def _accel(name, model, **more):
    attributes = {"model": {"string": model}, **{k: {"bool": v} for k, v in more.items()}}
    return {"name": name, "attributes": attributes}


def _publish(bed, *slices):
    """Creates them, or replaces those of the same name."""
    for one in slices:
        path = f"{SLICES}/{one['metadata']['name']}"
        old = [
            s
            for s in bed.kube.request("GET", SLICES)["items"]
            if s["metadata"]["name"] == one["metadata"]["name"]
        ]
        if old:
            one["metadata"]["resourceVersion"] = old[0]["metadata"]["resourceVersion"]
            bed.kube.request("PUT", path, one)
        else:
            bed.kube.request("POST", SLICES, one)


def _withdraw(bed, name):
    bed.kube.request("DELETE", f"{SLICES}/{name}")


class DevicesTestbed(Cluster):
    """node-0 has four devices in two slices, and an extended resource of the same number, with
    which pods ask for them; node-1 has devices of two types and a spare one.
    """

    def start_slurm(self):
        (self.dir / "gres.conf").write_text(GRES_CONF)
        super().start_slurm()

    def start_kubernetes(self):
        super().start_kubernetes()
        for side in ("capacity", "allocatable"):
            self.kube.patch("Node", "node-0", {"status": {side: {GPU: "4"}}}, "status")
        _publish(
            self,
            _slice("a", "node-0", _devices("gpu-10", "gpu-2"), count=2),
            _slice("b", "node-0", _devices("gpu-0", "gpu-1"), count=2),
            _slice(
                "accel",
                "node-1",
                [
                    _accel("x-0", "H100"),
                    _accel("x-1", "A100"),
                    _accel("x-2", "A100"),
                    _accel("x-3", "H100", spare=True),
                ],
                driver=TYPED,
            ),
        )

    def start_agent(self):
        self.stack.callback(self.agent.stop)
        self.agent.start()
        text = skube_manifests(self, "--config", self.dir / "slurmkubed.yaml", "--only", "rbac")
        self.plane.kubectl("apply", "-f", "-", stdin=text)
        wait_for(lambda: _check(self)["ok"], "the agent to know the devices", 60)
        self.sync_nodes(self.names)


def _gres(bed, name):
    return bed.slurm.nodes().get(name, {}).get("Gres", "").partition("(")[0]


def _extra(bed, name):
    return bed.slurm.nodes().get(name, {}).get("Extra", "")


def _wait_extra(bed, name, text):
    wait_for(lambda: _extra(bed, name) == text, f"Extra of {name} to be '{text}'")


def _stays(bed, name, gres, extra, seconds=4):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        equal((_gres(bed, name), _extra(bed, name)), (gres, extra))
        time.sleep(0.5)


def _shown(bed, node):
    """[(index, device, state)] of a node, and why its lists cannot be made."""
    reply = bed.agent.skube("show", "devices")
    rows = [
        (row.get("index"), row["device"], row["state"])
        for row in reply["devices"]
        if row["node"] == node
    ]
    return rows, [one["why"] for one in reply["troubles"] if one["node"] == node]


def _check(bed):
    return next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == "devices")


def _count(bed, text):
    return (bed.dir / "log/slurmkubed.out").read_text(errors="replace").count(text)


def _notes(bed):
    """How often the agent has written a list."""
    return _count(bed, "devices noted in Slurm's record")


def _lists(bed):
    return _count(bed, "resource slice list complete") + _count(bed, "device class list complete")


def _create_with(bed, name, resource):
    """A pod with one of the resource."""
    manifest = pod(name, kwok={"run": "1h"})
    resources = manifest["spec"]["containers"][0]["resources"]
    resources["requests"][resource] = resources["limits"][resource] = "1"
    return bed.kube.create(manifest)


ORDER = ("gpu-0", "gpu-1", "gpu-2", "gpu-10")
LIST = WORD + ",".join(ORDER)


def test_nodes_have_gres_and_the_list_of_their_devices(bed):
    """Index i is the i-th device by its number, types stand together."""
    equal((_gres(bed, "node-0"), _gres(bed, "node-1")), ("gpu:4", "accel:a100:2,accel:h100:1"))
    _wait_extra(bed, "node-0", LIST)
    _wait_extra(bed, "node-1", f"slurm-kube:accel@{TYPED}=x-1,x-2,x-0")
    # The agent reads the records of nodes at intervals, so it sees its own list a moment later.
    shown = [(i, name, "free") for i, name in enumerate(ORDER)], []
    wait_for(lambda: _shown(bed, "node-0") == shown, f"skube show devices to be {shown}")
    wait_for(lambda: _check(bed)["ok"], "skube check to find all lists complete")


def test_a_job_has_the_device_of_its_index(bed):
    """skube show devices names the job and its pod."""
    _create_with(bed, "uses", GPU)
    equal(bed.kube.wait_phase("uses", "Running")["spec"]["nodeName"], "node-0")
    states = wait_for(
        lambda: [s for _, _, s in _shown(bed, "node-0")[0] if s == "allocated"]
        and [s for _, _, s in _shown(bed, "node-0")[0]],
        "a device to be allocated",
    )
    equal(states, ["allocated", "free", "free", "free"])
    row = next(r for r in bed.agent.skube("show", "devices")["devices"] if "job" in r)
    equal((row["device"], row["pod"]), ("gpu-0", "uses"))


def test_a_list_stays_while_its_node_is_in_use(bed):
    """A pool that changes gets a new list when the job has ended."""
    _publish(bed, _slice("a", "node-0", _devices("gpu-2", "gpu-3", "gpu-4", "gpu-5"), 2))
    wait_for(
        lambda: (0, "gpu-0", "allocated") in _shown(bed, "node-0")[0]
        and (1, "gpu-1", "missing") in _shown(bed, "node-0")[0]
        and (None, "gpu-5", "unrecorded") in _shown(bed, "node-0")[0],
        "the agent to see the new generation",
    )
    _stays(bed, "node-0", "gpu:4", LIST)
    bed.kube.delete("Pod", "uses")
    wait_no_live_jobs(bed)
    _wait_extra(bed, "node-0", WORD + "gpu-2,gpu-3,gpu-4,gpu-5")


def test_an_incomplete_generation_changes_nothing(bed):
    """The list changes when the last slice is there."""
    before = _extra(bed, "node-0")
    _publish(bed, _slice("b", "node-0", _devices("gpu-10", "gpu-2"), 3, 2))
    wait_for(lambda: "1 of 2 slices" in "".join(_shown(bed, "node-0")[1]), "the pool to be seen")
    wait_for(lambda: "1 of 2 slices" in _check(bed)["remedy"], "skube check to say so")
    _stays(bed, "node-0", "gpu:4", before)
    _publish(bed, _slice("a", "node-0", _devices("gpu-0", "gpu-1"), 3, 2))
    _wait_extra(bed, "node-0", LIST)


def test_slices_that_are_gone_for_a_while_change_nothing(bed):
    """A driver that restarts withdraws its slices."""
    notes = _notes(bed)
    _withdraw(bed, "a")
    _withdraw(bed, "b")
    wait_for(
        lambda: {state for _, _, state in _shown(bed, "node-0")[0]} == {"missing"},
        "the agent to miss the devices",
    )
    assert "publishes no devices" in "".join(_shown(bed, "node-0")[1]), _shown(bed, "node-0")
    _stays(bed, "node-0", "gpu:4", LIST)
    _publish(
        bed,
        _slice("a", "node-0", _devices("gpu-10", "gpu-2"), count=2),
        _slice("b", "node-0", _devices("gpu-0", "gpu-1"), count=2),
    )
    wait_for(
        lambda: {state for _, _, state in _shown(bed, "node-0")[0]} == {"free"},
        "the agent to see the devices again",
    )
    _stays(bed, "node-0", "gpu:4", LIST, 2)
    equal(_notes(bed), notes)


def test_text_of_the_site_stays(bed):
    """Only the agent's word in Extra is the agent's."""
    bed.slurm.run("scontrol", "update", "NodeName=node-0", "Extra=rack-7")
    _wait_extra(bed, "node-0", f"rack-7 {LIST}")
    _publish(bed, _slice("a", "node-0", _devices("gpu-9", "gpu-8", "gpu-7", "gpu-6"), 2))
    _wait_extra(bed, "node-0", f"rack-7 {WORD}gpu-6,gpu-7,gpu-8,gpu-9")


def test_restarts_write_nothing(bed):
    """slurmctld keeps the list, and an agent that starts finds it there."""
    notes, before = _notes(bed), _extra(bed, "node-0")
    bed.slurm.restart()
    bed.agent.restart()
    bed.slurm.reconfigure()
    _stays(bed, "node-0", "gpu:4", before)
    equal(_notes(bed), notes)


def test_a_resource_of_a_class_is_not_taken_from_a_device_plugin(bed):
    """While a DeviceClass names the resource, the node where a device plugin offers it is left out;
    without the class the pod gets it there.
    """
    named = device_class("named", f"device.driver == '{DRIVER}'")
    named["spec"]["extendedResourceName"] = GPU
    bed.kube.create(named)
    _create_with(bed, "plugged", GPU)
    wait_reason(bed, "plugged", "SlurmNoNode", f"offers {GPU} by a device plugin")
    bed.kube.delete("DeviceClass", "named")
    equal(bed.kube.wait_phase("plugged", "Running")["spec"]["nodeName"], "node-0")
    assert "extendedResourceClaimStatus" not in bed.kube.get("Pod", "plugged")["status"]
    bed.kube.delete("Pod", "plugged")
    wait_no_live_jobs(bed)


def _lines(bed, name):
    text = bed.agent.skube_text("nodes", "--slurm-conf", check=False)
    return [line for line in text.splitlines() if f"NodeName={name} " in line]


def test_a_new_node_waits_for_its_complete_pool(bed):
    """Where the agent makes records; otherwise the line of the node gets its GRES."""
    _publish(bed, _slice("late-a", "late-0", _devices("gpu-0"), count=2))
    bed.kube.create(kwok_node("late-0", *bed.size))
    bed.plane.wait_ready("late-0")
    wait_for(lambda: "1 of 2 slices" in "".join(_shown(bed, "late-0")[1]), "the pool to be seen")
    if bed.slurm.dynamic_nodes:
        time.sleep(4)
        assert "late-0" not in bed.slurm.nodes()
    else:
        assert "Gres" not in "".join(_lines(bed, "late-0")), _lines(bed, "late-0")
    _publish(bed, _slice("late-b", "late-0", _devices("gpu-1"), count=2))
    if not bed.slurm.dynamic_nodes:
        wait_for(lambda: "Gres=gpu:2" in "".join(_lines(bed, "late-0")), "the line to have GRES")
    bed.names.append("late-0")
    bed.sync_nodes(bed.names)
    equal(_gres(bed, "late-0"), "gpu:2")
    _wait_extra(bed, "late-0", WORD + "gpu-0,gpu-1")


def test_without_rules_nothing_is_watched(bed):
    """An agent without the section starts no watch, and leaves Extra alone."""
    rules = bed.agent.settings.pop("devices")
    notes, before = _notes(bed), _extra(bed, "node-0")
    watches = _lists(bed)
    bed.agent.restart()
    time.sleep(2)
    equal(_lists(bed), watches)
    equal(bed.agent.skube("show", "devices")["rules"], 0)
    equal((_notes(bed), _extra(bed, "node-0")), (notes, before))
    bed.agent.settings["devices"] = rules
    bed.agent.restart()
    wait_for(lambda: _check(bed)["ok"], "the lists to be complete again")


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(
        lambda build: DevicesTestbed(
            build,
            kwok=2,
            slurm_options={"extra": ["GresTypes=gpu,accel"]},
            agent_options={"settings": {"devices": RULES}},
        )
    )
