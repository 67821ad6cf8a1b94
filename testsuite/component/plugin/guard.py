# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may create external jobs, what may be done to them, and that a pod has one at most."""
from lab import eventually, marker

NOBODY = 65534
ACCESS_DENIED, DUPLICATE, TRY_AGAIN = 2002, 2011, 2020


def a_marker_from_a_user_is_refused(lab, peer):
    answer = lab.submit(marker("forged"), as_user=NOBODY, user=NOBODY, group=NOBODY)
    assert not answer.ok and answer.error == ACCESS_DENIED, vars(answer)
    answer = lab.submit(
        marker("forged"), as_user=NOBODY, user=NOBODY, group=NOBODY, partition="native"
    )
    assert not answer.ok and answer.error == ACCESS_DENIED, vars(answer)


def the_external_partition_is_refused(lab, peer):
    for user in (NOBODY, None):
        result = lab.command(
            "sbatch", "-p", "kube", "-D", "/", "-o", "/dev/null", "--wrap", "true", user=user
        )
        assert result.returncode != 0 and "takes Kubernetes pods only" in result.stderr, result
    result = lab.command(
        "sbatch", "-p", "native,kube", "-D", "/", "-o", "/dev/null", "--wrap", "true", user=NOBODY
    )
    assert result.returncode != 0 and "partition kube takes" in result.stderr, result
    result = lab.command(
        "sbatch", "-p", "native", "-D", "/", "-o", "/dev/null", "--wrap", "true", user=NOBODY
    )
    assert result.returncode == 0, result


def a_native_job_cannot_move_in(lab, peer):
    result = lab.command(
        "sbatch",
        "--parsable",
        "-p",
        "native",
        "-D",
        "/",
        "-o",
        "/dev/null",
        "--wrap",
        "true",
        user=NOBODY,
    )
    job = result.stdout.strip()
    moved = lab.command("scontrol", "update", f"jobid={job}", "partition=kube", user=NOBODY)
    assert moved.returncode != 0, moved
    assert lab.job(job)["Partition"] == "native", lab.job(job)
    lab.command("scancel", job)


def a_broken_marker_is_refused_with_its_fault(lab, peer):
    answer = lab.submit('{"slurm-kube":1,"cluster":"main"}')
    assert not answer.ok and "key 'namespace' is missing" in answer.messages, vars(answer)


def the_owner_may_not_resize_or_move_his_job(lab, peer):
    filler = [
        lab.submit(marker(f"full-{i}"), node=n, cpus=4).job
        for i, n in enumerate(lab.external_nodes())
    ]
    job = lab.submit(marker("owned", user=NOBODY, group=NOBODY), minutes=50).job

    def update(*words, user=NOBODY):
        return lab.command("scontrol", "update", f"jobid={job}", *words, user=user).returncode == 0

    for words in (
        ["numcpus=2"],
        ["numnodes=2"],
        ["minmemorynode=9"],
        ["reqnodelist=k1"],
        ["partition=native"],
        ["features=big"],
    ):
        assert not update(*words), f"{words} was let through"
    assert update("timelimit=40") and update("nice=10"), "a harmless change was refused"
    assert not update("admincomment=x"), "admin_comment was let through"
    assert peer.wait("job", id=job, time_limit=40), peer.last("job", id=job)
    assert not update(
        "admincomment=" + marker("owned", attempt=2), user=None
    ), "a marker changed hands"
    assert not update("partition=native", user=None), "root moved it to native nodes"
    assert lab.command("scontrol", "hold", str(job), user=NOBODY).returncode == 0
    assert peer.wait("job", id=job, held=True), peer.last("job", id=job)
    lab.command("scancel", str(job), *map(str, filler))
    assert peer.wait("job", id=job, state="cancelled")


def a_second_job_for_a_pod_is_refused_by_name(lab, peer):
    first = lab.submit(marker("twice"))
    second = lab.submit(marker("twice"))
    assert not second.ok and second.error == DUPLICATE, vars(second)
    assert (
        f"slurm-kube: job {first.job} already stands for pod ns/pod-twice (uid twice, attempt 1)"
        in second.messages
    ), second.messages
    other = lab.submit(marker("twice", attempt=2))
    assert other.ok, vars(other)
    lab.complete(first.job)
    lab.complete(other.job)
    again = lab.submit(marker("twice"))
    assert again.ok, f"an ended job stands in the way: {vars(again)}"
    lab.complete(again.job)


def of_many_at_once_one_gets_through(lab, peer):
    for round_ in range(5):
        answers = lab.alloc(
            "submit", f"marker={marker(f'race-{round_}')}", "partition=kube", "threads=16"
        )
        granted = [a for a in answers if a.ok]
        assert len(answers) == 16 and len(granted) == 1, [vars(a) for a in answers]
        assert {a.error for a in answers if not a.ok} <= {DUPLICATE, TRY_AGAIN}, [
            vars(a) for a in answers
        ]
        lab.complete(granted[0].job)


def a_failed_submission_does_not_block_the_next(lab, peer):
    failed = lab.submit(marker("fails-first"), partition="nosuch")
    assert not failed.ok and failed.error not in (DUPLICATE, TRY_AGAIN), vars(failed)
    answer = eventually(
        lambda: next((a for a in [lab.submit(marker("fails-first"))] if a.ok), None)
    )
    assert answer, "the failed submission's ticket stays"
    lab.complete(answer.job)


def the_partition_is_refused_as_default_too(lab, peer):
    lab.write_conf(native_default="NO", kube_default="YES")
    lab.reconfigure()
    result = lab.command("sbatch", "-D", "/", "-o", "/dev/null", "--wrap", "true", user=NOBODY)
    lab.write_conf(native_default="YES", kube_default="NO")
    lab.reconfigure()
    assert result.returncode != 0 and "takes Kubernetes pods only" in result.stderr, result


TESTS = [
    a_marker_from_a_user_is_refused,
    the_external_partition_is_refused,
    a_native_job_cannot_move_in,
    a_broken_marker_is_refused_with_its_fault,
    the_owner_may_not_resize_or_move_his_job,
    a_second_job_for_a_pod_is_refused_by_name,
    of_many_at_once_one_gets_through,
    a_failed_submission_does_not_block_the_next,
    the_partition_is_refused_as_default_too,
]
