#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices of a hybrid node: a pod's container has exactly those whose indices Slurm has given to
its job, and native jobs beside it have others (see lib/hybrid_devices.py).

HYBRID_STARTS=N HYBRID_ROUNDS=N HYBRID_SEED=N: how many pods and native jobs start at random, how
often each daemon is killed, and the seed.
"""
import os
import random
import time

from history_checker.devices import given_twice
from lib import equal, pod, run, wait_for
from lib.device_claims import claim, claim_template, devices_in, with_claim
from lib.device_testbed import (
    DEVICES,
    IMPLICIT,
    UNTIL,
    devices_of_pod,
    indices_of_job,
    with_run_directory,
)
from lib.dra_driver import DraDriver
from lib.expect import job_in_state, only_job, wait_no_live_jobs, wait_reason
from lib.hybrid_crowd import Crowd, Killer
from lib.hybrid_devices import (
    DeviceSampler,
    HybridDeviceTestbed,
    devices_of_cgroup,
    holders_by_index,
    probes_left,
)
from lib.hybrid_testbed import SLOW
from lib.manifests import job

NODE = f"dev{os.getpid()}"  # short, because slurmstepd has a socket named after it
ALL = [f"gpu-{i}" for i in range(DEVICES)]
STARTS = int(os.environ.get("HYBRID_STARTS", "16"))
ROUNDS = int(os.environ.get("HYBRID_ROUNDS", "1"))
SEED = int(os.environ.get("HYBRID_SEED", "1"))


def _check_line(bed):
    return next(c for c in bed.agent.skube_all("check")["checks"] if c["name"] == "hybrid devices")


def _native(bed, count):
    """A running native job with so many devices; returns its number."""
    number = bed.start_native("exec srun sleep 600", f"--gres=gpu:{count}")
    bed.slurm.wait_job(number, "RUNNING")
    return number


def _wait_known(bed):
    """The agent reads the slices and the records of nodes by themselves, in any order."""
    indices = {name: index for index, name in enumerate(ALL)}
    wait_for(
        lambda: {name: row.get("index") for name, row in bed.shown().items()} == indices,
        f"skube show devices to be {indices}",
    )
    wait_for(lambda: _check_line(bed)["ok"], "skube check to be content", timeout=SLOW)


def test_the_numbers_of_devices_are_their_indices(bed):
    """Nothing of ours is in the record of the node."""
    _wait_known(bed)
    assert "slurm-kube" not in bed.slurm.node(NODE).get("Extra", "")


def test_a_pod_beside_a_native_job(bed):
    """Both orders of start. The environment of the container has the devices of the pod's job, and
    the native job's cgroup allows the others only.
    """
    bed.kube.create(claim_template("pair", 2))
    for name, native_first in (("second", True), ("first", False)):
        number = _native(bed, 1) if native_first else None
        made = bed.device_pod(name, UNTIL.format(f"{name}-ends"), resourceClaimTemplateName="pair")
        bed.kube.wait_phase(name, "Running", timeout=SLOW)
        number = number or _native(bed, 1)
        given, natives = bed.indices(made), indices_of_job(bed, number)
        equal((len(given), len(natives)), (2, 1))
        assert not set(given) & set(natives), (given, natives)
        wait_for(
            lambda: devices_of_cgroup(NODE, number, bed.files) == natives,
            "slurmd to confine the native job",
        )
        equal(probes_left(NODE), [])
        equal(devices_of_cgroup(NODE, only_job(bed, made)["JobId"], bed.files), given)
        (bed.dir / f"{name}-ends").touch()
        equal(devices_of_pod(bed, name), given)
        bed.slurm.run("scancel", str(number))
        bed.delete(name)
        bed.wait_idle()


def test_a_pod_waits_for_devices_of_a_native_job(bed):
    number = _native(bed, DEVICES - 1)
    bed.kube.create(claim("late", 2))
    made = bed.device_pod("late", UNTIL.format("late-ends"), resourceClaimName="late")
    wait_reason(bed, "late", "SlurmPending", "Resources")
    bed.slurm.run("scancel", str(number))
    bed.kube.wait_phase("late", "Running", timeout=SLOW)
    given = bed.indices(made)
    (bed.dir / "late-ends").touch()
    equal(devices_of_pod(bed, "late"), given)
    equal(job_in_state(bed, made, "COMPLETED", timeout=SLOW)["ExitCode"], "0:0")
    bed.delete("late")
    bed.wait_idle()


def test_a_container_with_a_device_of_another_job_is_not_created(bed):
    """A privileged container has all devices of the machine, and the pod's job has none of them."""
    manifest = pod("greedy", cpu="900m", memory="50Mi", shell="sleep 3600")
    manifest["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    made = bed.kube.create(manifest)
    wait_for(lambda: "Slurm has not given device" in bed.denied(made), "the refusal", timeout=SLOW)
    bed.delete("greedy")
    bed.wait_idle()


def test_a_device_file_of_another_index_is_refused(bed):
    """As if gres.conf had the files in another order: Slurm gives index 0, and the container gets
    the file of the last index. It is refused until it gets its own.
    """
    with bed.device_file_of_all(bed.files[-1]):
        bed.kube.create(claim_template("any", 1))
        made = bed.device_pod("crossed", "env", resourceClaimTemplateName="any")
        wait_for(lambda: str(bed.files[-1]) in bed.denied(made), "the refusal", timeout=SLOW)
        equal(bed.indices(made), ALL[:1])
    equal(devices_of_pod(bed, "crossed"), ALL[:1])
    bed.delete("crossed")
    bed.wait_idle()
    with bed.device_file_of_all(bed.files[0]):
        bed.device_pod("right", "env", resourceClaimTemplateName="any")
        equal(devices_of_pod(bed, "right"), ALL[:1])
    bed.delete("right")
    bed.wait_idle()


def test_a_device_that_vanishes(bed):
    """Slices and GRES differ: pods with claims get no device there, and say so, as does skube
    check. Native jobs go on. No other device takes the index of the one that is gone.
    """
    bed.driver.kill9()
    fewer = DraDriver(bed.plane, NODE, DEVICES - 1)
    fewer.start()
    try:
        wait_for(lambda: not _check_line(bed)["ok"], "skube check to say it", timeout=SLOW)
        line = _check_line(bed)
        assert "publishes gpu:3, and Slurm has gpu:4" in line["text"], line
        assert "gres.conf" in line["remedy"], line
        equal({row["state"] for row in bed.shown().values()}, {"unrecorded"})
        bed.kube.create(claim("patient"))
        bed.device_pod("patient", "env", resourceClaimName="patient")
        wait_reason(bed, "patient", "SlurmNoNode", "publishes gpu:3, and Slurm has gpu:4")
        bed.slurm.run("scancel", str(_native(bed, DEVICES)))
    finally:
        fewer.kill9()
        bed.driver.start()
    wait_for(lambda: _check_line(bed)["ok"], "skube check to be content", timeout=SLOW)
    equal(len(devices_of_pod(bed, "patient")), 1)
    bed.delete("patient")
    bed.wait_idle()


def test_a_new_agent_knows_the_devices(bed):
    """Nothing is kept, so nothing can be lost."""
    bed.kube.create(claim("kept"))
    made = bed.device_pod("kept", UNTIL.format("kept-ends"), resourceClaimName="kept")
    bed.kube.wait_phase("kept", "Running", timeout=SLOW)
    given = bed.indices(made)
    bed.agent.kill9()
    bed.agent.start()
    wait_for(lambda: bed.shown().get(given[0], {}).get("state") == "allocated", "the device")
    (bed.dir / "kept-ends").touch()
    equal(devices_of_pod(bed, "kept"), given)
    bed.delete("kept")
    bed.wait_idle()


def test_pods_of_a_gang_share_the_devices_of_their_job(bed):
    """One job of two tasks: each pod has one of its devices."""
    bed.kube.create(claim_template("crew", 1))
    manifest = job("crew", 2, indexed=True, cpu="900m", shell=UNTIL.format("crew-ends"))
    template = manifest["spec"]["template"]
    with_run_directory(bed, with_claim(template, resourceClaimTemplateName="crew"))
    owner = bed.kube.create(manifest)
    names = sorted(wait_for(lambda: len(found := bed.kube.pods("crew-")) == 2 and found, "pods"))
    for name in names:
        bed.kube.wait_phase(name, "Running", timeout=SLOW)
    given = bed.indices(owner)
    (bed.dir / "crew-ends").touch()
    had = [devices_of_pod(bed, name) for name in names]
    equal(([len(devices) for devices in had], sorted(sum(had, []))), ([1, 1], given))
    equal(job_in_state(bed, owner, "COMPLETED", timeout=SLOW)["ExitCode"], "0:0")
    bed.wait_idle()


def test_an_extended_resource(bed):
    """A pod without a claim asks for two devices by the resource that each class has."""
    manifest = with_run_directory(
        bed, pod("plain", cpu="900m", memory="50Mi", shell=UNTIL.format("plain-ends"))
    )
    resources = manifest["spec"]["containers"][0]["resources"]
    resources["requests"][IMPLICIT] = resources["limits"][IMPLICIT] = "2"
    made = bed.kube.create(manifest)
    bed.kube.wait_phase("plain", "Running", timeout=SLOW)
    given = bed.indices(made)
    (bed.dir / "plain-ends").touch()
    equal((devices_of_pod(bed, "plain"), len(given)), (given, 2))
    bed.delete("plain")
    bed.wait_idle()


def test_random_starts_and_ends(bed):
    """No device is ever in two jobs or two claims; each container has the devices of its job."""
    choose = random.Random(SEED)
    made, seen, wrong = {}, {}, []

    def look():
        for device, jobs in holders_by_index(bed).items():
            wrong.extend([f"{device}: {jobs}"] if len(jobs) > 1 else [])
            for number in jobs:
                seen.setdefault(number, set()).add(device)

    for i in range(STARTS):
        count, seconds = choose.choice((1, 2)), choose.choice((0, 1, 3))
        if choose.random() < 0.5:
            made[f"some-pod-{i}"] = bed.device_pod(
                f"some-pod-{i}", f"env; sleep {seconds}", resourceClaimTemplateName=f"some-{count}"
            )
        else:
            bed.start_native(f"exec srun sleep {seconds}", f"--gres=gpu:{count}")
        look()
    compared = 0
    for name, created in made.items():
        wait_for(lambda name=name: look() or _phase(bed, name) == "Succeeded", name, timeout=SLOW)
        number = only_job(bed, created)["JobId"]
        if number in seen:
            equal(devices_in(bed.kube.logs(name)), sorted(seen[number]), name)
            compared += 1
    assert compared, "no job of a pod was seen with its devices"
    equal(wrong, [])
    equal(given_twice(bed.kube.history["ResourceClaim"]), [])
    for name in made:
        bed.delete(name)
    bed.wait_idle()


def _phase(bed, name):
    return bed.kube.get("Pod", name)["status"]["phase"]


def _resume(bed):
    """Slurm may drain a node when a daemon of its own is killed at a bad time."""
    state = bed.state()
    if "DRAIN" in state or "DOWN" in state:
        print(f"# the node is {state}", flush=True)
        bed.slurm.run("scontrol", "update", f"NodeName={NODE}", "State=RESUME", check=False)
    return state


def test_nobody_shares_a_device_whatever_is_killed(bed):
    """Pods and native jobs start and end at random, while each daemon is killed."""
    with DeviceSampler(NODE, bed.containers) as sampler:
        crowd, killer = Crowd(bed, SEED, most=6), Killer(bed, SEED, ROUNDS)
        crowd.run(lambda: killer.is_done, killer.step)
        end = time.monotonic() + SLOW
        while not sampler.together and time.monotonic() < end:
            state = _resume(bed)
            crowd.step(True)
        crowd.wait_ended()
    print(f"# {crowd.counts}, {sampler.looks} looks, {sampler.together} at both kinds")
    equal(sampler.shared, [])
    equal(given_twice(bed.kube.history["ResourceClaim"]), [])
    assert sampler.together, f"no pod ran beside a native job; the node was {state}"
    _resume(bed)
    bed.wait_idle()
    bed.agent.wait_ready()


def test_devices_with_types(bed):
    """slurmctld has the types of gres.conf, and says which one a job has."""
    (model,) = {d["attributes"]["model"]["string"] for d in bed.driver.devices().values()}
    bed.use_type(model.lower())
    _wait_known(bed)
    bed.kube.create(claim("typed"))
    made = bed.device_pod("typed", UNTIL.format("typed-ends"), resourceClaimName="typed")
    bed.kube.wait_phase("typed", "Running", timeout=SLOW)
    shown = bed.slurm.run("scontrol", "-d", "show", "job", only_job(bed, made)["JobId"])
    assert f"GRES=gpu:{model.lower()}:1(IDX" in shown, shown
    given = bed.indices(made)
    (bed.dir / "typed-ends").touch()
    equal(devices_of_pod(bed, "typed"), given)
    bed.delete("typed")
    bed.wait_idle()


def test_no_job_is_left(bed):
    wait_no_live_jobs(bed, 60)


if __name__ == "__main__":
    run(lambda build: HybridDeviceTestbed(build, NODE))
