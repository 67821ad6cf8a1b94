#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Resource claims with a real driver and a real kubelet: the container has exactly the devices
whose indices Slurm has given to the job.
"""
import time

from history_checker.devices import devices_of, given_twice
from lib import equal, run, wait_for
from lib.device_claims import (
    DRIVER,
    TAINT,
    claim,
    claim_of,
    claim_template,
    device_class,
    taint_rule,
    wait_deallocated,
    with_claim,
)
from lib.device_testbed import (
    DEVICES,
    IMPLICIT,
    NODE,
    RESOURCE,
    RULES,
    SLOW,
    UNTIL,
    DeviceTestbed,
    device_pod,
    devices_of_pod,
    extended_pod,
    indices,
    indices_of_job,
    with_run_directory,
)
from lib.expect import job_in_state, only_job, wait_no_live_jobs, wait_reason
from lib.manifests import job

EXTENDED = "resource.kubernetes.io/extended-resource-claim"


def test_node_has_the_devices(bed):
    """The node's record has the GRES, and Extra names the device of each index."""
    wait_for(lambda: bed.slurm.node(NODE).get("Gres") == f"gpu:{DEVICES}", "the node's GRES")
    wait_for(
        lambda: "gpu-0,gpu-1,gpu-2,gpu-3" in bed.slurm.node(NODE).get("Extra", ""),
        "the list of devices",
    )


def test_container_has_the_devices_of_its_job(bed):
    """Claims of templates: pods of two devices and of one run at the same time, each with the
    devices of its job. When they have ended, Kubernetes deletes their claims.
    """
    made = {}
    for name, count in (("two", 2), ("one", 1)):
        bed.kube.create(claim_template(name, count))
        made[name] = device_pod(bed, name, UNTIL.format("end"), resourceClaimTemplateName=name)
    for name in made:
        bed.kube.wait_phase(name, "Running", timeout=SLOW)
    given = {name: indices(bed, pod) for name, pod in made.items()}
    equal(len(set(given["two"]) | set(given["one"])), 3)
    claims = [claim_of(bed, name) for name in made]
    (bed.dir / "end").touch()
    equal({name: devices_of_pod(bed, name) for name in made}, given)
    wait_for(
        lambda: not {f"default/{name}" for name in claims} & set(bed.kube.now["ResourceClaim"]),
        "the claims to be deleted",
    )
    wait_no_live_jobs(bed)


def test_claim_by_name(bed):
    """A pod waits for a claim that does not exist yet, with a condition that says so."""
    made = device_pod(bed, "late", resourceClaimName="late")
    wait_reason(bed, "late", "SlurmWaitsForDevice", "resource claim late does not exist")
    bed.kube.create(claim("late"))
    devices = devices_of_pod(bed, "late")
    equal(len(devices), 1)
    equal(job_in_state(bed, made, "COMPLETED")["ExitCode"], "0:0")
    wait_deallocated(bed, "late")


def test_devices_are_taken_one_after_another(bed):
    """Three pods of two devices on a node of four: the third waits in Slurm's queue, and gets the
    devices when Kubernetes has freed them.
    """
    bed.kube.create(claim_template("pairs", 2))
    for i in range(2):
        device_pod(bed, f"pair-{i}", UNTIL.format(f"end-{i}"), resourceClaimTemplateName="pairs")
    for i in range(2):
        bed.kube.wait_phase(f"pair-{i}", "Running", timeout=SLOW)
    made = device_pod(bed, "pair-2", UNTIL.format("end-2"), resourceClaimTemplateName="pairs")
    wait_reason(bed, "pair-2", "SlurmPending", "Resources")
    (bed.dir / "end-0").touch()
    first = devices_of_pod(bed, "pair-0")
    bed.kube.wait_phase("pair-2", "Running", timeout=SLOW)
    equal(indices(bed, made), first)
    for i in (1, 2):
        (bed.dir / f"end-{i}").touch()
    equal(devices_of_pod(bed, "pair-2"), first)
    assert not set(devices_of_pod(bed, "pair-1")) & set(first)
    wait_no_live_jobs(bed)


def test_selector_that_no_device_meets(bed):
    """The pod says which class and selectors match nothing, and no job is submitted."""
    bed.kube.create(
        claim("picky", expression=f"device.attributes['{DRIVER}'].model == 'NO-SUCH-GPU'")
    )
    device_pod(bed, "picky", resourceClaimName="picky")
    wait_reason(bed, "picky", "SlurmWaitsForDevice", "no device of a rule")
    bed.kube.delete("Pod", "picky")


def test_selector_that_only_one_device_meets(bed):
    """Slurm cannot be told which of the node's devices the pod needs, and the pod says so."""
    bed.kube.create(claim("chosen", expression=f"device.attributes['{DRIVER}'].index == 2"))
    device_pod(bed, "chosen", resourceClaimName="chosen")
    wait_reason(bed, "chosen", "SlurmNoNode", "Slurm cannot be told which")
    bed.kube.delete("Pod", "chosen")


def test_device_taint_rule(bed):
    """While a DeviceTaintRule taints a device, Slurm cannot be told to leave it out, so that the
    node is left out. A pod that tolerates the taint gets its device. A rule with NoExecute ends the
    pod that has the device, which Kubernetes does, and its job.
    """
    bed.kube.create(taint_rule("broken", "gpu-2"))
    bed.kube.create(claim("wary"))
    device_pod(bed, "wary", UNTIL.format("wary-ends"), resourceClaimName="wary")
    wait_reason(bed, "wary", "SlurmNoNode", "Slurm cannot be told which")
    equal([row["device"] for row in _shown(bed) if row["state"] == "tainted"], ["gpu-2"])
    bed.kube.create(
        _claim_with("brave", count=DEVICES, tolerations=[{"key": TAINT, "operator": "Exists"}])
    )
    device_pod(bed, "brave", resourceClaimName="brave")
    equal(len(devices_of_pod(bed, "brave")), DEVICES)
    wait_deallocated(bed, "brave")
    bed.kube.delete("DeviceTaintRule", "broken")
    made = bed.kube.wait_phase("wary", "Running", timeout=SLOW)
    (device,) = indices(bed, made)
    bed.kube.create(taint_rule("burning", device, "NoExecute"))
    bed.kube.wait_gone("wary", SLOW)
    job_in_state(bed, made, "CANCELLED", "COMPLETED", "FAILED")
    bed.kube.delete("DeviceTaintRule", "burning")
    wait_deallocated(bed, "wary")
    wait_no_live_jobs(bed)


def _shown(bed):
    return bed.agent.skube("show", "devices")["devices"]


def _alternatives(*counts):
    """Of a request: as many devices as the first number that a node has."""
    return [{"name": f"by-{n}", "deviceClassName": DRIVER, "count": n} for n in counts]


def test_first_available_alternative(bed):
    """No node has eight devices, so the job asks for two; the claim and its environment name the
    alternative. If no alternative can be served, the pod says what the first one lacks.
    """
    wanted = claim("either")
    wanted["spec"]["devices"]["requests"] = [
        {"name": "gpu", "firstAvailable": _alternatives(8, 2, 1)}
    ]
    bed.kube.create(wanted)
    made = device_pod(bed, "either", UNTIL.format("either-ends"), resourceClaimName="either")
    bed.kube.wait_phase("either", "Running", timeout=SLOW)
    given = indices(bed, made)
    equal(len(given), 2)
    results = bed.kube.get("ResourceClaim", "either")["status"]["allocation"]["devices"]["results"]
    equal([(r["request"], r["device"]) for r in results], [("gpu/by-2", name) for name in given])
    (bed.dir / "either-ends").touch()
    equal(devices_of_pod(bed, "either"), given)
    wait_deallocated(bed, "either")
    wanted["metadata"]["name"] = "neither"
    wanted["spec"]["devices"]["requests"][0]["firstAvailable"] = _alternatives(8, 6)
    bed.kube.create(wanted)
    device_pod(bed, "neither", resourceClaimName="neither")
    wait_reason(bed, "neither", "SlurmNoNode", "has 4 of the 8 devices")
    bed.kube.delete("Pod", "neither")


def _claim_with(name, **more):
    wanted = claim(name)
    wanted["spec"]["devices"]["requests"][0]["exactly"].update(more)
    return wanted


def test_all_devices_of_a_node(bed):
    """allocationMode All: the job has all four devices, and so has the container."""
    wanted = _claim_with("whole", allocationMode="All")
    del wanted["spec"]["devices"]["requests"][0]["exactly"]["count"]
    bed.kube.create(wanted)
    made = device_pod(bed, "whole", UNTIL.format("whole-ends"), resourceClaimName="whole")
    bed.kube.wait_phase("whole", "Running", timeout=SLOW)
    equal(len(indices(bed, made)), DEVICES)
    (bed.dir / "whole-ends").touch()
    equal(len(devices_of_pod(bed, "whole")), DEVICES)
    wait_deallocated(bed, "whole")


def test_admin_access_to_a_device_in_use(bed):
    """A pod that watches devices has no device in Slurm, and starts while another pod has them."""
    label = {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}
    bed.kube.patch("Namespace", "default", label)
    bed.kube.create(claim("worker", DEVICES))
    device_pod(bed, "worker", UNTIL.format("worker-ends"), resourceClaimName="worker")
    bed.kube.wait_phase("worker", "Running", timeout=SLOW)
    wanted = _claim_with("watcher", allocationMode="All", adminAccess=True)
    del wanted["spec"]["devices"]["requests"][0]["exactly"]["count"]
    bed.kube.create(wanted)
    made = device_pod(bed, "watcher", resourceClaimName="watcher")
    bed.kube.wait_phase("watcher", "Succeeded", timeout=SLOW)
    equal(bed.kube.get("Pod", "watcher")["spec"]["nodeName"], NODE)
    assert "gpu" not in job_in_state(bed, made, "COMPLETED").get("TresPerNode", "")
    (bed.dir / "worker-ends").touch()
    equal(len(devices_of_pod(bed, "worker")), DEVICES)
    wait_deallocated(bed, "worker")


def test_agent_dies_between_writes(bed):
    """Killed while claims are written, the agent goes on where it was: every pod runs with the
    devices of its job, and no device is in two pods.
    """
    bed.kube.create(claim_template("double", 2))
    made = {}
    for name in ("double-0", "double-1"):
        made[name] = device_pod(bed, name, UNTIL.format("done"), resourceClaimTemplateName="double")
        wait_for(lambda name=name: claim_of(bed, name), "the claim")
        bed.agent.kill9()
        bed.agent.start()
    for name in made:
        bed.kube.wait_phase(name, "Running", timeout=SLOW)
    given = {name: indices(bed, pod) for name, pod in made.items()}
    equal(sorted(sum(given.values(), [])), [f"gpu-{i}" for i in range(DEVICES)])
    (bed.dir / "done").touch()
    equal({name: devices_of_pod(bed, name) for name in made}, given)
    wait_no_live_jobs(bed)


def _counted_class():
    named = device_class("counted")
    named["spec"]["extendedResourceName"] = RESOURCE
    return named


def test_extended_resource(bed):
    """A pod asks for two devices by the resource that a class names, and another one for one by the
    resource that each class has. The agent makes a claim for each, as kube-scheduler does; the
    containers have the devices of their jobs, and Kubernetes deletes the claims.
    """
    bed.kube.create(_counted_class())
    made = {
        "counted": extended_pod(bed, "counted", 2),
        "implicit": extended_pod(bed, "implicit", 1, IMPLICIT),
    }
    given, claims = {}, {}
    for name in made:
        status = bed.kube.wait_phase(name, "Running", timeout=SLOW)["status"]
        given[name] = indices(bed, made[name])
        claims[name] = status["extendedResourceClaimStatus"]["resourceClaimName"]
        found = bed.kube.get("ResourceClaim", claims[name])["metadata"]
        assert found["generateName"] == f"{name}-extended-resources-", found
        assert found["annotations"][EXTENDED] == "true", found
        equal(bed.claims_made_for(made[name]), {claims[name]})
    equal({name: len(devices) for name, devices in given.items()}, {"counted": 2, "implicit": 1})
    for name in made:
        (bed.dir / f"{name}-ends").touch()
    equal({name: devices_of_pod(bed, name) for name in made}, given)
    wait_for(
        lambda: not {f"default/{name}" for name in claims.values()}
        & set(bed.kube.now["ResourceClaim"]),
        "the claims to be deleted",
    )
    wait_no_live_jobs(bed)


def test_agent_dies_before_the_claim_of_an_extended_resource(bed):
    """Killed at any moment, the agent makes one claim, and the pod runs with its devices."""
    made = extended_pod(bed, "survivor", 3)
    for _ in range(4):
        bed.agent.kill9()
        bed.agent.start()
        time.sleep(1)
    bed.kube.wait_phase("survivor", "Running", timeout=SLOW)
    # slurmctld ends a job if it cannot deliver the answer to its submission
    jobs = bed.slurm.job_of_pod(made["metadata"]["uid"])
    (number,) = [job["JobId"] for job in jobs if job["JobState"] == "RUNNING"]
    given = indices_of_job(bed, number)
    (bed.dir / "survivor-ends").touch()
    equal(devices_of_pod(bed, "survivor"), given)
    equal(len(bed.claims_made_for(made)), 1)
    wait_no_live_jobs(bed)


def test_extended_resource_of_a_gang(bed):
    """Two pods of one job: each gets a claim of its own, with one of the job's devices."""
    manifest = job("alike", 2, indexed=True, shell=UNTIL.format("alike-ends"))
    template = with_run_directory(bed, manifest["spec"]["template"])
    resources = template["spec"]["containers"][0]["resources"]
    resources["requests"][IMPLICIT] = resources["limits"][IMPLICIT] = "1"
    owner = bed.kube.create(manifest)
    names = sorted(wait_for(lambda: len(found := bed.kube.pods("alike-")) == 2 and found, "pods"))
    for name in names:
        bed.kube.wait_phase(name, "Running", timeout=SLOW)
    given = indices(bed, owner)
    equal(len(given), 2)
    (bed.dir / "alike-ends").touch()
    equal(sorted(sum((devices_of_pod(bed, name) for name in names), [])), given)
    equal(job_in_state(bed, owner, "COMPLETED")["ExitCode"], "0:0")
    wait_no_live_jobs(bed)


def test_example_of_slurm_bridge(bed):
    """In the shape of its Job for dynamic resource allocation."""
    manifest = job("job-sleep-dra", 1, shell=UNTIL.format("bridge-ends"))
    manifest["metadata"]["annotations"] = {"slurmjob.slinky.slurm.net/job-name": "sleep-dra"}
    template = with_run_directory(bed, manifest["spec"]["template"])
    template["spec"]["containers"][0]["resources"]["limits"][IMPLICIT] = "1"
    bed.kube.create(manifest)
    (name,) = wait_for(lambda: bed.kube.pods("job-sleep-dra-"), "its pod")
    made = bed.kube.wait_phase(name, "Running", timeout=SLOW)
    equal(only_job(bed, made)["JobName"], "sleep-dra")
    given = indices(bed, made)
    (bed.dir / "bridge-ends").touch()
    equal(devices_of_pod(bed, name), given)
    wait_no_live_jobs(bed)


def test_pods_of_a_gang_share_the_devices_of_their_job(bed):
    """An Indexed Job of two pods is one Slurm job with four devices, and each pod has two of them
    for itself. The agent is killed before the claims are written.
    """
    bed.kube.create(claim_template("crew", 2))
    manifest = job("crew", 2, indexed=True, shell=UNTIL.format("crew-ends"))
    template = manifest["spec"]["template"]
    with_run_directory(bed, with_claim(template, resourceClaimTemplateName="crew"))
    owner = bed.kube.create(manifest)
    names = sorted(wait_for(lambda: len(found := bed.kube.pods("crew-")) == 2 and found, "pods"))
    for name in names:
        claim_of(bed, name)
    job_in_state(bed, owner, "PENDING", "RUNNING")  # slurmctld would end one without an agent
    bed.agent.kill9()
    bed.agent.start()
    for name in names:
        bed.kube.wait_phase(name, "Running", timeout=SLOW)
    given = indices(bed, owner)
    equal(len(given), DEVICES)
    (bed.dir / "crew-ends").touch()
    had = [devices_of_pod(bed, name) for name in names]
    equal([len(devices) for devices in had], [2, 2])
    equal(sorted(sum(had, [])), given)
    equal(job_in_state(bed, owner, "COMPLETED")["ExitCode"], "0:0")
    wait_no_live_jobs(bed)


def test_pods_wait_for_a_claim_that_another_pod_uses(bed):
    """Pods that share no Slurm job do not share a claim: the second runs after the first."""
    bed.kube.create(claim("common"))
    device_pod(bed, "first", UNTIL.format("first-ends"), resourceClaimName="common")
    bed.kube.wait_phase("first", "Running", timeout=SLOW)
    device_pod(bed, "second", resourceClaimName="common")
    wait_reason(bed, "second", "SlurmWaitsForDevice", "claim common is in use by other pods")
    (bed.dir / "first-ends").touch()
    equal(len(devices_of_pod(bed, "first")), 1)
    equal(len(devices_of_pod(bed, "second")), 1)
    wait_deallocated(bed, "common")
    wait_no_live_jobs(bed)


def _gang(bed, name, pods, shell, claims, cpu="100m"):
    """An Indexed Job whose pods have these claims. Returns it and the names of its pods."""
    manifest = job(name, pods, indexed=True, cpu=cpu, shell=shell)
    template = with_run_directory(bed, manifest["spec"]["template"])
    template["spec"]["resourceClaims"] = claims
    for container in template["spec"]["containers"]:
        container["resources"]["claims"] = [{"name": one["name"]} for one in claims]
    manifest["spec"]["backoffLimit"] = 6
    owner = bed.kube.create(manifest)
    return owner, sorted(
        wait_for(lambda: len(found := bed.kube.pods(f"{name}-")) == pods and found, "the pods")
    )


def _users(bed, name):
    status = bed.kube.get("ResourceClaim", name).get("status", {})
    return sorted(user["name"] for user in status.get("reservedFor", []))


def test_pods_of_a_gang_share_one_claim(bed):
    """Three pods name one claim for two devices: their job has two, and each container has both.
    The claim is reserved for all pods, and freed when they have ended. The agent is killed before
    the claim is written.
    """
    bed.kube.create(claim("team", 2))
    owner, names = _gang(
        bed, "team", 3, UNTIL.format("team-ends"), [{"name": "c", "resourceClaimName": "team"}]
    )
    bed.agent.kill9()
    bed.agent.start()
    for name in names:
        bed.kube.wait_phase(name, "Running", timeout=SLOW)
    given = indices(bed, owner)
    equal(len(given), 2)
    equal(_users(bed, "team"), names)
    (bed.dir / "team-ends").touch()
    equal([devices_of_pod(bed, name) for name in names], [given] * 3)
    equal(job_in_state(bed, owner, "COMPLETED")["ExitCode"], "0:0")
    wait_deallocated(bed, "team")
    wait_no_live_jobs(bed)


def test_own_and_shared_claims_of_a_gang(bed):
    """Two pods share a claim for two devices, and each has one device for itself: the job has
    four, and a task for each pod.
    """
    bed.kube.create(claim("both", 2))
    bed.kube.create(claim_template("own"))
    claims = [
        {"name": "c", "resourceClaimName": "both"},
        {"name": "d", "resourceClaimTemplateName": "own"},
    ]
    owner, names = _gang(bed, "mixed", 2, UNTIL.format("mixed-ends"), claims, cpu="1")
    for name in names:
        bed.kube.wait_phase(name, "Running", timeout=SLOW)
    equal(only_job(bed, owner)["NumTasks"], "2")
    equal(len(indices(bed, owner)), DEVICES)
    (bed.dir / "mixed-ends").touch()
    one, other = [set(devices_of_pod(bed, name)) for name in names]
    equal((len(one), len(other), len(one & other), len(one | other)), (3, 3, 2, DEVICES))
    wait_deallocated(bed, "both")
    wait_no_live_jobs(bed)


FAILS_ONCE = (
    "if [ $JOB_COMPLETION_INDEX = 1 ] && ! [ -e /h/failed ];"
    " then until [ -e /h/fail ]; do sleep 0.1; done; touch /h/failed; exit 1; fi; "
)


def test_replacement_shares_the_claim(bed):
    """A pod of the gang fails, and the Job creates another one: it gets the device that the pods
    which go on have.
    """
    bed.kube.create(claim("again"))
    shell = FAILS_ONCE + UNTIL.format("again-ends")
    claims = [{"name": "c", "resourceClaimName": "again"}]
    owner, names = _gang(bed, "again", 2, shell, claims)
    for name in names:
        bed.kube.wait_phase(name, "Running", timeout=SLOW)
    given = indices(bed, owner)
    (bed.dir / "fail").touch()
    bed.kube.wait_phase(names[1], "Failed", timeout=SLOW)
    (last,) = wait_for(
        lambda: len(new := set(bed.kube.pods("again-")) - set(names)) == 1 and new, "the next pod"
    )
    bed.kube.wait_phase(last, "Running", timeout=SLOW)
    wait_for(lambda: _users(bed, "again") == sorted([names[0], last]), "the reservations")
    (bed.dir / "again-ends").touch()
    equal([devices_of_pod(bed, name) for name in (names[0], last)], [given, given])
    wait_deallocated(bed, "again")
    wait_no_live_jobs(bed)


def test_shared_claim_that_no_node_can_serve(bed):
    """The pods say which claim needs too many devices, and no job is submitted."""
    bed.kube.create(claim("huge", DEVICES + 1))
    _, names = _gang(bed, "huge", 2, "env", [{"name": "c", "resourceClaimName": "huge"}])
    wait_reason(bed, names[0], "SlurmNoNode", "share resource claim huge")
    bed.kube.delete("Job", "huge")


def test_no_device_was_given_twice(bed):
    """At no moment of all tests above has a device been allocated to two claims."""
    with bed.kube.changed:
        events = list(bed.kube.history["ResourceClaim"])
    assert any(devices_of(claim) for _, _, claim in events), "no claim was ever allocated"
    equal(given_twice(events), [])


if __name__ == "__main__":
    run(
        lambda build: DeviceTestbed(
            build,
            slurm_options={"extra": ["GresTypes=gpu"]},
            agent_options={"settings": {"devices": RULES}},
        )
    )
