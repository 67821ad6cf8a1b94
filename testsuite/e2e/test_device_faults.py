#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 of the agent at each write for a claim, and of the driver and the kubelet, with a real
driver and a real kubelet. A proxy holds a write before the API server has seen it, or its answer;
what the dead agent has sent arrives when its successor is at work. Each pod runs with the devices
of its job, and no device is in two claims at once.
"""
from history_checker.devices import devices_of, given_twice
from lib import equal, run, wait_for
from lib.device_claims import claim, claim_template, taint_rule, wait_deallocated
from lib.device_testbed import (
    DEVICES,
    IMPLICIT,
    NODE,
    RULES,
    SLOW,
    UNTIL,
    DeviceTestbed,
    device_pod,
    devices_of_pod,
    extended_pod,
    indices_of_job,
)
from lib.expect import job_in_state, wait_no_live_jobs
from lib.fault_proxy import ApiProxy
from lib.kube import condition

# After a failed preparation a kubelet waits for its next regular look at the pod, by default 60 to
# 90 s.
OFTEN = "syncFrequency: 2s"
CLAIMS = r"/resourceclaims"


class Testbed(DeviceTestbed):
    """The agent reaches the API server through .api."""

    def __init__(self, build, **options):
        super().__init__(build, node_options={"KUBELET_YAML": OFTEN}, **options)

    def start_agent(self):
        self.api = ApiProxy(self.plane, self.base + 8)
        self.stack.callback(self.api.stop)
        self.agent.api_port = self.api.port
        super().start_agent()


def _of_claim(name, rest="", body=""):
    return "PATCH", rf"{CLAIMS}/{name}{rest}\?", body


WRITES = {
    "finalizer": lambda name: _of_claim(name),
    "allocation": lambda name: _of_claim(name, "/status", '"allocation": ?[{]'),
    "release": lambda name: _of_claim(name, "/status", '"allocation": ?null'),
    "new_claim": lambda name: ("POST", rf"{CLAIMS}\?", name),
    "mapping": lambda name: ("PATCH", rf"/pods/{name}/status\?", "extendedResourceClaimStatus"),
    "binding": lambda name: ("POST", rf"/pods/{name}/binding\?", ""),
}


def _kill_agent_in(bed, window, what):
    window.wait(what, SLOW)
    bed.agent.kill9()
    bed.agent.start()
    window.release()


def _runs_with_its_devices(bed, made, claim_name=None):
    """The pod starts, its container has the devices that its only running job has, and its end
    frees them.
    """
    name = made["metadata"]["name"]
    bed.kube.wait_phase(name, "Running", timeout=SLOW)
    # slurmctld ends a job if it cannot deliver the answer to its submission
    jobs = bed.slurm.job_of_pod(made["metadata"]["uid"])
    (number,) = [job["JobId"] for job in jobs if job["JobState"] == "RUNNING"]
    given = indices_of_job(bed, number)
    (bed.dir / f"{name}-ends").touch()
    equal(devices_of_pod(bed, name), given)
    if claim_name:
        wait_deallocated(bed, claim_name)
    wait_no_live_jobs(bed)


def _killed_at(bed, do, write):
    """With a claim by name, which has the name of the pod."""
    name = f"{write}-{do}".replace("_", "-")
    bed.kube.create(claim(name))
    window = bed.api.rule(do, *WRITES[write](name))
    made = device_pod(bed, name, UNTIL.format(f"{name}-ends"), resourceClaimName=name)
    _kill_agent_in(bed, window, write)
    _runs_with_its_devices(bed, made, name)


def _killed_at_extended(bed, do, write):
    """With an extended resource, for which the agent makes the claim."""
    name = f"{write}-{do}".replace("_", "-")
    window = bed.api.rule(do, *WRITES[write](name))
    made = extended_pod(bed, name, 2, IMPLICIT)
    _kill_agent_in(bed, window, write)
    _runs_with_its_devices(bed, made)
    equal(len(bed.claims_made_for(made)), 1)


def _killed_at_release(bed, do):
    """The devices are tainted between the allocation and the binding, so that they must be given
    back. Without the taint, the pod then runs.
    """
    name = f"release-{do}"
    bed.kube.create(claim(name))
    answered = bed.api.rule("after", *WRITES["allocation"](name))
    window = bed.api.rule(do, *WRITES["release"](name))
    made = device_pod(bed, name, UNTIL.format(f"{name}-ends"), resourceClaimName=name)
    answered.wait("allocation", SLOW)
    bed.kube.create(taint_rule(name))
    wait_for(lambda: "tainted" in _states(bed), "the agent to see the taint")
    answered.release()
    window.wait("release", SLOW)
    bed.kube.delete("DeviceTaintRule", name)
    _kill_agent_in(bed, window, "release")
    _runs_with_its_devices(bed, made, name)


def _states(bed):
    return {row["state"] for row in bed.agent.skube("show", "devices")["devices"]}


def test_agent_killed_finalizer_not_sent(bed):
    _killed_at(bed, "before", "finalizer")


def test_agent_killed_finalizer_not_answered(bed):
    _killed_at(bed, "after", "finalizer")


def test_agent_killed_allocation_not_sent(bed):
    _killed_at(bed, "before", "allocation")


def test_agent_killed_allocation_not_answered(bed):
    _killed_at(bed, "after", "allocation")


def test_agent_killed_binding_not_sent(bed):
    _killed_at(bed, "before", "binding")


def test_agent_killed_binding_not_answered(bed):
    _killed_at(bed, "after", "binding")


def test_agent_killed_new_claim_not_sent(bed):
    _killed_at_extended(bed, "before", "new_claim")


def test_agent_killed_new_claim_not_answered(bed):
    _killed_at_extended(bed, "after", "new_claim")


def test_agent_killed_mapping_not_sent(bed):
    _killed_at_extended(bed, "before", "mapping")


def test_agent_killed_mapping_not_answered(bed):
    _killed_at_extended(bed, "after", "mapping")


def test_agent_killed_release_not_sent(bed):
    _killed_at_release(bed, "before")


def test_agent_killed_release_not_answered(bed):
    _killed_at_release(bed, "after")


def _start(bed, name, count=1):
    bed.kube.create(claim(name, count))
    return device_pod(bed, name, UNTIL.format(f"{name}-ends"), resourceClaimName=name)


def _events(bed, name):
    return {e["reason"] for e in bed.kube.list("Event") if e["regarding"].get("name") == name}


def _seen(bed, name):
    """The pod as the watch shows it."""
    return bed.kube.now["Pod"].get(f"default/{name}", {"spec": {}, "status": {}})


def test_driver_killed(bed):
    """A pod that runs goes on. One that is bound meanwhile says why it does not start, and starts
    when the driver is back. Each has a device of its own.
    """
    first = _start(bed, "before")
    bed.kube.wait_phase("before", "Running", timeout=SLOW)
    bed.driver.kill9()
    second = _start(bed, "during")
    wait_for(lambda: "FailedPrepareDynamicResources" in _events(bed, "during"), "the event", SLOW)
    equal(bed.kube.get("Pod", "before")["status"]["phase"], "Running")
    bed.driver.start()
    bed.kube.wait_phase("during", "Running", timeout=SLOW)
    for made in (second, first):
        (bed.dir / f"{made['metadata']['name']}-ends").touch()
    assert devices_of_pod(bed, "during") != devices_of_pod(bed, "before")
    for name in ("during", "before"):
        wait_deallocated(bed, name)
    wait_no_live_jobs(bed)


def test_kubelet_killed_before_it_prepares(bed):
    """The pod is bound while the kubelet is dead, and starts with its devices when it is back."""
    bed.plane.kubelet(NODE, "--kill")
    made = _start(bed, "dead", 2)
    bed.kube.wait(lambda: _seen(bed, "dead")["spec"].get("nodeName"), "the binding", SLOW)
    equal(bed.kube.get("Pod", "dead")["status"]["phase"], "Pending")
    bed.plane.kubelet(NODE, "--start")
    _runs_with_its_devices(bed, made, "dead")


def test_kubelet_killed_while_devices_are_in_use(bed):
    """The pod ends while the kubelet is dead, which Kubernetes learns when it is back. Until then
    its devices are given to no other pod.
    """
    made = _start(bed, "unseen", DEVICES)
    bed.kube.wait_phase("unseen", "Running", timeout=SLOW)
    bed.plane.kubelet(NODE, "--kill")
    (bed.dir / "unseen-ends").touch()
    following = _start(bed, "following", DEVICES)
    bed.kube.wait(
        lambda: condition(_seen(bed, "following"), "PodScheduled").get("reason"),
        "the next pod to wait",
        SLOW,
    )
    bed.plane.kubelet(NODE, "--start")
    _runs_with_its_devices(bed, following, "following")
    equal(bed.kube.get("Pod", "unseen")["status"]["phase"], "Succeeded")
    equal(len(bed.slurm.job_of_pod(made["metadata"]["uid"])), 1)


def test_agent_killed_while_the_driver_is_away(bed):
    """The agent finds the pod bound and its claim written, and leaves both alone."""
    bed.driver.kill9()
    made = _start(bed, "both", 2)
    wait_for(lambda: "FailedPrepareDynamicResources" in _events(bed, "both"), "the event", SLOW)
    before = bed.kube.get("ResourceClaim", "both")["status"]
    bed.agent.kill9()
    bed.agent.start()
    bed.driver.start()
    bed.kube.wait_phase("both", "Running", timeout=SLOW)
    equal(bed.kube.get("ResourceClaim", "both")["status"]["allocation"], before["allocation"])
    _runs_with_its_devices(bed, made, "both")


def test_preparation_that_fails_for_ever(bed):
    """The start limit ends the pod. The kubelet keeps it until the driver has unprepared its claim,
    and so long its job goes on. When the driver is back, another pod gets the devices.
    """
    bed.kube.create(claim_template("whole", DEVICES))
    bed.agent.settings["limits"] = {"start_seconds": 15}
    bed.agent.restart()
    bed.driver.kill9()
    made = device_pod(bed, "never", resourceClaimTemplateName="whole")
    wait_for(lambda: "FailedPrepareDynamicResources" in _events(bed, "never"), "the event", SLOW)
    bed.kube.wait(
        lambda: condition(_seen(bed, "never"), "slurm-kube.io/StartLimit"),
        "the end of its start",
        SLOW,
    )
    job_in_state(bed, made, "RUNNING")
    bed.driver.start()
    bed.kube.wait_gone("never", SLOW)
    wait_no_live_jobs(bed)
    equal(len(bed.slurm.job_of_pod(made["metadata"]["uid"])), 1)
    del bed.agent.settings["limits"]
    bed.agent.restart()
    _runs_with_its_devices(
        bed,
        device_pod(bed, "next", UNTIL.format("next-ends"), resourceClaimTemplateName="whole"),
    )


def test_no_device_was_given_twice(bed):
    """At no moment of all tests above has a device been allocated to two claims."""
    with bed.kube.changed:
        events = list(bed.kube.history["ResourceClaim"])
    assert any(devices_of(claim) for _, _, claim in events), "no claim was ever allocated"
    equal(given_twice(events), [])


if __name__ == "__main__":
    run(
        lambda build: Testbed(
            build,
            slurm_options={"extra": ["GresTypes=gpu"]},
            agent_options={"settings": {"devices": RULES}},
        )
    )
