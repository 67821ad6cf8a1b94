# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims for devices (resource.k8s.io), and what a scheduler writes into them: reserve() writes in
kube-scheduler's order, so that a test can take a scheduler's place.
"""
import datetime
import re

from .waiting import wait_for

DRIVER = "gpu.example.com"  # of dra_driver.py, and the name of its class
FINALIZER = "resource.kubernetes.io/delete-protection"
API = "resource.k8s.io/v1"
TAINT = "example.com/broken"


def device_class(name=DRIVER, expression=f"device.driver == '{DRIVER}'"):
    return {
        "apiVersion": API,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def taint_rule(name, device=None, effect="NoSchedule"):
    """Taints one device of the driver, or all."""
    selector = {"driver": DRIVER, **({"device": device} if device else {})}
    return {
        "apiVersion": API,
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {"deviceSelector": selector, "taint": {"key": TAINT, "effect": effect}},
    }


def _claim_spec(count, expression, class_name):
    exactly = {"deviceClassName": class_name, "count": count}
    if expression:
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    return {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}


def claim(name, count=1, expression=None, class_name=DRIVER):
    """One request, named gpu."""
    return {
        "apiVersion": API,
        "kind": "ResourceClaim",
        "metadata": {"name": name},
        "spec": _claim_spec(count, expression, class_name),
    }


def claim_template(name, count=1, expression=None, class_name=DRIVER):
    return {
        "apiVersion": API,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"spec": _claim_spec(count, expression, class_name)},
    }


def with_claim(pod, **source):
    """Gives all containers of the pod the claim; source: resourceClaimName=NAME or
    resourceClaimTemplateName=NAME.
    """
    pod["spec"]["resourceClaims"] = [{"name": "devices", **source}]
    for container in pod["spec"]["containers"]:
        container["resources"]["claims"] = [{"name": "devices"}]
    return pod


def claim_of(bed, pod_name):
    """Waits for the claim that the controller makes of the pod's template; returns its name."""

    def made():
        statuses = bed.kube.get("Pod", pod_name)["status"]["resourceClaimStatuses"]
        return statuses[0]["resourceClaimName"]

    return wait_for(made, f"the claim of {pod_name}")


def allocation(node, devices, request="gpu", driver=DRIVER):
    """What kube-scheduler writes for devices of one node."""
    here = {"key": "metadata.name", "operator": "In", "values": [node]}
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "devices": {
            "results": [
                {"request": request, "driver": driver, "pool": node, "device": d} for d in devices
            ]
        },
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [here]}]},
        "allocationTimestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def reserve(bed, claim_name, pod, node, devices):
    """The writes of a scheduler before the binding: the finalizer, then allocation and reservation
    in one. Returns the claim.
    """
    now = bed.kube.get("ResourceClaim", claim_name)
    if FINALIZER not in now["metadata"].get("finalizers", []):
        now["metadata"]["finalizers"] = now["metadata"].get("finalizers", []) + [FINALIZER]
        now = bed.kube.replace(now)
    user = {k: pod["metadata"][k] for k in ("name", "uid")}
    status = now.setdefault("status", {})
    status.setdefault("allocation", allocation(node, devices))
    status["reservedFor"] = status.get("reservedFor", []) + [{"resource": "pods", **user}]
    return bed.kube.replace(now, "status")


def wait_deallocated(bed, claim_name):
    """Returns when the controller has taken the allocation back, which it does after the pod's
    end.
    """

    def free():
        now = bed.kube.get("ResourceClaim", claim_name)
        return not now.get("status") and not now["metadata"].get("finalizers")

    wait_for(free, f"claim {claim_name} to be deallocated")


def devices_in(text):
    """The devices that a container has, by the output of its command env."""
    return sorted(re.findall(r"(?m)^GPU_DEVICE_\d+=(.*)$", text))
