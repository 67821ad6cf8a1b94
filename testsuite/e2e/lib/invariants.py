# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases that the runner (tap.py) adds to every program: no daemon has crashed, and the
invariants hold on everything that the program's own watches received from the start.

    - At no moment the pods that are bound to a node and not yet terminal ask for more of anything
      than the node has; a pod that is being deleted counts until it is terminal or gone.
    - A pod is bound once: its node and its Slurm job never change.
    - No two pods have the same Slurm job; in a gang, no two live pods have the same rank of it.
The check waits first until the two sides have settled. The rules are those of the independent
checker (testsuite/e2e/history_checker), of which torture uses all. A Slurm that was killed may
assign a job number a second time if it had not saved the first job. Therefore a program says in
forgets=[(from, until), ...] when Slurm was away. What is bound in such a time is not compared with
other pods of the same job number. unless(pod) says which pods were not bound by the
agent.
"""
import re
import time

from history_checker.faults import Deeds
from history_checker.history import Event, History
from history_checker.rules import Evidence, bound_once, no_node_too_full
from history_checker.slurm_log import SlurmTruth

from .expect import wait_settled

LATE = 3.0  # seconds by which our watch may lag on a busy machine
ALLOCATION = "allocation.slurm-kube.io"
# What a daemon of ours, its C library or a sanitizer prints when it dies.
CRASH = re.compile(
    r"(?im)^.*(?:terminate called|assertion|segfault|AddressSanitizer|runtime error:|fatal:).*$"
)


def _history(bed, unless):
    with bed.kube.changed:
        told = [(kind, *x) for kind in ("Pod", "Node") for x in bed.kube.history[kind]]
    return History(
        [
            Event(int(thing["metadata"]["resourceVersion"]), when, kind, what, thing)
            for kind, when, what, thing in told
            if kind == "Node" or not unless(thing)
        ]
    )


def _rank(event):
    """The rank in its job, which only one pod may have; and whether a successor may take it."""
    notes = event.thing["metadata"].get("annotations", {})
    return notes.get(f"{ALLOCATION}/rank"), f"{ALLOCATION}/gang" in notes


def _one_pod_for_a_job(pods, forgets):
    """Describes jobs, and ranks of gangs, that two pods have. Bindings while Slurm was away are
    left out.
    """
    owner, wrong = {}, []
    for pod in sorted(pods, key=lambda p: p.bound.rv):
        when, job, (rank, is_gang) = pod.bound.at, pod.bound.job, _rank(pod.bound)
        if not job or any(since <= when <= until + LATE for since, until in forgets):
            continue
        key = (job, rank, sum(1 for _, until in forgets if until + LATE < when))
        former = owner.get(key)
        if former and not (is_gang and former.ended and former.ended.rv < pod.bound.rv):
            wrong.append(f"{pod.name} has job {job} rank {rank}, which {former.name} had")
        owner[key] = pod
    return wrong


def dead_daemons(bed):
    """The names of the daemons that have died although no test ended them."""
    return [d.name for d in bed.daemons() if d.is_wanted and not d.alive()]


def check_daemons(bed):
    """Fails if a daemon has died that the test did not end, or if a log has a line of a crash."""
    dead = dead_daemons(bed)
    assert not dead, f"died: {', '.join(dead)}"
    for daemon in bed.daemons():
        lines = CRASH.findall(daemon.log.read_text(errors="replace"))
        assert not lines, f"{len(lines)} lines of a crash in {daemon.log}: {lines[:5]}"


def check_invariants(bed, forgets=(), unless=None, must_bind=True):
    """Fails with the violations. must_bind: also fails if no pod was ever bound, because then
    nothing was checked.
    """
    wait_settled(bed)
    proof = Evidence(
        _history(bed, unless or (lambda pod: False)),
        SlurmTruth(),
        Deeds(),
        time.time(),
        ours=lambda pod: pod.bound and pod.bound.job,
    )
    assert not must_bind or any(
        p.bound for p in proof.history.pods.values()
    ), "no pod was ever bound: there is nothing to check"
    wrong = [v.text for v in no_node_too_full(proof) + bound_once(proof)] + _one_pod_for_a_job(
        proof.bound(), list(forgets)
    )
    assert not wrong, f"{len(wrong)} violations: " + "; ".join(wrong[:5])


def closing_cases(**options):
    """The cases with which every program ends; options are those of check_invariants()."""

    def test_no_daemon_crashed(bed):
        """Agent and slurmctld run unless the test itself ended them, and no log has a crash."""
        check_daemons(bed)

    def test_invariants_held(bed):
        """At no moment was a node too full, a pod bound twice, or a job or rank given to two
        pods.
        """
        check_invariants(bed, **options)

    return [test_no_daemon_crashed, test_invariants_held]
