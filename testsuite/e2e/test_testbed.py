#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""The test bed itself, without our agent: it does what the other tests rely on."""
import re

from lib import ApiError, Cluster, Skip, equal, job, pod, run, wait_for
from lib.kube import exit_code


def test_slurm_has_the_version_it_was_built_for(bed):
    """The plugin must match Slurm to the micro version, so the test bed must know which
    Slurm runs.
    """
    assert bed.slurm.version in bed.slurm.run("sinfo", "--version")
    equal(bed.slurm.node("native")["State"], "IDLE", "node native")


def test_native_job_runs_and_its_exit_code_is_kept(bed):
    """A user's batch job on the real slurmd ends with 3; Slurm records FAILED 3:0."""
    text = bed.slurm.run(
        "sbatch", "--wrap=exit 3", "--output=/dev/null", "--chdir=/tmp", check=False
    )
    number = int(re.search(r"batch job (\d+)", text).group(1))
    seen = bed.slurm.wait_job(number, "FAILED", "COMPLETED")
    equal((seen["JobState"], seen["ExitCode"]), ("FAILED", "3:0"))


def test_slurmctld_keeps_its_jobs_over_kill_9(bed):
    """A held job is still there after the controller was killed and started again."""
    text = bed.slurm.run("sbatch", "--hold", "--wrap=true", "--output=/dev/null", "--chdir=/tmp")
    number = int(text.split()[-1])
    bed.slurm.run("scontrol", "update", f"JobId={number}", "Comment=two words")
    wait_for(
        lambda: (bed.dir / "state/job_state").exists()
        and b"two words" in (bed.dir / "state/job_state").read_bytes(),
        "the state to be saved",
    )
    before = bed.slurm.slurmctld.pid
    bed.slurm.kill9()
    assert not bed.slurm.slurmctld.alive()
    bed.slurm.start_slurmctld()
    assert bed.slurm.slurmctld.pid != before
    equal(bed.slurm.jobs()[number]["Comment"], "two words")


def test_slurmctld_is_followed_over_reconfigure(bed):
    """From 23.11 on a reconfigured slurmctld is a new process, which kill9() must kill."""
    bed.slurm.reconfigure()
    bed.slurm.kill9()
    assert "UP" not in bed.slurm.run("scontrol", "ping", check=False).replace("UPGRADE", "")
    bed.slurm.start_slurmctld()


def test_sdiag_counts_rpcs(bed):
    """Two calls of squeue are two requests for job information."""
    before = bed.slurm.rpcs().get("REQUEST_JOB_INFO", 0)
    for _ in range(2):
        bed.slurm.run("squeue")
    equal(bed.slurm.rpcs()["REQUEST_JOB_INFO"] - before, 2)


def test_kwok_pod_ends_with_the_exit_code_of_its_annotation(bed):
    """Bound by hand, as a scheduler would: Failed, exit code 7, and the watch has seen it run."""
    bed.kube.create(pod("seven", kwok={"run": "300ms", "exit-code": 7}))
    bed.kube.bind("seven", "node-0", {"allocation.slurm-kube.io/job-id": "42"})
    ended = bed.kube.wait_phase("seven", "Succeeded", "Failed")
    equal((ended["status"]["phase"], exit_code(ended)), ("Failed", 7))
    equal(ended["metadata"]["annotations"]["allocation.slurm-kube.io/job-id"], "42")
    assert "Running" in [p["status"].get("phase") for _, _, p in bed.kube.events_of("seven")]


def test_watch_goes_on_over_a_killed_api_server(bed):
    """The history includes what happened after the restart, and nothing twice."""
    bed.kube.create(pod("before"))
    bed.kube.wait(lambda: "before" in bed.kube.pods(), "pod before")
    bed.plane.kill9("kube-apiserver")
    bed.plane.revive("kube-apiserver")
    bed.kube.create(pod("after"))
    bed.kube.wait(lambda: "after" in bed.kube.pods(), "pod after")
    equal([what for _, what, _ in bed.kube.events_of("before")], ["ADDED"])
    for name in ("before", "after"):
        bed.kube.delete("Pod", name)
        bed.kube.wait_gone(name)


def test_job_controller_makes_pods(bed):
    """An Indexed Job of 3: three pods, and the Job is Complete once they have ended."""
    bed.kube.create(job("three", 3, indexed=True, kwok={"run": "100ms"}))
    pods = bed.kube.wait(
        lambda: len(bed.kube.pods("three-")) == 3 and bed.kube.pods("three-"), "three pods"
    )
    for name in pods:
        bed.kube.bind(name, "node-1")
    wait_for(
        lambda: bed.kube.get("Job", "three")["status"].get("succeeded") == 3, "three to succeed"
    )


def test_agent_may_bind_and_not_create(bed):
    """The agent has the permissions of the manifest, and no others."""
    bed.kube.create(pod("bound"))
    agent = bed.plane.client("agent")
    agent.bind("bound", "node-1")
    for forbidden in (
        lambda: agent.create(pod("more")),
        lambda: agent.patch("Node", "node-1", {"spec": {"unschedulable": True}}),
    ):
        try:
            forbidden()
            raise AssertionError("the agent may do more than it needs")
        except ApiError as e:
            equal(e.status, 403)
    bed.kube.delete("Pod", "bound")


def test_real_kubelet_runs_a_container(bed):
    """A kubelet with containerd and runc: exit code 3, its log, and the job id from the binding in
    its environment.
    """
    node = bed.plane.real_node("real")
    bed.kube.create(pod("three", shell="echo job $SLURM_JOB_ID; exit 3"))
    bed.kube.bind("three", node, {"allocation.slurm-kube.io/job-id": "4711"})
    ended = bed.kube.wait_phase("three", "Succeeded", "Failed", timeout=180)
    equal((ended["status"]["phase"], exit_code(ended)), ("Failed", 3))
    wait_for(lambda: bed.kube.logs("three") == "job 4711\n", "its log")


def test_killed_kubelet_comes_back_to_its_pods(bed):
    """The container is not affected; the kubelet reports its end after its own restart."""
    if not bed.plane.nodes:
        raise Skip("no real node")
    go = bed.dir / "go"
    host = {"volumes": [{"name": "h", "hostPath": {"path": str(bed.dir)}}]}
    manifest = pod("lasting", shell="until [ -e /h/go ]; do sleep 0.1; done; exit 5", spec=host)
    manifest["spec"]["containers"][0]["volumeMounts"] = [{"name": "h", "mountPath": "/h"}]
    bed.kube.create(manifest)
    bed.kube.bind("lasting", "real")
    bed.kube.wait_phase("lasting", "Running", timeout=180)
    bed.plane.kubelet("real", "--kill")
    go.touch()
    bed.plane.kubelet("real", "--start")
    equal(exit_code(bed.kube.wait_phase("lasting", "Failed", timeout=180)), 5)


if __name__ == "__main__":
    run(lambda build: Cluster(build, kwok=2, agent=False))
