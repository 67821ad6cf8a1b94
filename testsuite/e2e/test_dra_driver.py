#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""The test bed's driver for dynamic resource allocation, without our agent: a real kubelet prepares
exactly the devices that a scheduler has written into the claim. The test is that scheduler.
"""
from lib import Cluster, equal, pod, run, wait_for
from lib.device_claims import (
    claim,
    claim_of,
    claim_template,
    device_class,
    devices_in,
    reserve,
    wait_deallocated,
    with_claim,
)
from lib.kube import ApiError

NODE, DEVICES = "real-1", 4
# After a failed preparation a kubelet waits for its next regular look at the pod, by default 60 to
# 90 s.
OFTEN = "syncFrequency: 2s"
SLOW = 180  # seconds; the start of a container needs half a dozen programs
UNTIL = "env; until [ -e /h/{} ]; do sleep 0.1; done"


def _driver(bed):
    """The first test that needs them starts the node and its driver."""
    if not bed.plane.dra_drivers:
        bed.plane.real_node(NODE, KUBELET_YAML=OFTEN)
        bed.plane.dra_driver(NODE, DEVICES)
        bed.kube.create(device_class())
    return bed.plane.dra_drivers[0]


def _pod(bed, name, shell="env", **source):
    """A pod with a claim; its program sees the run directory as /h."""
    manifest = with_claim(pod(name, shell=shell), **source)
    manifest["spec"]["volumes"] = [{"name": "h", "hostPath": {"path": str(bed.dir)}}]
    manifest["spec"]["containers"][0]["volumeMounts"] = [{"name": "h", "mountPath": "/h"}]
    return bed.kube.create(manifest)


def _devices_of(bed, name):
    """The devices in the environment of the pod's container, which ends by itself."""
    equal(
        bed.kube.wait_phase(name, "Succeeded", "Failed", timeout=SLOW)["status"]["phase"],
        "Succeeded",
    )
    return devices_in(wait_for(lambda: bed.kube.logs(name), f"the output of {name}"))


def test_kubelet_registers_the_driver(bed):
    """The ResourceSlice of the node's pool has all devices, each with its number."""
    driver = _driver(bed)
    (only,) = driver.slices()
    equal((only["spec"]["nodeName"], only["spec"]["driver"]), (NODE, "gpu.example.com"))
    numbers = {n: d["attributes"]["index"]["int"] for n, d in driver.devices().items()}
    equal(numbers, {f"gpu-{i}": i for i in range(DEVICES)})


def test_container_has_exactly_the_allocated_devices(bed):
    """Two claims of one node: gpu-2, and gpu-0 with gpu-3. When the pods have ended, the controller
    takes the allocations back.
    """
    driver = _driver(bed)
    chosen = {"single": ["gpu-2"], "pair": ["gpu-0", "gpu-3"]}
    for name, devices in chosen.items():
        bed.kube.create(claim(name, len(devices)))
        made = _pod(bed, name, resourceClaimName=name)
        reserve(bed, name, made, NODE, devices)
        bed.kube.bind(name, NODE)
    equal({name: _devices_of(bed, name) for name in chosen}, chosen)
    for name in chosen:
        wait_deallocated(bed, name)
    wait_for(lambda: not driver.prepared(), "the claims to be unprepared")


def test_pods_share_a_claim(bed):
    """A claim that is reserved for two pods: both containers have its device."""
    _driver(bed)
    bed.kube.create(claim("common"))
    names = ("one", "other")
    for name in names:
        made = _pod(bed, name, UNTIL.format("common-ends"), resourceClaimName="common")
        reserve(bed, "common", made, NODE, ["gpu-1"])
    for name in names:
        bed.kube.bind(name, NODE)
    for name in names:
        bed.kube.wait_phase(name, "Running", timeout=SLOW)
    (bed.dir / "common-ends").touch()
    equal([_devices_of(bed, name) for name in names], [["gpu-1"], ["gpu-1"]])
    wait_deallocated(bed, "common")


def test_claim_of_a_template(bed):
    """The controller makes the claim, whatever the pod's scheduler is, and deletes it with the pod.
    While the pod runs, its device is prepared.
    """
    driver = _driver(bed)
    bed.kube.create(claim_template("gpus"))
    made = _pod(bed, "templated", UNTIL.format("end"), resourceClaimTemplateName="gpus")
    name = claim_of(bed, "templated")
    uid = reserve(bed, name, made, NODE, ["gpu-1"])["metadata"]["uid"]
    bed.kube.bind("templated", NODE)
    bed.kube.wait_phase("templated", "Running", timeout=SLOW)
    (prepared,) = driver.prepared().values()
    assert uid in prepared and "gpu-1" in prepared, prepared
    (bed.dir / "end").touch()
    equal(_devices_of(bed, "templated"), ["gpu-1"])
    bed.kube.delete("Pod", "templated")
    wait_for(lambda: not driver.prepared(), "the claim to be unprepared")
    wait_for(lambda: _is_gone(bed, name), "the claim to be deleted")


def _is_gone(bed, name):
    try:
        bed.kube.get("ResourceClaim", name)
        return False
    except ApiError as e:
        return e.status == 404


def test_pod_waits_for_a_driver_that_is_away(bed):
    """The kubelet does not start the container, says so in an event, and tries again."""
    driver = _driver(bed)
    driver.kill9()
    bed.kube.create(claim("patient"))
    made = _pod(bed, "patient", resourceClaimName="patient")
    reserve(bed, "patient", made, NODE, ["gpu-3"])
    bed.kube.bind("patient", NODE)
    wait_for(lambda: "FailedPrepareDynamicResources" in _reasons(bed, "patient"), "the event")
    equal(bed.kube.get("Pod", "patient")["status"]["phase"], "Pending")
    driver.start()
    equal(_devices_of(bed, "patient"), ["gpu-3"])


def _reasons(bed, name):
    return {e["reason"] for e in bed.kube.list("Event") if e["regarding"].get("name") == name}


if __name__ == "__main__":
    run(lambda build: Cluster(build, agent=False, native=False))
