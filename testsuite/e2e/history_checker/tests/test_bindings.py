# SPDX-License-Identifier: GPL-2.0-or-later
"""Right histories, and pods bound wrongly."""
from history_checker.faults import Cause
from history_checker.history import JOB_ID
from history_checker.tests.play import Play, T0, finds


def test_nothing_in_a_right_history():
    p = Play()
    p.whole("one", 1)
    p.whole("two", 2, code=3)
    p.whole("three", 3, node="b", at=1)
    p.whole("next", 4, at=6)
    finds(p)


def test_a_pod_that_ends_slowly_and_its_successor_at_the_right_moment():
    p = Play()
    p.made(0, "old", "4")
    p.started(1, 1)
    p.bound(1, "old", 1)
    p.user_kills(5, 1)
    p.deleting(5.1, "old")
    p.started(5.2, 2)
    p.made(5.2, "new", "4")
    p.ended(14, "old", 143)
    p.gone(14, "old")
    p.bound(14.1, "new", 2)
    p.ended(20, "new")
    p.completed(20, 2)
    finds(Play())
    p.slurm.ends[1][0].cpus = p.slurm.ends[2][0].cpus = 4
    finds(p)


def test_two_pods_where_one_fits():
    p = Play()
    p.whole("one", 1, cpu="2")
    p.whole("two", 2, cpu="2")
    p.whole("three", 3, cpu="1", at=0.3)
    finds(p, "capacity")


def test_bound_beside_a_pod_that_is_still_ending():
    p = Play()
    p.made(0, "old", "2")
    p.started(1, 1)
    p.bound(1, "old", 1)
    p.user_kills(5, 1)
    p.deleting(5.1, "old")
    p.whole("new", 2, at=6, cpu="3")
    p.slurm.ends[2][0].cpus = 3
    p.gone(15, "old")
    finds(p, "capacity")


def test_more_devices_than_the_node_has():
    p = Play()
    for job, name in enumerate(("one", "two", "three"), 1):
        p.made(0, name, "1", **{"nvidia.com/gpu": "1"})
        p.started(1, job)
        p.bound(1, name, job)
    for job, name in enumerate(("one", "two", "three"), 1):
        p.ended(5, name)
        p.completed(5, job)
    finds(p, "capacity")


def test_forced_deletion_and_terminal_phase_free_the_share():
    p = Play()
    p.whole("one", 1, cpu="4")
    p.slurm.ends[1][0].cpus = 4
    p.made(6, "two", "4")
    p.started(6, 2)
    p.bound(6, "two", 2)
    p.deeds.causes.append(Cause(T0 + 8, "force delete", uid="uid-two"))
    p.gone(8, "two")
    p.completed(8.1, 2, "CANCELLED", cpus=4)
    p.whole("three", 3, at=12)
    finds(p)


def test_pod_that_moves():
    p = Play()
    p.whole("one", 1)
    p.pods["one"]["spec"]["nodeName"] = "b"
    p.change(6, "one")
    finds(p, "bound once")


def test_pod_that_changes_its_job():
    p = Play()
    p.whole("one", 1)
    p.pods["one"]["metadata"]["annotations"][JOB_ID] = "7"
    p.change(6, "one")
    finds(p, "bound once")


def test_bound_without_a_job():
    p = Play()
    p.made(0, "one")
    p.pods["one"]["spec"]["nodeName"] = "a"
    p.change(1, "one")
    p.ended(3, "one")
    finds(p, "bound once", "start", "ends")


def test_bound_before_slurm_started_the_job():
    p = Play()
    p.made(0, "one")
    p.bound(1, "one", 1)
    p.started(3, 1)
    p.ended(5, "one")
    p.completed(5, 1)
    finds(p, "start")


def test_bound_to_a_node_that_slurm_did_not_give():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1, "b")
    p.bound(0.2, "one", 1, "a")
    p.ended(5, "one")
    p.completed(5.1, 1, node="b")
    finds(p, "start", "ends")


def test_bound_long_after_its_job_ended():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 1)
    p.user_kills(1, 1)
    p.bound(30, "one", 1)
    p.ended(40, "one")
    finds(p, "start")


def test_a_job_with_two_pods():
    p = Play()
    p.whole("one", 1)
    p.made(1, "two", "1")
    p.bound(2, "two", 1)
    p.ended(5, "two")
    finds(p, "one pod")


def test_a_number_that_is_used_again_by_a_slurmctld_that_forgot():
    p = Play()
    p.made(0, "one")
    p.started(0.1, 7)
    p.bound(0.2, "one", 7)
    p.deeds.windows.append((T0 + 1, T0 + 2, "kill -9 slurmctld"))
    p.slurm.line(T0 + 2, "slurmctld version 22.05.8 started on cluster test")
    p.whole("two", 7, at=3, run=4)
    p.submitted(12, 8, "one")
    p.started(12, 8)
    p.ended(20, "one")
    p.completed(20, 8)
    finds(p)


def test_a_number_that_is_used_again_within_the_second():
    p = Play()
    p.whole("one", 7, run=0.5, cpu="3")
    p.slurm.line(T0 + 0.3, "slurmctld version 22.05.8 started on cluster test")
    p.slurm.ends[7][0].cpus, p.slurm.ends[7][0].name = 3, "one"
    p.whole("two", 7, at=0.6, run=4, cpu="1", code=3)
    p.slurm.ends[7][1].name = "two"
    finds(p)


def test_a_pod_that_asks_for_more_than_slurm_gave():
    p = Play()
    p.whole("one", 1, cpu="3")
    finds(p, "allocated")
