#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""PrologSlurmctld: a pod is bound when the script has succeeded, and survives a script that
fails.
"""
import time

from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import job_in_state, wait_no_live_jobs, wait_reason

SCRIPT = """#!/bin/sh
echo x >> {dir}/began
until [ -e {dir}/goes_on ]; do sleep 0.05; done
[ "$(wc -l < {dir}/began)" -gt "$(cat {dir}/goes_on)" ]
"""


def _failures(bed, count):
    """The first count runs of the script fail. None: the script waits."""
    for name in ("began", "goes_on"):
        (bed.prolog_dir / name).unlink(missing_ok=True)
    if count is not None:
        _go_on(bed, count)


def _go_on(bed, failures=0):
    (bed.prolog_dir / "new").write_text(str(failures))
    (bed.prolog_dir / "new").rename(bed.prolog_dir / "goes_on")


def _runs(bed):
    began = bed.prolog_dir / "began"
    return len(began.read_text().splitlines()) if began.exists() else 0


def test_a_pod_waits_for_the_prolog(bed):
    """While the script runs, the pod reports that and has no node; then the pod runs."""
    _failures(bed, None)
    made = bed.kube.create(pod("waits", kwok={"run": "100ms"}))
    wait_reason(bed, "waits", "SlurmPending", "PrologSlurmctld runs")
    equal(job_in_state(bed, made, "CONFIGURING", "RUNNING")["JobState"], "CONFIGURING")
    time.sleep(1)
    assert "nodeName" not in bed.kube.get("Pod", "waits")["spec"], "bound too early"
    _go_on(bed)
    bed.kube.wait_phase("waits", "Succeeded")
    job_in_state(bed, made, "COMPLETED")


def test_a_prolog_that_fails_ends_no_pod(bed):
    """Slurm ends the job; the pod was never bound, stays the same one, and gets another job."""
    _failures(bed, 2)
    made = bed.kube.create(pod("again", kwok={"run": "100ms"}))
    ended = bed.kube.wait_phase("again", "Succeeded")
    equal(ended["metadata"]["uid"], made["metadata"]["uid"])
    equal(_runs(bed), 3)


def test_a_gang_waits_for_the_prolog(bed):
    _failures(bed, None)
    bed.kube.create(job("gang", 3, indexed=True, kwok={"run": "100ms"}))
    wait_for(lambda: _runs(bed) == 1, "the script to run")
    bed.kube.wait(lambda: len(bed.kube.pods("gang-")) == 3, "the pods to be made")
    uids = {p["metadata"]["uid"] for p in bed.kube.pods("gang-").values()}
    time.sleep(1)
    assert not any(
        "nodeName" in p["spec"] for p in bed.kube.pods("gang-").values()
    ), "bound too early"
    _go_on(bed, 1)
    bed.kube.wait(
        lambda: all(p["status"]["phase"] == "Succeeded" for p in bed.kube.pods("gang-").values()),
        "the gang to succeed",
    )
    equal({p["metadata"]["uid"] for p in bed.kube.pods("gang-").values()}, uids)
    equal(_runs(bed), 2)


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed, 60)


class _Prolog(Cluster):
    def __init__(self, build):
        super().__init__(build, kwok=2)
        self.prolog_dir = self.dir / "prolog"
        self.prolog_dir.mkdir()
        script = self.prolog_dir / "script"
        script.write_text(SCRIPT.format(dir=self.prolog_dir))
        script.chmod(0o755)
        self.slurm.extra += [f"PrologSlurmctld={script}"]


if __name__ == "__main__":
    run(_Prolog)
