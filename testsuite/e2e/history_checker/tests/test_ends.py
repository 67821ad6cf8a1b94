# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends told wrongly to Slurm, and what the accounting database has."""
from history_checker.tests.play import Play, T0, accounted, finds, lived, shown, stamp


def test_wrong_exit_code():
    p = Play()
    p.whole("one", 1, code=3)
    p.slurm.ends[1][0].exit_code = "4:0"
    finds(p, "ends")


def test_failure_told_as_success():
    p = Play()
    p.whole("one", 1, code=3)
    p.slurm.ends[1][0].state, p.slurm.ends[1][0].exit_code = "COMPLETED", "0:0"
    finds(p, "ends")


def test_success_told_as_cancelled():
    p = Play()
    p.whole("one", 1)
    p.slurm.ends[1][0].state = "CANCELLED"
    finds(p, "ends")


def test_signal_is_told_as_signal():
    p = Play()
    p.whole("one", 1, code=137)
    finds(p, "ends")
    p.slurm.ends[1][0].exit_code = "0:9"
    finds(p)


def test_accounts_that_are_right():
    p = lived()
    accounted(p, 1, 10, end=60, submit=10)
    finds(p)
    p = lived(code=130, state="FAILED")
    p.slurm.ends[1][0].exit_code = "0:2"
    p.slurm.shown[1, stamp(T0 + 10)]["ExitCode"] = "0:2"
    accounted(p, 1, 10, "FAILED", "0:2", end=60, submit=10)
    finds(p)


def test_exit_code_that_comes_after_a_cancellation():
    p = Play()
    p.made(10, "one")
    shown(p, 1, 10, 15, state="CANCELLED", ExitCode="42:0")
    p.started(10.1, 1)
    p.bound(10.2, "one", 1)
    p.ended(15, "one", 42)
    p.user_kills(15.01, 1)
    accounted(p, 1, 10, "CANCELLED", "42:0", end=15, submit=10)
    finds(p)
    p.slurm.accounts = {}
    accounted(p, 1, 10, "CANCELLED", "43:0", end=15, submit=10)
    finds(p, "accounts")


def test_exit_code_that_comes_too_late_for_the_record():
    p = Play()
    p.made(10, "one")
    shown(p, 1, 10, 15, state="CANCELLED", ExitCode="1:0", **{"last picture": "yes"})
    p.started(10.1, 1)
    p.bound(10.2, "one", 1)
    p.ended(15, "one", 1)
    p.user_kills(15.01, 1)
    accounted(p, 1, 10, "CANCELLED", "0:0", end=15, submit=10)
    finds(p)


def test_record_whose_name_comes_later():
    p = lived()
    accounted(p, 1, 10, end=60, submit=10, name="another")
    finds(p, "accounts")
    p.slurm.accounts = {}
    accounted(p, 1, 10, end=60, submit=10, name="allocation")
    finds(p)


def test_sacct_takes_128_off():
    p = lived(code=255, state="FAILED")
    accounted(p, 1, 10, "FAILED", "127:0", end=60, submit=10)
    finds(p)


def test_accounts_that_are_wrong():
    for rows in (
        [],
        [("FAILED", "0:0", 60)],
        [("COMPLETED", "1:0", 60)],
        [("COMPLETED", "0:0", 60)] * 2,
        [("RUNNING", "0:0", 0)],
    ):
        p = lived()
        p.slurm.accounts = {}
        for state, code, end in rows:
            accounted(p, 1, 10, state, code, end, submit=10)
        finds(p, "accounts")


def test_record_that_goes_on_of_a_job_that_nobody_knows():
    p = lived()
    accounted(p, 1, 10, end=60, submit=10)
    accounted(p, 2, 20, "RUNNING", submit=20)
    finds(p, "accounts")
    p.deeds.windows.append((T0 + 22, T0 + 23, "kill -9 munged and slurmctld"))
    finds(p)


def test_end_that_died_with_slurmctld_while_slurmdbd_was_away():
    p = lived()
    accounted(p, 1, 10, "RUNNING", submit=10)
    p.deeds.windows.append((T0 + 100, T0 + 101, "kill -9 slurmctld"))
    finds(p, "accounts")
    p.deeds.windows.append((T0 + 55, T0 + 99, "SIGSTOP slurmdbd"))
    finds(p)
    p.deeds.windows[0] = (T0 + 100, T0 + 101, "SIGSTOP slurmctld")
    finds(p, "accounts")


def test_number_whose_first_record_stays():
    p = lived()
    accounted(p, 1, 3, "RUNNING", submit=3)
    finds(p, "accounts")
    p.deeds.windows.append((T0 + 100, T0 + 101, "kill -9 slurmctld"))
    finds(p)


def test_submission_that_slurmdbd_heard_without_its_database():
    p = lived()
    p.slurm.accounts = {}
    p.deeds.windows.append((T0 + 20, T0 + 21, "kill -9 etcd and mariadbd"))
    finds(p, "accounts")
    p.deeds.windows.append((T0 + 10, T0 + 11, "kill -9 mariadbd"))
    finds(p)
    accounted(p, 1, 10, end=60, submit=10)
    accounted(p, 1, 10, end=60, submit=10)
    finds(p, "accounts")


def test_start_that_a_killed_slurmdbd_had_not_committed():
    p = lived()
    accounted(p, 1, 0, end=60, node="None assigned", submit=10)
    finds(p, "accounts")
    p.deeds.windows.append((T0 + 9.5, T0 + 10.5, "kill -9 slurmdbd"))
    finds(p)
