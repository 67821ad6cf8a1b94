# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of jobs: Epilog holds the node until the containers are gone."""
import os
import signal
import time
from contextlib import suppress

from node import (
    NODE,
    RUNTIME,
    SLOW,
    cancel,
    delete,
    equal,
    job_of,
    job_processes,
    make_pod,
    native,
    node_state,
    pod,
    pod_processes,
    pod_slice,
    programs_in,
    run,
    said_in,
    state,
    wait_for,
    wait_idle,
    wait_running,
    wait_state,
)

SLOW_END = "trap 'sleep 4; exit 0' TERM; while :; do sleep 0.1; done"
NO_END = "trap '' TERM; while :; do sleep 0.1; done"


def _kill(pids):
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_an_ordinary_end():
    """The job ends with its pod, and the node is idle at once."""
    make_pod("short", shell="sleep 1")
    job = wait_for("the binding", lambda: pod("short")["spec"].get("nodeName")) and job_of("short")
    wait_for("the end", lambda: pod("short")["status"]["phase"] == "Succeeded")
    wait_idle(10)
    said_in("JobState=COMPLETED", run("scontrol", "show", "job", job))
    said_in(rf"(?m)^{job} +ended", run("slurmkube-node", "--list"))
    delete("short")


def test_the_epilog_waits_for_the_last_process():
    """No native job starts before, not even on idle processors."""
    make_pod("lasting", shell=SLOW_END, terminationGracePeriodSeconds=30)
    wait_running("lasting")
    cancel(job_of("lasting"))
    wait_for("the node to be completing", lambda: "COMPLETING" in node_state())
    job = native()
    time.sleep(2)
    assert pod_processes("lasting")
    equal(state(job), "PENDING", "a native job beside an Epilog")
    group = pod_slice("lasting")
    while programs_in(group):
        equal(job_processes(job), set(), "processes of the native job")
        time.sleep(0.02)
    wait_state(job, "RUNNING")
    cancel(job)


def test_the_epilog_waits_without_the_runtime():
    """It looks at processes. The runtime is stopped, so the kubelet cannot end the container."""
    make_pod("forlorn", shell=NO_END)
    wait_running("forlorn")
    run("systemctl", "stop", RUNTIME)
    try:
        cancel(job_of("forlorn"))
        wait_for("the node to be completing", lambda: "COMPLETING" in node_state())
        time.sleep(3)
        assert "COMPLETING" in node_state() and pod_processes("forlorn")
        _kill(pod_processes("forlorn"))
        wait_idle()
    finally:
        run("systemctl", "start", RUNTIME)


def test_an_epilog_that_waits_in_vain_drains_the_node():
    """Nobody ends the container, because the kubelet is stopped: its grace period and a minute."""
    make_pod("stuck", shell=NO_END)
    wait_running("stuck")
    run("systemctl", "stop", "kubelet")
    try:
        cancel(job_of("stuck"))
        wait_for("the node to drain", lambda: "DRAIN" in node_state())
        said_in("Epilog error", run("scontrol", "show", "node"))
        assert pod_processes("stuck")
    finally:
        run("systemctl", "start", "kubelet")
    wait_for("the processes to end", lambda: not pod_processes("stuck"))
    run("scontrol", "update", f"nodename={NODE}", "state=resume")


def test_a_killed_slurmstepd():
    """Epilog removes what it leaves."""
    make_pod("orphan")
    wait_running("orphan")
    job = job_of("orphan")
    run("pkill", "-KILL", "-f", rf"slurmstepd: \[{job}.extern\]")
    cancel(job)
    wait_idle()
    left = run("find", "/sys/fs/cgroup/system.slice", "-name", f"job_{job}")
    equal(left, "", "cgroups of the job")


def test_a_slurmd_that_is_killed_within_the_epilog():
    """The new one does not run it again; the Prolog of the next job waits."""
    make_pod("twice", shell=NO_END, terminationGracePeriodSeconds=40)
    wait_running("twice")
    cancel(job_of("twice"))
    wait_for("the node to be completing", lambda: "COMPLETING" in node_state())
    run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "slurmd")
    run("systemctl", "restart", "slurmd")
    job = native("echo began; exec sleep 600", os.cpu_count() - 1)
    group, end = pod_slice("twice"), time.monotonic() + SLOW
    while programs_in(group) and time.monotonic() < end:
        equal(job_processes(job), set(), "processes of the native job")
        time.sleep(0.05)
    wait_for("the job's script", lambda: job_processes(job), SLOW)
    cancel(job)
