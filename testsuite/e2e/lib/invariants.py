# SPDX-License-Identifier: GPL-2.0-or-later
"""The invariants that hold whatever is broken meanwhile, checked on all that the test's own watches
told from the start.

    - At no moment the pods that are bound to a node and not yet terminal ask for more of anything
      than the node has; a pod that is being deleted counts until it is terminal or gone.
    - A pod is bound once: its node and its Slurm job never change.
    - No two pods have the same Slurm job; in a gang, no two live pods have the same rank of it.
Every file of tests ends with check_invariants(bed), which waits first until the two sides have
settled. The rules are those of the independent checker (testsuite/e2e/history_checker), which
torture uses whole. A Slurm that was killed may give a number again that it has not yet saved:
forgets=[(from, until), ...] says when it was away, and what is bound meanwhile is not counted,
because its job may be of both lives.
"""
import time

from history_checker.faults import Deeds
from history_checker.history import Event, History
from history_checker.rules import Evidence, bound_once, no_node_too_full
from history_checker.slurm_log import SlurmTruth

from .expect import wait_settled

LATE = 3.0  # seconds by which our watch may be behind on a busy machine
ALLOCATION = "allocation.slurm-kube.io"


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
    """What only one pod may have: a job, or a rank of it; and whether a successor may take it."""
    notes = event.thing["metadata"].get("annotations", {})
    return notes.get(f"{ALLOCATION}/rank"), f"{ALLOCATION}/gang" in notes


def _one_pod_for_a_job(pods, forgets):
    """Jobs, and ranks of gangs, that two pods have, as texts; what was bound while Slurm was away
    is left out.
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


def check_invariants(bed, forgets=(), unless=lambda pod: False):
    """Fails with what went wrong. unless(pod): pods that others bound, past Slurm."""
    wait_settled(bed)
    proof = Evidence(
        _history(bed, unless),
        SlurmTruth(),
        Deeds(),
        time.time(),
        ours=lambda pod: pod.bound and pod.bound.job,
    )
    assert any(
        p.bound for p in proof.history.pods.values()
    ), "no pod was ever bound: there is nothing to check"
    wrong = [v.text for v in no_node_too_full(proof) + bound_once(proof)] + _one_pod_for_a_job(
        proof.bound(), list(forgets)
    )
    assert not wrong, f"{len(wrong)} violations: " + "; ".join(wrong[:5])
