# SPDX-License-Identifier: GPL-2.0-or-later
"""Daemons that are restarted by systemctl, or killed and started again by systemd, beside a pod
that runs."""
import time
from contextlib import contextmanager

from node import (
    RUNTIME,
    cancel,
    connected,
    cpus_of,
    delete,
    equal,
    is_active,
    job_of,
    kill_unit,
    make_pod,
    phase,
    pod_processes,
    run,
    state,
    wait_for,
    wait_refused,
    wait_running,
)


@contextmanager
def _a_pod_that_goes_on(name):
    """Its processes, their processors and its job are the same afterwards, and Epilog knows it."""
    make_pod(name)
    before = (wait_running(name), pod_processes(name), job_of(name))
    yield
    wait_for("slurmkube-node to be connected", connected)
    time.sleep(1)
    equal((cpus_of(pod_processes(name)), pod_processes(name), job_of(name)), before)
    equal((phase(name), state(before[2])), ("Running", "RUNNING"))
    make_pod(f"{name}-2")
    wait_running(f"{name}-2")
    delete(f"{name}-2")
    cancel(before[2])
    wait_for("the pod's end", lambda: not pod_processes(name))
    delete(name)


def test_restart_of_slurmkube_node():
    with _a_pod_that_goes_on("survivor"):
        run("systemctl", "restart", "slurmkube-node")


def test_kill_of_slurmkube_node():
    with _a_pod_that_goes_on("survivor"):
        kill_unit("slurmkube-node")


def test_without_slurmkube_node_no_container():
    run("systemctl", "stop", "slurmkube-node")
    try:
        make_pod("meanwhile")
        wait_refused("meanwhile", "slurm-kube")
    finally:
        run("systemctl", "start", "slurmkube-node")
    wait_running("meanwhile")
    delete("meanwhile")


def test_restart_of_the_runtime():
    with _a_pod_that_goes_on("survivor"):
        run("systemctl", "restart", RUNTIME)


def test_kill_of_the_runtime():
    with _a_pod_that_goes_on("survivor"):
        kill_unit(RUNTIME)


def test_restart_of_kubelet():
    with _a_pod_that_goes_on("survivor"):
        run("systemctl", "restart", "kubelet")
        wait_for("kubelet", lambda: is_active("kubelet"))


def test_restart_of_slurmd():
    with _a_pod_that_goes_on("survivor"):
        run("systemctl", "restart", "slurmd")


def test_kill_of_slurmd():
    with _a_pod_that_goes_on("survivor"):
        run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "slurmd")
        run("systemctl", "restart", "slurmd")


def test_restart_of_slurmctld_and_the_agent():
    with _a_pod_that_goes_on("survivor"):
        run("systemctl", "restart", "slurmctld", "slurmkubed")
