#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Users without rights: they cannot create jobs that stand for pods, nor use the nodes of pods. And
native jobs are not affected. The pods' jobs run as nobody, the same user that makes these attempts.
"""
import json
import re
from pathlib import Path

from lib import Cluster, equal, job, pod, run, wait_for
from lib.expect import (
    fill,
    job_controller_status,
    job_in_state,
    number_of,
    only_job,
    uid_of,
    wait_no_live_jobs,
)
from lib.process import output_of

USER = "nobody"


def _marker(uid="forged-uid", attempt=1):
    return json.dumps(
        {
            "slurm-kube": 1,
            "cluster": "test",
            "namespace": "default",
            "name": "forged",
            "kind": "Pod",
            "uid": uid,
            "attempt": attempt,
            "user": 65534,
            "group": 65534,
        },
        separators=(",", ":"),
    )


DENIED = "ccess/permission denied"
PODS_ONLY = "takes Kubernetes pods only"
NOT_YOURS = "(root and SlurmUser|follow the pod|cannot leave|ccess/permission denied)"


def _refused(call, why):
    """The call must fail, and its error must match why, so that it did not fail for another
    reason.
    """
    try:
        said = call()
    except RuntimeError as e:
        assert re.search(why, str(e).partition(": exit ")[2]), f"refused, but not for '{why}': {e}"
        return
    raise AssertionError(f"was not refused: {said.strip()}")


def _forge(bed, partition, marker, user=None):
    program, source = bed.dir / "forge", Path(__file__).parent / "forge.c"
    slurm = bed.slurm
    if not program.exists():
        prefix = (
            [f"-I{slurm.bin}../include", f"-L{slurm.bin}../lib", f"-Wl,-rpath,{slurm.bin}../lib"]
            if slurm.bin
            else []
        )
        command = slurm.program("cc", "-o", program, source, *prefix, "-lslurm")
        output_of(*command)
        program.chmod(0o755)
    return slurm.run_program(program, partition, marker, user=user)


def _sbatch(bed, *options, user=USER, script="true"):
    text = bed.slurm.run(
        "sbatch",
        "--parsable",
        "--output=/dev/null",
        "--chdir=/tmp",
        *options,
        f"--wrap={script}",
        user=user,
    )
    return int(text.strip())


def test_users_cannot_forge_a_marker(bed):
    """Through libslurm, with a correct marker but without permission: refused in every partition,
    and no job appears.
    """
    before = set(bed.slurm.jobs())
    for partition in ("kube", "native"):
        _refused(lambda p=partition: _forge(bed, p, _marker(), USER), NOT_YOURS)
    equal(set(bed.slurm.jobs()), before)
    assert "forged-uid" not in bed.agent.skube_text("show", "jobs", "--json")


def test_the_same_program_may_do_what_users_may(bed):
    """Without a marker and in a partition for all users, the same program gets its job: so the
    refusal was because of the marker.
    """
    number = int(_forge(bed, "native", "", USER).split()[1])
    bed.slurm.run("scancel", str(number), user=USER)
    bed.slurm.wait_job(number, "CANCELLED")


def test_a_pod_has_one_live_job(bed):
    """Root forges a second job for a pod that has one: refused, too. A job for an unknown pod is
    cancelled by the agent.
    """
    (made,) = fill(bed, "once", 1)
    _refused(lambda: _forge(bed, "kube", _marker(uid_of(made))), "already stands for pod")
    equal(only_job(bed, made)["JobState"], "RUNNING")
    number = int(_forge(bed, "kube", _marker("no-such-pod")).split()[1])
    equal(bed.slurm.wait_job(number, "CANCELLED", "COMPLETED", "FAILED")["JobState"], "CANCELLED")
    bed.kube.delete("Pod", "once-0")


def test_users_cannot_submit_into_the_partition_of_pods(bed):
    """Neither by sbatch nor by salloc, nor as one of several partitions, nor by moving a job there;
    root cannot, either.
    """
    before = set(bed.slurm.jobs())
    for user in (USER, None):
        _refused(lambda u=user: _sbatch(bed, "-p", "kube", user=u), PODS_ONLY)
        _refused(lambda u=user: _sbatch(bed, "-p", "native,kube", user=u), PODS_ONLY)
    _refused(
        lambda: bed.slurm.run("salloc", "-p", "kube", "--chdir=/tmp", "true", user=USER), PODS_ONLY
    )
    _refused(
        lambda: bed.slurm.run("srun", "-p", "kube", "--chdir=/tmp", "true", user=USER), PODS_ONLY
    )
    equal(set(bed.slurm.jobs()), before)
    number = _sbatch(bed, "-p", "native", "--hold")
    for user in (USER, None):
        _refused(
            lambda u=user: bed.slurm.run(
                "scontrol", "update", f"JobId={number}", "Partition=kube", user=u
            ),
            f"{PODS_ONLY}|{DENIED}",
        )
    equal(bed.slurm.jobs()[number]["Partition"], "native")
    bed.slurm.run("scancel", str(number), user=USER)


def test_owner_cannot_change_whom_a_job_stands_for(bed):
    """The job runs as nobody and so belongs to that user in Slurm. Nevertheless the user cannot
    change its marker, nodes or partition. The user may cancel it.
    """
    (made,) = fill(bed, "owned", 1)
    number = number_of(only_job(bed, made))
    before = bed.slurm.jobs()[number]
    for change in (
        f"AdminComment={_marker('another')}",
        "AdminComment=none",
        "Partition=native",
        "NumNodes=2",
    ):
        _refused(
            lambda c=change: bed.slurm.run("scontrol", "update", f"JobId={number}", c, user=USER),
            NOT_YOURS,
        )
    after = bed.slurm.jobs()[number]
    equal(
        {k: after.get(k) for k in ("AdminComment", "Partition", "NodeList")},
        {k: before.get(k) for k in ("AdminComment", "Partition", "NodeList")},
    )
    native = _sbatch(bed, "-p", "native", "--hold")
    _refused(
        lambda: bed.slurm.run(
            "scontrol", "update", f"JobId={native}", f"AdminComment={_marker()}", user=USER
        ),
        NOT_YOURS,
    )
    bed.slurm.run("scancel", str(native), str(number), user=USER)
    bed.kube.wait_gone("owned-0")
    job_in_state(bed, made, "CANCELLED")


def test_comment_is_no_marker(bed):
    """A user may write anything into --comment: it does not make the job a pod's, and the agent
    does not touch the job.
    """
    flag = bed.dir / "comment-goes"
    number = _sbatch(
        bed,
        f"--comment={_marker('only-a-comment')}",
        script=f"until [ -e {flag} ]; do sleep 0.1; done",
    )
    bed.slurm.wait_job(number, "RUNNING")
    made = bed.kube.create(pod("after-comment", kwok={"run": "10ms"}))
    job_in_state(bed, made, "COMPLETED")
    equal(bed.slurm.jobs()[number]["JobState"], "RUNNING")
    assert number not in {j["id"] for j in bed.agent.skube("show", "jobs")["jobs"]}
    flag.touch()
    bed.slurm.wait_job(number, "COMPLETED")


def test_native_job_beside_pods_is_not_touched(bed):
    """A batch job on the real slurmd runs while a hundred pods come and go and the agent is killed;
    nothing of the job changes.
    """
    flag = bed.dir / "native-goes"
    number = _sbatch(bed, "-n", "2", script=f"until [ -e {flag} ]; do sleep 0.1; done; exit 4")
    shown = (
        "JobState",
        "StartTime",
        "NodeList",
        "Restarts",
        "TimeLimit",
        "Priority",
        "UserId",
        "BatchHost",
    )
    before = bed.slurm.wait_job(number, "RUNNING")
    bed.kube.create(job("beside", 100, kwok={"run": "50ms"}))
    bed.kube.wait(lambda: len(bed.kube.pods("beside-")) > 20, "the pods to come")
    bed.agent.kill9()
    bed.agent.start()
    job_controller_status(bed, "beside", succeeded=100)
    after = bed.slurm.jobs()[number]
    equal({k: after[k] for k in shown}, {k: before[k] for k in shown})
    flag.touch()
    ended = wait_for(
        lambda: bed.slurm.wait_job(number, "FAILED", "COMPLETED"), "the native job to end"
    )
    equal((ended["JobState"], ended["ExitCode"], ended["Restarts"]), ("FAILED", "4:0", "0"))


def test_native_commands_work(bed):
    """srun, an array and a job step on the real slurmd work as without slurm-kube."""
    equal(
        bed.slurm.run("srun", "--chdir=/tmp", "-n", "2", "echo", "hello", user=USER).split(),
        ["hello"] * 2,
    )
    array = _sbatch(bed, "--array=0-3", "--mem=10")

    def states():
        return [
            j["JobState"] for j in bed.slurm.jobs().values() if j.get("ArrayJobId") == str(array)
        ]

    wait_for(lambda: states() == ["COMPLETED"] * 4, "four tasks to complete")


def test_without_the_agent_native_jobs_go_on(bed):
    """While the agent is down, a user's job runs normally, and the pods' nodes stay as they are."""
    wait_no_live_jobs(bed)
    wait_for(lambda: bed.slurm.node("node-0")["State"].startswith("IDLE"), "node-0 to be idle")
    bed.agent.kill9()
    equal(bed.slurm.run("srun", "--chdir=/tmp", "echo", "alone", user=USER).strip(), "alone")
    assert re.match("IDLE", bed.slurm.node("node-0")["State"])
    bed.agent.start()


def test_no_job_is_left(bed):
    """No job of ours is left in Slurm."""
    wait_no_live_jobs(bed)


if __name__ == "__main__":
    run(
        lambda build: Cluster(
            build,
            kwok=2,
            cpus=8,
            agent_options={"namespaces": [{"name": "default", "user": USER, "group": "nogroup"}]},
        )
    )
