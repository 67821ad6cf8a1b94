# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods deleted without a cause, and jobs that do not match their pods."""
from history_checker.faults import RECOVERY, Cause
from history_checker.rules import UNCOVERED
from history_checker.tests.play import Play, T0, finds, shown


def test_a_pod_that_lives_on_without_a_job():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.bound(0.2, "one", 1)
    p.completed(5, 1)
    p.ended(5 + UNCOVERED + 5, "one")
    finds(p, "allocated")


def test_time_without_a_job_does_not_count_while_something_is_away():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.bound(0.2, "one", 1)
    p.completed(5, 1)
    p.deeds.windows.append((T0 + 5, T0 + 50, "SIGSTOP agent"))
    p.ended(50 + RECOVERY + UNCOVERED - 1, "one")
    finds(p)


def test_healthy_pod_deleted_by_nobody():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.bound(0.2, "one", 1)
    p.deleting(3, "one")
    p.gone(4, "one")
    p.completed(4.1, 1, "CANCELLED")
    finds(p, "healthy")


def test_a_job_that_root_killed_is_no_cause():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.bound(0.2, "one", 1)
    p.user_kills(2, 1, user=0)
    p.deleting(2.1, "one")
    p.gone(2.2, "one")
    finds(p, "healthy")


def test_waiting_pod_deleted_by_nobody():
    p = Play()
    p.made(0, "one")
    p.deleting(3, "one")
    p.gone(3, "one")
    finds(p, "healthy")


def test_causes_of_users_and_nodes():
    p = Play()
    for n, (name, cause) in enumerate(
        [
            ("one", Cause(T0 + 2, "delete", uid="uid-one")),
            ("two", Cause(T0 + 2, "node failure", node="a")),
        ],
        1,
    ):
        p.made(0, name)
        p.started(0.1, n)
        p.bound(0.2, name, n)
        p.deeds.causes.append(cause)
        p.deleting(3, name)
        p.gone(4, name)
        p.completed(4.1, n, "CANCELLED")
    finds(p)


def test_a_cause_that_came_later_is_none():
    p = Play()
    p.made(0, "one")
    p.deleting(3, "one")
    p.gone(3, "one")
    p.deeds.causes.append(Cause(T0 + 9, "delete", uid="uid-one"))
    finds(p, "healthy")


def test_two_jobs_of_a_pod_at_the_same_time():
    p = Play()
    p.whole("one", 1)
    shown(p, 1, 0, 5)
    shown(p, 2, 1, 3, state="CANCELLED")
    finds(p, "exactly once")


def test_two_waiting_jobs_of_a_pod():
    p = Play()
    p.made(0, "one")
    shown(p, 1, 0, 0, state="PENDING", **{"last picture": "yes"})
    shown(p, 2, 20, 20, state="CANCELLED")
    finds(p, "exactly once")


def test_a_second_job_after_slurm_forgot_the_first():
    p = Play()
    p.made(0, "one")
    shown(p, 1, 0, 0, state="PENDING")
    shown(p, 2, 20, 0, state="PENDING", **{"last picture": "yes"})
    finds(p)


def test_one_job_of_a_pod_after_the_other():
    p = Play()
    shown(p, 5, 0, 1, state="FAILED")
    p.made(0, "one")
    p.started(0.1, 5)
    p.completed(
        0.2, 5, "FAILED", "0:15", line="Job allocate response msg send failure, killing JobId={}"
    )
    shown(p, 6, 1, 5, attempt=2)
    p.started(1, 6)
    p.bound(1.1, "one", 6)
    p.ended(5, "one")
    p.completed(5.1, 6)
    finds(p)


def test_a_job_that_is_pending_again_after_its_pod_ended():
    p = Play()
    p.whole("one", 1)
    p.slurm.line(T0 + 7, "slurmctld version 22.05.8 started on cluster test")
    p.started(8, 1)
    p.completed(8.1, 1, "CANCELLED", line="job_signal: 9 of running JobId={} successful 0x8004")
    finds(p)


def test_given_back_and_restored_before_the_pod_was_bound():
    p = Play()
    p.made(0, "one")
    p.submitted(0, 1, "one")
    p.started(1, 1)
    p.completed(8, 1, "FAILED", "1:0")
    p.slurm.line(T0 + 11, "slurmctld version 22.05.8 started on cluster test")
    p.slurm.line(T0 + 11, "Recovered JobId=1 Assoc=4")
    p.bound(12, "one", 1)
    p.ended(15, "one")
    p.completed(15.1, 1)
    finds(p)
    p.slurm.ends[1][1].state, p.slurm.ends[1][1].exit_code = "FAILED", "1:0"
    finds(p, "ends")


def test_ended_pod_whose_job_never_ends():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.bound(0.2, "one", 1)
    p.ended(5, "one")
    p.slurm.picture(
        {
            1: {
                "SubmitTime": "0",
                "JobState": "RUNNING",
                "NumCPUs": "2",
                "AdminComment": '{"uid":"uid-one"}',
                "last picture": "yes",
            }
        }
    )
    finds(p, "ends", "left")
