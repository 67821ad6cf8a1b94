# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices of pods: Slurm chooses one, the driver's CDI file gives a device file, and slurmkube-node
asks the cgroup of the job."""
import json
import re
from contextlib import contextmanager
from pathlib import Path

from node import (
    SLURM,
    delete,
    equal,
    exec_in,
    job_of,
    make_pod,
    pod_processes,
    run,
    wait_for,
    wait_refused,
    wait_running,
)

CLAIM = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]}
WANTS = {"resources": {"requests": {"cpu": "1", "memory": "64Mi"}, "claims": [{"name": "gpu"}]}}


@contextmanager
def _file_for_all(file):
    """All containers with a claim get this file, too, by the driver's CDI specification."""
    (common,) = Path("/var/run/cdi").glob("k8s.gpu.example.com*common*")
    before = common.read_text()
    edits = "      containerEdits:\n"
    equal(before.count(edits), 1, before)
    common.write_text(before.replace(edits, f"{edits}        deviceNodes: [{{path: {file}}}]\n"))
    try:
        yield
    finally:
        common.write_text(before)


def _index(job):
    said = run("scontrol", "-d", "show", "job", job)
    return int(re.search(r"GRES=gpu\S*\(IDX:(\d+)\)", said)[1])


def _make(name, shell="sleep 3600"):
    make_pod(name, shell=shell, **CLAIM, **WANTS)


def test_the_agent_knows_the_devices():
    def names():
        rows = json.loads(run("skube", "show", "devices", "--json"))["devices"]
        return sorted(row["device"] for row in rows)

    wait_for("the devices", lambda: names() == ["gpu-0", "gpu-1"])


def test_a_pod_has_the_device_of_its_job():
    with _file_for_all("/dev/kube-gpu0"):
        _make("first")
        wait_running("first")
        equal(_index(job_of("first")), 0)
        (pid, *_) = pod_processes("first")
        assert "GPU_DEVICE_0=gpu-0" in Path(f"/proc/{pid}/environ").read_text().split("\0")
        said = exec_in("first", "cat", "/dev/kube-gpu0")
        assert "No such device" in said, said
        assert not list(SLURM.glob("job_*/slurm-kube-probe")), "a probe is left"
    delete("first")


def test_a_device_of_another_job_is_refused():
    with _file_for_all("/dev/kube-gpu1"):
        _make("wrong")
        wait_refused("wrong", "Slurm has not given device /dev/kube-gpu1")
        assert not list(SLURM.glob("job_*/slurm-kube-probe")), "a probe is left"
    delete("wrong")


def test_a_privileged_container_is_refused():
    make_pod("privileged", container={"securityContext": {"privileged": True}})
    wait_refused("privileged", "Slurm has not given device /dev/kube-gpu")
    delete("privileged")
