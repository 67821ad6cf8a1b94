# SPDX-License-Identifier: GPL-2.0-or-later
"""The invariants of the design (section 8) as functions: evidence in, violations out.

Each violation is one sentence that names pods and jobs; story() adds what is known of these. A rule
that cannot know reports that (a gap in the history is a violation of its own), and never reports
success instead.
"""
import math
import re
from dataclasses import dataclass, field

from records.slurm import LIVE
from records.times import seconds_or_zero

from . import gangs
from .faults import Deeds
from .history import History
from .slurm_log import SlurmTruth, nodes_of

SLACK = 0.25  # seconds from an event to its line in slurmctld's log, which is written afterwards
# calm seconds for which a pod may live without a job: 10 s until the job is surely missing, and the
# time for a new submission
UNCOVERED = 45.0
# calm seconds after the end of a job within which a binding under way may still arrive
LATE_BIND = 15.0


@dataclass
class Violation:
    rule: str
    text: str
    at: float
    pods: list = field(default_factory=list)  # uids
    jobs: list = field(default_factory=list)


@dataclass
class Evidence:
    history: History
    slurm: SlurmTruth
    deeds: Deeds
    until: float = 0.0  # when the test ended
    ours: object = lambda pod: True  # which pods Slurm schedules
    settled: bool = True  # faults were stopped, and nothing moved any more before the end

    def pods(self):
        return [p for p in self.history.pods.values() if self.ours(p)]

    def bound(self):
        return [p for p in self.pods() if p.bound]


def nothing_missed(e):
    """The history has no gaps."""
    return [
        Violation("history", f"the watch of {kind}s knows nothing between {a} and {b}: {why}", 0.0)
        for kind, a, b, why in e.history.gaps
    ]


def _too_full(node, limit, held, event):
    out = []
    for what in limit:
        used = sum(share.get(what, 0.0) for share, _ in held.values())
        if used > limit[what] + 1e-6:
            out.append(
                Violation(
                    "capacity",
                    (
                        f"rv {event.rv}: {len(held)} pods hold {used:g} {what} on {node}, which has"
                        f" {limit[what]:g}"
                    ),
                    event.at,
                    list(held),
                    [job for _, job in held.values()],
                )
            )
    return out


def no_node_too_full(e):
    """Invariant 2, at every resourceVersion: includes pods that are ending, and counts pods whoever
    bound them.
    """
    from .history import amount

    limits, held, out = {}, {}, []
    for event in e.history.events:
        if event.kind == "Node":
            limits[event.name] = {
                k: amount(v) for k, v in event.thing["status"].get("allocatable", {}).items()
            }
            continue
        for pods in held.values():
            if event.uid in pods and not event.holds_node:
                del pods[event.uid]
        if event.holds_node and event.uid not in held.setdefault(event.node, {}):
            held[event.node][event.uid] = (event.requests(), event.job)
            out += _too_full(event.node, limits.get(event.node, {}), held[event.node], event)
    return out


def bound_once(e):
    """Invariant 1: the node and job of a pod never change."""
    out = []
    for pod in e.bound():
        places = {(x.node, x.job) for x in pod.events if x.node}
        if len(places) > 1:
            out.append(
                Violation(
                    "bound once",
                    f"{pod.name} was on {sorted(places)}",
                    pod.bound.at,
                    [pod.uid],
                    [j for _, j in places],
                )
            )
        elif pod.bound.job == 0:
            out.append(
                Violation(
                    "bound once", f"{pod.name} was bound without a job", pod.bound.at, [pod.uid]
                )
            )
    return out


def bound_after_start(e):
    """A binding comes after Slurm's start of that job on that node, and not after its end."""
    out = []
    for pod in e.bound():
        b = pod.bound
        life = e.slurm.life_at(b.job, b.node, b.at, SLACK)
        if not life:
            out.append(
                Violation(
                    "start",
                    (
                        f"{pod.name} was bound to {b.node} at rv {b.rv}, where Slurm had not"
                        f" started job {b.job}"
                    ),
                    b.at,
                    [pod.uid],
                    [b.job],
                )
            )
        elif life.end is not None and e.deeds.calm(life.end, b.at) > LATE_BIND:
            out.append(
                Violation(
                    "start",
                    f"{pod.name} was bound {b.at - life.end:.1f} s after the end of job {b.job}",
                    b.at,
                    [pod.uid],
                    [b.job],
                )
            )
    return out


def one_pod_for_a_job(e):
    """Invariant 1: each life of a job has at most one pod, even when numbers are used again. For
    gangs see gangs.py.
    """
    owner, out = {}, []
    for pod in e.bound():
        life = e.slurm.life_at(pod.bound.job, pod.bound.node, pod.bound.at, SLACK)
        key = (pod.bound.job, life.start if life else 0.0)
        other = owner.setdefault(key, pod)
        if other.marker != pod.marker:
            out.append(
                Violation(
                    "one pod",
                    f"{pod.name} has job {key[0]}, which {other.name} had",
                    pod.bound.at,
                    [other.uid, pod.uid],
                    [key[0]],
                )
            )
    return out


def given_cpus(e, pod):
    """The CPUs that Slurm says the pod's job had, from the record of its end and from scontrol."""
    from .ends import records_of

    shown = [
        f
        for (n, _), f in e.slurm.shown.items()
        if n == pod.bound.job and f'"{pod.marker}"' in f.get("AdminComment", "")
    ]
    return {x.cpus for x in records_of(e, pod)} | {
        int(f["NumCPUs"].split("-")[0])
        for f in shown
        if f.get("NodeList") not in (None, "", "(null)")
    }


def not_more_than_allocated(e):
    """Invariant 2: a pod requests no more CPUs than Slurm allocated to its job. With one pod per
    job this also covers sums; for gangs see gangs.py.
    """
    out = []
    for pod in e.bound():
        given = given_cpus(e, pod)
        asked = math.ceil(pod.bound.requests().get("cpu", 0.0))
        if given and asked > max(given):
            out.append(
                Violation(
                    "allocated",
                    f"{pod.name} asks for {asked} CPUs, job {pod.bound.job} has {max(given)}",
                    pod.bound.at,
                    [pod.uid],
                    [pod.bound.job],
                )
            )
    return out


def _lives_of(e, pod):
    """All lives of the pod's jobs, without jobs of the same number that belonged to another pod, as
    far as Slurm can tell.
    """
    jobs = e.slurm.uids.get(pod.marker, set()) | {pod.bound.job}
    return [x for j in jobs for x in e.slurm.lives.get(j, []) if pod.bound.node in nodes_of(x.node)]


def _uncovered(e, pod, since, until):
    """The calm seconds between since and until that lie in no life."""
    at, calm = since, 0.0
    for life in sorted(_lives_of(e, pod), key=lambda x: x.start):
        end = until if life.end is None else life.end
        if life.start > at:
            calm += (
                e.deeds.calm(at, min(life.start, until))
                if life.start < until or at < until
                else 0.0
            )
        at = max(at, min(end, until))
        if at >= until:
            break
    return calm + (e.deeds.calm(at, until) if at < until else 0.0)


def lives_on_its_allocation(e):
    """Invariant 2 over time: a pod that runs and is not being deleted has its node from Slurm,
    except for the time needed to repair that.
    """
    out = []
    for pod in e.bound():
        stop = pod.deletion or pod.ended
        if pod.ended and (not stop or pod.ended.rv < stop.rv):
            stop = pod.ended
        until = stop.at if stop else e.until
        calm = _uncovered(e, pod, pod.bound.at, until)
        if calm > UNCOVERED:
            out.append(
                Violation(
                    "allocated",
                    (
                        f"{pod.name} lived {calm:.0f} calm seconds on {pod.bound.node} without a"
                        " job of Slurm's there"
                    ),
                    pod.bound.at,
                    [pod.uid],
                    [pod.bound.job],
                )
            )
    return out


def _cause_of(e, pod, when):
    """The reason why a healthy pod may have been deleted at that moment, or None. A request by job
    number must have reached Slurm.
    """
    nodes, jobs = gangs.nodes_and_jobs(e, pod, when)
    for c in e.deeds.causes:
        if c.at > when + SLACK:
            continue
        if c.uid and c.uid == pod.uid or c.owner and c.owner == pod.owner.get("uid"):
            return c
        if c.node in nodes and when - c.at < 120:
            return c
    for job in jobs:
        for at, user in e.slurm.kills.get(job, []):
            if user != 0 and pod.events[0].at - SLACK <= at <= when + SLACK:
                return (at, f"scancel by user {user}")
    return None


def no_healthy_pod_deleted(e):
    """Invariant 5: the deletion of a pod that has not ended needs a user, a failed node, or a
    reason of Slurm's own.
    """
    out = []
    for pod in e.pods():
        d = pod.deletion
        if not d or (pod.ended and pod.ended.rv < d.rv) or d.terminal:
            continue
        if not _cause_of(e, pod, d.at):
            out.append(
                Violation(
                    "healthy",
                    (
                        f"{pod.name} was deleted at rv {d.rv} while it was {d.phase}, and nobody"
                        " asked for that"
                    ),
                    d.at,
                    [pod.uid],
                    sorted(
                        e.slurm.uids.get(pod.uid, set()) | ({pod.bound.job} if pod.bound else set())
                    ),
                )
            )
    return out


def _claims(e):
    """{(uid, attempt): [(submitted, ended, job)]} as scontrol showed them, pending jobs included. A
    job last seen alive that is missing at the end was forgotten by a killed slurmctld: the time of
    its end is unknown.
    """
    found = {}
    for (number, _), fields in e.slurm.shown.items():
        claim = re.search(r'"uid":"([^"]+)".*?"attempt":(\d+)', fields.get("AdminComment", ""))
        submitted, ended = seconds_or_zero(fields.get("SubmitTime")), seconds_or_zero(
            fields.get("EndTime")
        )
        if fields["JobState"] in LIVE:
            ended = math.inf if fields.get("last picture") else 0
        if claim and submitted and ended:
            found.setdefault(claim.groups(), []).append((submitted, ended, number))
    return found


def no_two_jobs_for_a_pod(e):
    """Each attempt of a pod has at most one live job. Slurm shows whole seconds, so the two jobs
    must overlap by more than one.
    """
    out = []
    for (uid, attempt), spans in _claims(e).items():
        spans.sort()
        for (_, end, one), (begin, _, other) in zip(spans, spans[1:]):
            if begin < end - 1 and one != other:
                name = e.history.pods[uid].name if uid in e.history.pods else uid
                out.append(
                    Violation(
                        "exactly once",
                        (
                            f"jobs {one} and {other} stood for attempt {attempt} of {name} at the"
                            " same time"
                        ),
                        begin,
                        [uid],
                        [one, other],
                    )
                )
    return out


def nothing_is_left(e):
    """Invariant 4: at the end no job of ours is live without a live pod."""
    if not e.settled:
        return []
    live = {uid for p in e.pods() if not p.ended for uid in (p.uid, p.marker)}
    out = []
    for uid, jobs in e.slurm.uids.items():
        for (number, _), fields in e.slurm.shown.items():
            if (
                number in jobs
                and f'"uid":"{uid}"' in fields.get("AdminComment", "")
                and uid not in live
                and fields.get("last picture")
                and fields["JobState"] in LIVE
            ):
                out.append(
                    Violation(
                        "left",
                        f"job {number} is {fields['JobState']} and its pod has ended",
                        e.until,
                        [uid],
                        [number],
                    )
                )
    return out


def story(e, violation):
    """All that is known of the pods and jobs of a violation, in the order of time."""
    lines = []
    for uid in violation.pods[:4]:
        pod = e.history.pods.get(uid)
        lines += [(x.at, f"{pod.name}: {x}") for x in (pod.events if pod else [])]
        lines += [
            (c.at, f"{pod.name if pod else uid}: the test did {c.what}")
            for c in e.deeds.causes
            if c.uid == uid or (c.name and pod and c.name == pod.name)
        ]
    for job in violation.jobs[:6]:
        lines += [(at, f"slurmctld: {text}") for at, text in e.slurm.said.get(job, [])]
        lines += [
            (
                x.end or x.start or x.submit,
                f"sacct: job {job} {x.state} {x.exit_code} on {x.node} since {x.start:.0f}",
            )
            for x in (e.slurm.accounts or {}).get(job, [])
        ]
        lines += [
            (x.end, f"jobcomp: job {job} {x.state} {x.exit_code} on {x.node} since {x.start:.0f}")
            for x in e.slurm.ends.get(job, [])
        ]
    if not lines:
        return []
    seen = [
        x.at
        for uid in violation.pods
        for x in (e.history.pods[uid].events if uid in e.history.pods else [])
    ] or [t for t, _ in lines]
    begin, end = min(seen) - 10, max(seen) + 30
    lines = [(t, text) for t, text in lines if begin <= t <= end]
    lines += [(t, "slurmctld started") for t in e.slurm.restarts if begin <= t <= end]
    lines += [
        (a, f"fault: {what} until {'the end' if b is None else f'+{b - a:.1f} s'}")
        for a, b, what in e.deeds.windows
        if begin <= a <= end
    ]
    return [f"{t:.3f} {text}" for t, text in sorted(lines)][:100]


def check(e):
    """Checks all rules; those about ends are in ends.py, those about sacct in accounts.py."""
    from .accounts import accounts_are_true
    from .ends import ends_are_true

    rules = (
        *gangs.RULES,
        nothing_missed,
        no_node_too_full,
        bound_once,
        bound_after_start,
        one_pod_for_a_job,
        not_more_than_allocated,
        lives_on_its_allocation,
        no_healthy_pod_deleted,
        no_two_jobs_for_a_pod,
        nothing_is_left,
        ends_are_true,
        accounts_are_true,
    )
    return [v for rule in rules for v in rule(e)]
