# SPDX-License-Identifier: GPL-2.0-or-later
"""The checks that doc/hybrid.md asks for after its steps."""
import json
import re

from node import (
    GROUPS,
    NODE,
    RUNTIME,
    SLURM,
    SYSTEM,
    cancel,
    equal,
    is_active,
    kubelet_says,
    node_state,
    numbers,
    run,
    said_in,
    wait_for,
)

UNITS = f"munge slurmctld slurmd slurmkubed {RUNTIME} kubelet slurmkube-node".split()


def test_all_units_are_active():
    for unit in UNITS:
        assert is_active(unit), run("systemctl", "status", unit, check=False)
    said_in("connected", run("systemctl", "status", "slurmkube-node"))
    equal(node_state(), "IDLE", "the node")


def test_cgroup_version_2_and_systemd():
    equal(run("stat", "-fc", "%T", GROUPS).strip(), "cgroup2fs")
    equal(kubelet_says("configz")["kubeletconfig"]["cgroupDriver"], "systemd")
    assert is_active("kubepods.slice") and is_active(SLURM.name)


def test_slurmkube_node_check():
    said = run("slurmkube-node", "--check", check=False)
    for line in ("socket", "cgroups", "devices", "processors", RUNTIME):
        said_in(rf"(?m)^ok +{line}", said)
    assert "FAILED" not in said, said


def test_skube_check():
    def failures():
        checks = json.loads(run("skube", "check", "--json", check=False))["checks"]
        names = {check["name"] for check in checks}
        for name in ("hybrid settings", "hybrid nodes", "hybrid sizes", "hybrid devices"):
            assert name in names, names
        return [check for check in checks if not check["ok"]]

    wait_for("skube check to have no failure", lambda: not failures() or None)
    said_in(rf"(?m)^{NODE} .*hybrid", run("skube", "show", "nodes", "-o", "wide"))


def test_jobs_do_not_have_the_systems_processors():
    """Step 1."""
    said = run(
        "srun",
        "--exclusive",
        "--mem=100",
        "-w",
        NODE,
        "grep",
        "Cpus_allowed_list",
        "/proc/self/status",
    )
    cpus = numbers(said.split()[1])
    assert cpus and not cpus & SYSTEM, said


def test_a_job_has_a_cpuset():
    """Step 2, with the command of the document."""
    said = run("salloc", "--no-shell", "-w", NODE, "-n1", check=False)
    job = re.search(r"job allocation (\d+)", said)[1]
    paths = wait_for(
        "the cpuset", lambda: list(GROUPS.glob(f"system.slice/*slurmstepd.scope/job_{job}"))
    )
    cpus = wait_for("processors", lambda: (paths[0] / "cpuset.cpus").read_text().strip())
    assert numbers(cpus) and not numbers(cpus) & SYSTEM, cpus
    cancel(job)


def test_slurmd_denies_devices():
    """A native job has its own device only. There is no driver, so the open fails otherwise."""
    said = run(
        "srun",
        "--gres=gpu:1",
        "--mem=100",
        "sh",
        "-c",
        "for i in 0 1; do cat /dev/kube-gpu$i; done 2>&1; exit 0",
    )
    equal(said.count("Operation not permitted"), 1, said)
    equal(said.count("No such device"), 1, said)
