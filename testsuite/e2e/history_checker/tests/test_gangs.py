# SPDX-License-Identifier: GPL-2.0-or-later
"""Gangs, and workloads of several components."""
from history_checker.faults import Cause
from history_checker.history import RANK
from history_checker.slurm_log import nodes_of
from history_checker.tests.play import Gangs, T0, accounted, finds, two_components


def test_a_workload_of_two_components():
    p = two_components()
    p.done(9, ["head"], 1)
    p.done(9, ["one", "two"], 2, node="b")
    finds(p)


def test_lists_of_nodes():
    for text, names in (
        ("a", "a"),
        ("n-[0-2],b", "n-0 n-1 n-2 b"),
        ("n[08-10]", "n08 n09 n10"),
        ("a,b", "a b"),
        ("r[1,3]", "r1 r3"),
    ):
        assert nodes_of(text) == set(names.split()), (text, nodes_of(text))


def test_two_pods_of_one_rank():
    p = two_components()
    p.pods["two"]["metadata"]["annotations"][RANK] = "1"
    p.events[-2].thing["metadata"]["annotations"][RANK] = "1"
    p.done(9, ["head"], 1)
    p.done(9, ["one", "two"], 2, node="b")
    finds(p, "one pod")


def test_a_rank_whose_pod_is_replaced():
    p = Gangs()
    p.started(0.1, 1)
    p.member(0, "old", 1, 0)
    p.deeds.causes.append(Cause(T0 + 3, "delete", uid="uid-old"))
    p.deleting(3, "old")
    p.gone(4, "old")
    p.member(4.5, "new", 1, 0)
    p.done(9, ["new"], 1)
    finds(p)


def test_a_gang_larger_than_its_job():
    p = Gangs()
    p.started(0.1, 1)
    for rank in range(3):
        p.member(0, f"p{rank}", 1, rank)
    p.done(9, ["p0", "p1", "p2"], 1)
    finds(p, "allocated")


def test_bound_before_another_component_has_nodes():
    p = Gangs()
    p.started(0.1, 1)
    p.started(7, 2, "b")
    p.member(0, "head", 1, 0)
    p.member(0, "one", 2, 1, 1, "b", bound=7.2)
    p.done(30, ["head"], 1)
    p.done(30, ["one"], 2, node="b")
    finds(p, "all or nothing")


def test_a_pod_of_a_workload_that_is_never_bound():
    p = Gangs()
    p.started(0.1, 1)
    p.member(0, "one", 2, 1, 1, "b", bound=None)
    p.member(0.1, "head", 1, 0)
    p.done(60, ["head"], 1)
    p.deeds.causes.append(Cause(T0 + 90, "delete", uid="uid-one"))
    p.deleting(90, "one")
    p.gone(91, "one")
    finds(p, "all or nothing")


def test_the_end_of_one_component_is_a_reason_for_the_others():
    p = two_components()
    p.user_kills(5, 1)
    p.completed(5.2, 2, "CANCELLED", node="b")
    for name in ("head", "one", "two"):
        p.deleting(5.3, name)
        p.gone(6, name)
    finds(p)


def test_the_end_of_a_waiting_job_is_a_reason_for_its_pods():
    p = Gangs()
    p.member(0, "one", 2, 1, 1, "b", bound=None)
    p.slurm.line(T0 + 5, "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=2 uid 65534")
    p.deleting(5.2, "one")
    p.gone(5.3, "one")
    p.whole("other", 7)
    finds(p)
    p.slurm.kills.clear()
    finds(p, "healthy")


def test_nodes_held_for_nothing():
    p = Gangs()
    p.started(0.1, 2, "b")
    p.slurm.picture(
        {
            2: {
                "SubmitTime": "0",
                "JobState": "COMPLETED",
                "NumCPUs": "2",
                "AdminComment": '{"uid":"w"}',
            }
        }
    )
    p.completed(120, 2, "CANCELLED", node="b")
    p.whole("other", 7)
    finds(p, "held")


def test_end_of_a_gang_told_wrongly():
    p = two_components()
    p.done(9, ["head"], 1)
    p.ended(9, "one", 3)
    p.done(9, ["two"], 2, node="b")
    finds(p, "ends")
    p = two_components()
    p.done(9, ["head"], 1, "CANCELLED")
    p.done(9, ["one", "two"], 2, node="b")
    finds(p, "ends")
    p = two_components()
    p.done(9, ["head"], 1)
    for name in ("one", "two"):
        p.ended(9, name)
    finds(p, "ends")


def test_accounts_of_a_gang():
    p = two_components()
    p.done(9, ["head"], 1)
    p.done(9, ["one", "two"], 2, node="b")
    accounted(p, 1, 0.1, end=9.1, name="w")
    accounted(p, 2, 0.1, end=9.1, node="b", name="w")
    finds(p)
    p.slurm.accounts[2] = []
    finds(p, "accounts")
