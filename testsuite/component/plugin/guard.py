# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may submit external jobs, what users may change in them, and that a pod has at most one."""
from fixture import eventually, marker

NOBODY = 65534
ACCESS_DENIED, DUPLICATE, TRY_AGAIN = 2002, 2011, 2020


def a_marker_from_a_user_is_refused(fixture, peer):
    answer = fixture.submit(marker("forged"), as_user=NOBODY, user=NOBODY, group=NOBODY)
    assert not answer.ok and answer.error == ACCESS_DENIED, vars(answer)
    answer = fixture.submit(
        marker("forged"), as_user=NOBODY, user=NOBODY, group=NOBODY, partition="native"
    )
    assert not answer.ok and answer.error == ACCESS_DENIED, vars(answer)


def the_external_partition_is_refused(fixture, peer):
    for user in (NOBODY, None):
        result = fixture.command(
            "sbatch", "-p", "kube", "-D", "/", "-o", "/dev/null", "--wrap", "true", user=user
        )
        assert result.returncode != 0 and "takes Kubernetes pods only" in result.stderr, result
    result = fixture.command(
        "sbatch", "-p", "native,kube", "-D", "/", "-o", "/dev/null", "--wrap", "true", user=NOBODY
    )
    assert result.returncode != 0 and "partition kube takes" in result.stderr, result
    result = fixture.command(
        "sbatch", "-p", "native", "-D", "/", "-o", "/dev/null", "--wrap", "true", user=NOBODY
    )
    assert result.returncode == 0, result


def a_native_job_cannot_move_in(fixture, peer):
    result = fixture.command(
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
    moved = fixture.command("scontrol", "update", f"jobid={job}", "partition=kube", user=NOBODY)
    assert moved.returncode != 0, moved
    assert fixture.job(job)["Partition"] == "native", fixture.job(job)
    fixture.command("scancel", job)


def a_broken_marker_is_refused_with_its_fault(fixture, peer):
    answer = fixture.submit('{"slurm-kube":1,"cluster":"main"}')
    assert not answer.ok and "key 'namespace' is missing" in answer.messages, vars(answer)


def the_owner_may_not_resize_or_move_his_job(fixture, peer):
    filler = [
        fixture.submit(marker(f"full-{i}"), node=n, cpus=4).job
        for i, n in enumerate(fixture.external_nodes())
    ]
    job = fixture.submit(marker("owned", user=NOBODY, group=NOBODY), minutes=50).job

    def update(*words, user=NOBODY):
        return (
            fixture.command("scontrol", "update", f"jobid={job}", *words, user=user).returncode == 0
        )

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
    assert fixture.command("scontrol", "hold", str(job), user=NOBODY).returncode == 0
    assert peer.wait("job", id=job, held=True), peer.last("job", id=job)
    fixture.command("scancel", str(job), *map(str, filler))
    assert peer.wait("job", id=job, state="cancelled")


def a_second_job_for_a_pod_is_refused_by_name(fixture, peer):
    first = fixture.submit(marker("twice"))
    second = fixture.submit(marker("twice"))
    assert not second.ok and second.error == DUPLICATE, vars(second)
    assert (
        f"slurm-kube: job {first.job} already stands for pod ns/pod-twice (uid twice, attempt 1)"
        in second.messages
    ), second.messages
    other = fixture.submit(marker("twice", attempt=2))
    assert other.ok, vars(other)
    fixture.complete(first.job)
    fixture.complete(other.job)
    again = fixture.submit(marker("twice"))
    assert again.ok, f"an ended job stands in the way: {vars(again)}"
    fixture.complete(again.job)


def of_many_at_once_one_gets_through(fixture, peer):
    for round_ in range(5):
        answers = fixture.alloc(
            "submit", f"marker={marker(f'race-{round_}')}", "partition=kube", "threads=16"
        )
        granted = [a for a in answers if a.ok]
        assert len(answers) == 16 and len(granted) == 1, [vars(a) for a in answers]
        assert {a.error for a in answers if not a.ok} <= {DUPLICATE, TRY_AGAIN}, [
            vars(a) for a in answers
        ]
        fixture.complete(granted[0].job)


def a_failed_submission_does_not_block_the_next(fixture, peer):
    failed = fixture.submit(marker("fails-first"), partition="nosuch")
    assert not failed.ok and failed.error not in (DUPLICATE, TRY_AGAIN), vars(failed)
    answer = eventually(
        lambda: next((a for a in [fixture.submit(marker("fails-first"))] if a.ok), None)
    )
    assert answer, "the failed submission's ticket stays"
    fixture.complete(answer.job)


def the_partition_is_refused_as_default_too(fixture, peer):
    fixture.write_conf(native_default="NO", kube_default="YES")
    fixture.reconfigure()
    result = fixture.command("sbatch", "-D", "/", "-o", "/dev/null", "--wrap", "true", user=NOBODY)
    fixture.write_conf(native_default="YES", kube_default="NO")
    fixture.reconfigure()
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
