# SPDX-License-Identifier: GPL-2.0-or-later
"""The invariants of pods that share a Slurm job, and of workloads whose components have a job each.

A pod's `marker` is the uid in the marker of its job: "OWNER" for the first component of a workload,
"OWNER+n" for the others.
"""
import math
from collections import defaultdict

from .accounts import printed, slurm_cannot_know
from .ends import SLURMS_OWN, allowed_ends, is_forgotten, records_of
from .history import RANK
from .slurm_log import LATE_LINE

START = 20.0  # calm seconds from a workload's first binding to the bindings of all its pods
# calm seconds for which an allocation may be held without a bound pod: 60, and the time to give it
# back
HELD = 75.0


def _violation(rule, text, at, pods=(), jobs=()):
    from .rules import Violation

    return Violation(rule, text, at, [p.uid for p in pods], list(jobs))


def workload_of(marker):
    return marker.split("+")[0]


def members(e, workload):
    """The pods of a workload, bound or not."""
    return [
        p
        for p in e.pods()
        if p.owner.get("uid") == workload or p.in_gang and workload_of(p.marker) == workload
    ]


def _jobs_of(e, workload):
    """All Slurm jobs of all components of a workload."""
    return {
        job
        for marker, jobs in e.slurm.uids.items()
        if workload_of(marker) == workload
        for job in jobs
    }


def nodes_and_jobs(e, pod, when):
    """The nodes and jobs whose failure or end is a reason to delete a pod at that moment: those of
    all components, because they run together. A waiting pod's owner identifies the workload, if
    jobs were submitted for that owner.
    """
    workload = workload_of(pod.marker) if pod.in_gang else pod.owner.get("uid", "")
    of_workload = _jobs_of(e, workload)
    together = members(e, workload) if of_workload else [pod]
    bound = [p.bound for p in together if p.bound and p.bound.at <= when]
    return {b.node for b in bound}, {b.job for b in bound} | e.slurm.uids.get(
        pod.uid, set()
    ) | of_workload


def gangs(e):
    """{(marker, job): its bound pods in the order of their bindings}"""
    found = defaultdict(list)
    for pod in sorted(e.bound(), key=lambda p: p.bound.rv):
        if pod.in_gang:
            found[pod.marker, pod.bound.job].append(pod)
    return found


def _is_live_at(pod, rv):
    return pod.bound.rv <= rv and not (pod.ended and pod.ended.rv < rv)


def one_pod_for_a_rank(e):
    """Invariant 1: each rank of a job has one live pod at a time."""
    out = []
    for (_, job), pods in gangs(e).items():
        owner = {}
        for pod in pods:
            rank = pod.bound.annotation(RANK)
            other = owner.get(rank)
            if other and _is_live_at(other, pod.bound.rv):
                out.append(
                    _violation(
                        "one pod",
                        f"{pod.name} has rank {rank} of job {job}, which {other.name} had",
                        pod.bound.at,
                        [other, pod],
                        [job],
                    )
                )
            owner[rank] = pod
    return out


def not_more_than_the_gang_has(e):
    """Invariant 2: at the time of each binding, the pods of a job together request no more CPUs
    than Slurm allocated to it.
    """
    from .rules import given_cpus

    out = []
    for (_, job), pods in gangs(e).items():
        for pod in pods:
            given = given_cpus(e, pod)
            live = [p for p in pods if _is_live_at(p, pod.bound.rv)]
            asked = sum(math.ceil(p.bound.requests().get("cpu", 0.0)) for p in live)
            if given and asked > max(given):
                out.append(
                    _violation(
                        "allocated",
                        f"{len(live)} pods ask for {asked} CPUs, job {job} has {max(given)}",
                        pod.bound.at,
                        live,
                        [job],
                    )
                )
    return out


def _was_disturbed(e, workload, since, until):
    """True if a pod of the workload was ended, or ended by itself, between since and until."""
    pods = members(e, workload)
    nodes = {p.bound.node for p in pods if p.bound}
    if any(since <= p.ended.at <= until for p in pods if p.ended) or any(
        since <= p.deletion.at <= until for p in pods if p.deletion
    ):
        return True
    if any(
        since <= at <= until
        for job in _jobs_of(e, workload)
        for at, user in e.slurm.kills.get(job, [])
    ):
        return True
    return any(
        c.owner == workload or c.node in nodes
        for c in e.deeds.causes
        if since - 120 <= c.at <= until
    )


def _starts(bound):
    """The pods of a workload in groups, bound pods in order: a binding while no other pod of the
    workload lives begins a group.
    """
    groups = []
    for pod in bound:
        if not groups or not any(_is_live_at(p, pod.bound.rv) for p in groups[-1]):
            groups.append([])
        groups[-1].append(pod)
    return groups


def starts_whole(e):
    """All or nothing: when the first pod of a workload is bound, every component has its nodes, and
    the other pods follow at once.
    """
    out = []
    for workload in {workload_of(marker) for marker, _ in gangs(e)}:
        pods = members(e, workload)
        for start in _starts(
            sorted((p for p in pods if p.bound and p.in_gang), key=lambda p: p.bound.rv)
        ):
            first, waiting = start[0].bound, [
                p
                for p in pods
                if p.events[0].rv < start[0].bound.rv
                and not (p.ended and p.ended.rv < start[0].bound.rv)
            ]
            until = first.at + START
            if _was_disturbed(e, workload, first.at - START, until):
                continue
            out += _late_components(e, start, first)
            late = [p for p in waiting if not p.bound and e.deeds.calm(first.at, e.until) > START]
            if late:
                out.append(
                    _violation(
                        "all or nothing",
                        (
                            f"{start[0].name} was bound, and {len(late)} of its workload were not:"
                            f" {late[0].name}"
                        ),
                        first.at,
                        [start[0], *late[:3]],
                        _jobs_of(e, workload),
                    )
                )
    return out


def _late_components(e, start, first):
    for job in {p.bound.job for p in start}:
        pod = next(p for p in start if p.bound.job == job)
        life = e.slurm.life_at(job, pod.bound.node, pod.bound.at, LATE_LINE)
        if life and life.start > first.at + LATE_LINE:
            yield _violation(
                "all or nothing",
                (
                    f"{start[0].name} was bound {life.start - first.at:.1f} s before job {job} of"
                    " its workload had its nodes"
                ),
                first.at,
                [start[0], pod],
                [start[0].bound.job, job],
            )


def nothing_is_held_long(e):
    """Nodes on which no pod of the job runs are only held and charged for a limited time."""
    used = {
        (p.bound.job, life.start)
        for p in e.bound()
        for life in e.slurm.lives.get(p.bound.job, [])
        if life.start <= p.bound.at + LATE_LINE
        and (life.end is None or p.bound.at <= life.end + LATE_LINE)
    }
    out = []
    for marker, jobs in e.slurm.uids.items():
        for life in (x for job in jobs for x in e.slurm.lives.get(job, [])):
            forgotten = life.end is None and any(t > life.start for t in e.slurm.restarts)
            held = e.deeds.calm(life.start, e.until if life.end is None else life.end)
            if held > HELD and not forgotten and (life.job, life.start) not in used:
                out.append(
                    _violation(
                        "held",
                        (
                            f"job {life.job} of {marker} had {life.node} for {held:.0f} calm"
                            " seconds, and no pod was bound"
                        ),
                        life.start,
                        [],
                        [life.job],
                    )
                )
    return out


def _last_of_ranks(pods):
    return {p.bound.annotation(RANK): p for p in pods}.values()


def _may_end(e, marker, pods):
    """The results that a job may have: success if the last pod of each rank succeeded, otherwise
    the result of any of its pods.
    """
    told = set().union(*(allowed_ends(e, p) for p in pods))
    if any(("COMPLETED", "0:0") not in allowed_ends(e, p) for p in _last_of_ranks(pods)):
        told.discard(("COMPLETED", "0:0"))
    workload = workload_of(marker)
    since = pods[0].bound.at
    killed = any(
        user != 0 and at >= since - 1
        for job in _jobs_of(e, workload)
        for at, user in e.slurm.kills.get(job, [])
    )
    caused = any(
        c.at >= since - 1
        and (c.owner == workload or c.node or c.uid in {p.uid for p in members(e, workload)})
        for c in e.deeds.causes
    )
    return told | ({("CANCELLED", "0:0")} if killed or caused else set())


def _ended_gangs(e):
    for (marker, job), pods in gangs(e).items():
        if all(p.ended for p in pods):
            yield marker, job, pods


def ends_of_gangs_are_true(e):
    out = []
    for marker, job, pods in _ended_gangs(e):
        records, told = records_of(e, pods[-1]), _may_end(e, marker, pods)
        wrong = [
            r
            for r in records
            if (r.state, r.exit_code) not in told
            and (r.state not in SLURMS_OWN or r.state == "CANCELLED")
        ]
        if wrong:
            out.append(
                _violation(
                    "ends",
                    (
                        f"{len(pods)} pods of {marker} ended; Slurm says"
                        f" {wrong[0].state} {wrong[0].exit_code} of job {job}, not"
                        f" {' or '.join(' '.join(t) for t in sorted(told))}"
                    ),
                    pods[-1].ended.at,
                    pods,
                    [job],
                )
            )
        elif not records and e.settled and not any(is_forgotten(e, p) for p in pods):
            out.append(
                _violation(
                    "ends",
                    (
                        f"{len(pods)} pods of {marker} ended, and Slurm has no record of an end of"
                        f" job {job}"
                    ),
                    pods[-1].ended.at,
                    pods,
                    [job],
                )
            )
    return out


def accounts_of_gangs_are_true(e):
    if e.slurm.accounts is None:
        return []
    out = []
    for marker, job, pods in _ended_gangs(e):
        rows = records_of(e, pods[-1], e.slurm.accounts)
        told = set().union(*(printed(*t) for t in _may_end(e, marker, pods)))
        seen = [(r.state, r.exit_code) for r in rows]
        true = len(rows) == 1 and (seen[0] in told or rows[0].state in SLURMS_OWN)
        ended = max(p.ended.at for p in pods)
        unknowable = any(
            slurm_cannot_know(e, begun, ended)
            for p in pods
            for begun in (p.events[0].at, p.bound.at)
        ) or any(is_forgotten(e, p) for p in pods)
        if not true and not (len(rows) < 2 and unknowable):
            out.append(
                _violation(
                    "accounts",
                    (
                        f"{len(pods)} pods of {marker} ended; sacct has {seen or 'nothing'} of job"
                        f" {job}, not {sorted(told)}"
                    ),
                    ended,
                    pods,
                    [job],
                )
            )
    return out


def whole_starts(e):
    """The number of starts of workloads of several components that were checked."""
    markers = {marker for marker, _ in gangs(e)}
    return sum(
        1
        for w in {workload_of(m) for m in markers}
        if len({m for m in markers if workload_of(m) == w}) > 1
    )


RULES = (
    one_pod_for_a_rank,
    not_more_than_the_gang_has,
    starts_whole,
    nothing_is_held_long,
    ends_of_gangs_are_true,
    accounts_of_gangs_are_true,
)
