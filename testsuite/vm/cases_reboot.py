# SPDX-License-Identifier: GPL-2.0-or-later
"""A node that is rebooted while pods run. prepare() runs before, the cases after
it. slurmctld and the agent, which are on the same machine, are started anew, too.
"""
import json
import time
from pathlib import Path

from node import (
    NODE,
    job_of,
    make_pod,
    node_state,
    pod_processes,
    run,
    state,
    wait_for,
    wait_running,
)

FILE = Path("/srv/before-reboot.json")
NAMES = ("stays", "again")


def prepare():
    make_pod("stays")
    make_pod("again", restartPolicy="Always")
    for name in NAMES:
        wait_running(name)
    FILE.write_text(json.dumps([*map(job_of, NAMES)]))
    run("sync")


def _live_jobs(jobs):
    return [job for job in jobs if state(job) in ("RUNNING", "COMPLETING", "PENDING")]


def test_no_program_runs_again_without_its_job():
    """The kubelet wants to start the second pod's container anew. Jobs end, and so do the pods."""
    jobs = json.loads(FILE.read_text())
    end = time.monotonic() + 60
    while time.monotonic() < end or _live_jobs(jobs):
        for name, job in zip(NAMES, jobs):
            assert not pod_processes(name) or state(job) == "RUNNING", (name, state(job))
        assert time.monotonic() < end + 240, [(job, state(job)) for job in jobs]
        time.sleep(0.5)


def test_the_node_works_as_before():
    """Slurm may keep it DOWN, because it was rebooted unexpectedly."""
    if "DOWN" in node_state() or "DRAIN" in node_state():
        run("scontrol", "update", f"nodename={NODE}", "state=resume")
    wait_for("the node to be idle", lambda: node_state() == "IDLE")
    make_pod("after")
    wait_running("after")
