#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims for CPUs with Kubernetes' dra-driver-cpu and a real kubelet: a container may use exactly
the CPUs that are the cores which Slurm has given to its job.
"""
import os
import re

from history_checker.devices import given_twice
from lib import Cluster, equal, job, pod, run, wait_for
from lib.cpusets import CPUSETS, Sampler, numbers
from lib.device_claims import claim, claim_template, device_class, wait_deallocated, with_claim
from lib.device_testbed import SLOW, with_run_directory
from lib.expect import job_in_state, only_job, wait_no_live_jobs, wait_reason
from lib.objects import skube_manifests

NODE, CLASS = "real-1", "dra.cpu"
# The machine's last two; the system has the others.
CPUS, FIRST = 2, os.cpu_count() - 2
ALL = set(range(FIRST, FIRST + CPUS))
MOST = "grep Cpus_allowed_list /proc/self/status"
UNTIL = MOST + "; until [ -e /h/{} ]; do sleep 0.1; done; " + MOST


class CpuTestbed(Cluster):
    """A real node whose CPUs are devices, and a rule that makes them Slurm's cores."""

    def start_kubernetes(self):
        super().start_kubernetes()
        self.plane.real_node(NODE, **({"RESERVE_CPUS": FIRST} if FIRST else {}))
        reserved = {"reserved_cpus": f"0-{FIRST - 1}"} if FIRST else {}
        self.plane.cpu_driver(NODE, **reserved)
        self.kube.create(device_class(CLASS, f"device.driver == '{CLASS}'"))
        self.kube.watch("ResourceClaim")
        self.names.append(NODE)

    def start_agent(self):
        self.stack.callback(self.agent.stop)
        self.agent.start()
        text = skube_manifests(self, "--config", self.dir / "slurmkubed.yaml", "--only", "rbac")
        self.plane.kubectl("apply", "-f", "-", stdin=text)
        wait_for(lambda: len(self.shown()) == CPUS, "the agent to know the CPUs")
        self.sync_nodes(self.names)

    def shown(self):
        return self.agent.skube("show", "devices")["devices"]

    @property
    def driver(self):
        return self.plane.dra_drivers[0]


def _manifest(bed, name, cpus=1, shell=MOST, **source):
    return with_run_directory(bed, with_claim(pod(name, cpu=cpus, shell=shell), **source))


def _pod(bed, name, cpus=1, shell=MOST):
    """With a claim of its own for as many CPUs as it requests."""
    bed.kube.create(claim_template(name, cpus, class_name=CLASS))
    return bed.kube.create(_manifest(bed, name, cpus, shell, resourceClaimTemplateName=name))


def _cpus_of_job(bed, made):
    """The CPUs of Linux that the cores are which scontrol names: the driver says which CPU a device
    is, and the node's record which device a core is.
    """
    shown = bed.slurm.run("scontrol", "-d", "show", "job", only_job(bed, made)["JobId"])
    cores = numbers(re.search(rf"Nodes={NODE} CPU_IDs=([\d,-]+)", shown)[1])
    by_core = bed.slurm.node(NODE)["Extra"].partition(f"cores@{CLASS}=")[2].split(",")
    devices = bed.driver.devices()
    return {devices[by_core[core]]["attributes"]["dra.cpu/cpuID"]["int"] for core in cores}


def _cpus_of_container(bed, name, ends=True):
    """What its program may use, at its start and at its end."""
    if ends:
        phase = bed.kube.wait_phase(name, "Succeeded", "Failed", timeout=SLOW)["status"]["phase"]
        equal(phase, "Succeeded")
    text = wait_for(lambda: bed.kube.logs(name), f"the output of {name}")
    sets = re.findall(r"Cpus_allowed_list:\s*(\S+)", text)
    return [numbers(one) for one in sets]


def test_record_names_the_cpus(bed):
    """Slurm has a core for each CPU, and no GRES."""
    node = bed.slurm.node(NODE)
    equal((node["CPUTot"], node.get("Gres", "(null)")), (str(CPUS), "(null)"))
    wait_for(
        lambda: all(name in bed.slurm.node(NODE).get("Extra", "") for name in bed.driver.devices()),
        "the list of CPUs",
    )
    # The agent reads the records of nodes at intervals, so it sees its own list a moment later.
    cores = [("cores", index) for index in range(CPUS)]
    wait_for(
        lambda: sorted((row["gres"], row.get("index", -1)) for row in bed.shown()) == cores,
        f"skube show devices to be {cores}",
    )


def test_container_has_the_cpus_of_its_cores(bed):
    """Pods of one CPU fill the node. None shares a CPU with another, and the next one gets the CPU
    of the one that has ended.
    """
    with Sampler(NODE, CPUSETS / f"slurm-kube-{bed.base}-{NODE}") as sampler:
        names = [f"one-{i}" for i in range(CPUS)]
        made = {name: _pod(bed, name, shell=UNTIL.format(f"{name}-ends")) for name in names}
        for name in names:
            bed.kube.wait_phase(name, "Running", timeout=SLOW)
        given = {name: _cpus_of_job(bed, made[name]) for name in names}
        equal(sorted(sum(map(list, given.values()), [])), sorted(ALL))
        made["next"] = _pod(bed, "next", shell=UNTIL.format("next-ends"))
        wait_reason(bed, "next", "SlurmPending", "Resources")
        (bed.dir / f"{names[-1]}-ends").touch()
        equal(_cpus_of_container(bed, names[-1]), [given[names[-1]]] * 2)
        bed.kube.wait_phase("next", "Running", timeout=SLOW)
        equal(_cpus_of_job(bed, made["next"]), given[names[-1]])
        for name in (*names[:-1], "next"):
            (bed.dir / f"{name}-ends").touch()
        equal(_cpus_of_container(bed, "next"), [given[names[-1]]] * 2)
        for name in names[:-1]:
            equal(_cpus_of_container(bed, name), [given[name]] * 2)
    equal(sampler.shared, [])
    wait_no_live_jobs(bed)


def test_all_cpus_of_the_node(bed):
    """One pod has them all, by a claim that it names."""
    bed.kube.create(claim("all", CPUS, class_name=CLASS))
    made = bed.kube.create(
        _manifest(bed, "all", CPUS, UNTIL.format("all-ends"), resourceClaimName="all")
    )
    bed.kube.wait_phase("all", "Running", timeout=SLOW)
    equal(_cpus_of_job(bed, made), ALL)
    (bed.dir / "all-ends").touch()
    equal(_cpus_of_container(bed, "all"), [ALL] * 2)
    equal(job_in_state(bed, made, "COMPLETED")["ExitCode"], "0:0")
    wait_deallocated(bed, "all")


def test_pod_without_a_claim_has_the_other_cpus(bed):
    """Beside a pod with a claim, a pod without one has all CPUs that no claim has, though Slurm
    gave it one core only.
    """
    made = _pod(bed, "has", shell=UNTIL.format("has-ends"))
    bed.kube.wait_phase("has", "Running", timeout=SLOW)
    bed.kube.create(with_run_directory(bed, pod("hasnot", shell=MOST)))
    claimed = _cpus_of_job(bed, made)
    equal(_cpus_of_container(bed, "hasnot"), [ALL - claimed])
    (bed.dir / "has-ends").touch()
    equal(_cpus_of_container(bed, "has"), [claimed] * 2)
    wait_no_live_jobs(bed)


def test_agent_that_is_killed(bed):
    """After the allocation, or when the pod runs: the pod keeps its CPUs."""
    made = _pod(bed, "steady", shell=UNTIL.format("steady-ends"))
    job_in_state(bed, made, "PENDING", "RUNNING")
    bed.agent.kill9()
    bed.agent.start()
    bed.kube.wait_phase("steady", "Running", timeout=SLOW)
    given = _cpus_of_job(bed, made)
    bed.agent.kill9()
    bed.agent.start()
    (bed.dir / "steady-ends").touch()
    equal(_cpus_of_container(bed, "steady"), [given] * 2)
    wait_no_live_jobs(bed)


def test_driver_that_is_killed(bed):
    """While it is away, a container keeps its CPU; when it is back, the other pod of the Job gets
    the other one.
    """
    bed.kube.create(claim_template("shift", 1, class_name=CLASS))
    manifest = job("shift", 2, shell=UNTIL.format("shift-ends"))
    manifest["spec"]["parallelism"] = 1
    template = with_run_directory(bed, manifest["spec"]["template"])
    with_claim(template, resourceClaimTemplateName="shift")
    bed.kube.create(manifest)
    (first,) = wait_for(lambda: bed.kube.pods("shift-"), "the first pod")
    made = bed.kube.wait_phase(first, "Running", timeout=SLOW)
    given = _cpus_of_job(bed, made)
    bed.driver.kill9()
    bed.driver.start()
    bed.kube.patch("Job", "shift", {"spec": {"parallelism": 2}})
    names = wait_for(lambda: len(found := bed.kube.pods("shift-")) == 2 and found, "both pods")
    (second,) = set(names) - {first}
    bed.kube.wait_phase(second, "Running", timeout=SLOW)
    (bed.dir / "shift-ends").touch()
    equal(_cpus_of_container(bed, first), [given] * 2)
    equal(_cpus_of_container(bed, second), [ALL - given] * 2)
    wait_no_live_jobs(bed)


def test_what_cannot_be_exact_is_refused(bed):
    """Each pod says why, and no job is submitted."""
    bed.kube.create(claim_template("two", 2, class_name=CLASS))
    for name, why in (
        ("differs", "container main requests cpu 1, and its resource claims have 2 CPUs"),
        ("shares", "containers main and other use it"),
        ("restarts", "container main may restart"),
    ):
        cpus = 1 if name == "differs" else 2
        manifest = _manifest(bed, name, cpus, resourceClaimTemplateName="two")
        if name == "restarts":
            manifest["spec"]["restartPolicy"] = "OnFailure"
        if name == "shares":
            containers = manifest["spec"]["containers"]
            containers.append({**containers[0], "name": "other"})
        bed.kube.create(manifest)
        wait_reason(bed, name, "SlurmRefused", why)
        bed.kube.delete("Pod", name)
    bed.kube.create(claim("picky", 1, "device.attributes['dra.cpu'].cpuID == 1", CLASS))
    bed.kube.create(_manifest(bed, "picky", resourceClaimName="picky"))
    wait_reason(bed, "picky", "SlurmNoNode", "Slurm cannot be told which")
    bed.kube.delete("Pod", "picky")
    bed.kube.create(claim_template("crew", 1, class_name=CLASS))
    gang = job("crew", 2, indexed=True, shell=MOST)
    with_claim(gang["spec"]["template"], resourceClaimTemplateName="crew")
    bed.kube.create(gang)
    names = wait_for(lambda: len(found := bed.kube.pods("crew-")) == 2 and found, "the pods")
    wait_reason(bed, sorted(names)[0], "SlurmWaitsForDevice", "cannot have such claims")
    bed.kube.delete("Job", "crew")
    wait_no_live_jobs(bed)


def test_no_cpu_was_given_twice(bed):
    """At no moment of all tests above has a CPU been allocated to two claims."""
    with bed.kube.changed:
        events = list(bed.kube.history["ResourceClaim"])
    assert len(events) > CPUS, events
    equal(given_twice(events), [])


if __name__ == "__main__":
    run(
        lambda build: CpuTestbed(
            build, agent_options={"settings": {"devices": [{"driver": CLASS, "cores": True}]}}
        )
    )
