#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""PrologSlurmctld: a pod is bound when the script has succeeded, and survives a script that
fails. EpilogSlurmctld runs once for each job that had nodes.
"""
import time

from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import job_in_state, only_job, wait_no_live_jobs, wait_reason

SCRIPT = """#!/bin/sh
echo x >> {dir}/began
until [ -e {dir}/goes_on ]; do sleep 0.05; done
[ "$(wc -l < {dir}/began)" -gt "$(cat {dir}/goes_on)" ]
"""
EPILOG = """#!/bin/sh
echo $SLURM_JOB_ID $SLURM_JOB_UID $SLURM_JOB_NODELIST $SLURM_JOB_EXIT_CODE >> {dir}/ended
while [ -e {dir}/stays ]; do sleep 0.05; done
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
    said = bed.agent.skube("why", "waits")["data"]
    equal(said["waits_for"], f"PrologSlurmctld, which runs for job {said['job']['id']}")
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


def test_scancel_by_root_while_the_script_runs_ends_no_pod(bed):
    """Slurm ends a job as root if its script fails, so the agent cannot tell this from a failed
    script: the pod stays the same one, and gets another job.
    """
    _failures(bed, None)
    made = bed.kube.create(pod("by-root", kwok={"run": "100ms"}))
    wait_reason(bed, "by-root", "SlurmPending", "PrologSlurmctld runs")
    bed.slurm.run("scancel", only_job(bed, made)["JobId"])
    wait_for(lambda: _runs(bed) == 2, "the script to run for another job")
    _go_on(bed)
    ended = bed.kube.wait_phase("by-root", "Succeeded")
    equal(ended["metadata"]["uid"], made["metadata"]["uid"])


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


def _ends(bed):
    ended = bed.prolog_dir / "ended"
    return [line.split() for line in ended.read_text().splitlines()] if ended.exists() else []


def test_the_epilog_of_a_pods_job(bed):
    """It sees the job's user, nodes and exit status. While it runs, the job is COMPLETING, and
    other pods run.
    """
    _failures(bed, 0)
    (bed.prolog_dir / "stays").touch()
    made = bed.kube.create(pod("epilog", kwok={"run": "10ms", "exit-code": 3}))
    number = wait_for(lambda: only_job(bed, made), "its job")["JobId"]
    wait_for(lambda: any(end[0] == number for end in _ends(bed)), "the script to run")
    node = bed.kube.get("Pod", "epilog")["spec"]["nodeName"]
    time.sleep(1)
    assert "COMPLETING" in bed.slurm.run("scontrol", "show", "job", number), "not completing"
    bed.kube.create(pod("beside", kwok={"run": "10ms"}))
    bed.kube.wait_phase("beside", "Succeeded")
    (bed.prolog_dir / "stays").unlink()
    job_in_state(bed, made, "FAILED")
    equal([end for end in _ends(bed) if end[0] == number], [[number, "0", node, "768"]])


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
        epilog = self.prolog_dir / "epilog"
        epilog.write_text(EPILOG.format(dir=self.prolog_dir))
        epilog.chmod(0o755)
        self.slurm.extra += [f"PrologSlurmctld={script}", f"EpilogSlurmctld={epilog}"]


if __name__ == "__main__":
    run(_Prolog)
