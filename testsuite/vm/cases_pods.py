# SPDX-License-Identifier: GPL-2.0-or-later
"""Processors and memory of pods beside native jobs."""
import os
import re
import time

from node import (
    NOTE,
    SYSTEM,
    bind,
    cancel,
    cpus_of,
    delete,
    equal,
    exec_in,
    job_cpuset,
    job_of,
    job_processes,
    make_pod,
    native,
    phase,
    pod,
    pod_processes,
    pod_slice,
    programs_in,
    run,
    said_in,
    wait_for,
    wait_refused,
    wait_running,
    wait_state,
)

MIB = 1 << 20


def test_a_pod_and_a_native_job_share_no_processor():
    """At every sample, also of processes that exec starts."""
    job = native()
    wait_state(job, "RUNNING")
    theirs = wait_for("processes of the job", lambda: cpus_of(job_processes(job)))
    make_pod("beside")
    ours = wait_running("beside")
    equal(ours, job_cpuset(job_of("beside")), "the pod's processors")
    assert not (ours | theirs) & SYSTEM and not ours & theirs, (ours, theirs)
    group = pod_slice("beside")
    for _ in range(100):
        equal((cpus_of(programs_in(group)), cpus_of(job_processes(job))), (ours, theirs))
        time.sleep(0.01)
    said = exec_in("beside", "grep", "Cpus_allowed_list", "/proc/self/status")
    equal(said.split()[1], ",".join(map(str, sorted(ours))), "of exec")
    said_in(rf"(?m)^{job_of('beside')} +open +\S+ +1$", run("slurmkube-node", "--list"))
    cancel(job)
    delete("beside")


def test_pods_have_all_processors_of_jobs():
    count = os.cpu_count() - len(SYSTEM)
    names = [f"pod-{i}" for i in range(count)]
    for name in names:
        make_pod(name)
    sets = [wait_running(name) for name in names]
    equal((sum(map(len, sets)), len(set().union(*sets))), (count, count), f"{sets}")
    for name in names:
        delete(name)


def test_pods_of_others_have_the_systems_processors():
    make_pod("other", scheduler="none")
    equal(bind("other", {}, as_user=None)[0], 201)
    equal(wait_running("other"), SYSTEM)
    delete("other")


def test_without_a_job_no_container():
    make_pod("forged", scheduler="none")
    status, answer = bind("forged", {f"{NOTE}job-id": "999999"}, as_user=None)
    equal(status, 403, str(answer))
    said_in("are written by slurmkubed only", answer["message"])
    equal(bind("forged", {f"{NOTE}job-id": "999999"})[0], 201)
    wait_refused("forged", "Slurm job 999999 has no processors on this node")
    delete("forged")


def _limits(name):
    """memory.max of the pod and of its containers' cgroups; without the sandbox's."""
    group = pod_slice(name)
    inner = {(g / "memory.max").read_text().strip() for g in group.glob("*.scope")}
    return (group / "memory.max").read_text().strip(), inner - {"max"}


def test_memory_and_processors_survive_a_daemon_reload():
    """The limits of a pod are those of its job, also after systemd has read its units again."""
    make_pod("limited", memory="100Mi")
    cpus = wait_running("limited")
    share = int(pod("limited")["metadata"]["annotations"][f"{NOTE}memory"])
    wanted = (str(share * MIB), {str(share * MIB)})
    equal(_limits("limited"), wanted)
    run("systemctl", "daemon-reload")
    time.sleep(2)
    equal(_limits("limited"), wanted, "after a daemon-reload")
    equal(cpus_of(pod_processes("limited")), cpus, "after a daemon-reload")
    run("systemctl", "set-property", "--runtime", "kubepods.slice", "CPUWeight=200")
    time.sleep(1)
    equal(_limits("limited"), wanted, "after a change of kubepods.slice")
    delete("limited")


def test_a_pod_without_limit_is_killed_at_its_jobs_memory():
    make_pod("greedy", memory="64Mi", shell="/bin/oom")
    wait_for("the pod to fail", lambda: phase("greedy") == "Failed")
    (status,) = pod("greedy")["status"]["containerStatuses"]
    equal(status["state"]["terminated"]["reason"], "OOMKilled")
    delete("greedy")


def test_containers_of_a_pod_share_its_memory():
    """Each may use all, but not both together."""
    grab = "(head -c 45m /dev/zero; sleep 3600) | tail"
    box = {"image": "docker.io/slurm-kube/box:1", "imagePullPolicy": "Never"}
    two = [
        {
            "name": f"c{i}",
            **box,
            "command": ["/bin/sh", "-c", grab],
            "resources": {"requests": {"cpu": "500m", "memory": "32Mi"}},
        }
        for i in range(2)
    ]
    make_pod("two", containers=two)
    wait_for(
        "one container to be killed", lambda: re.search("OOMKilled", str(pod("two")["status"]))
    )
    delete("two")
