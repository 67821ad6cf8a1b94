# SPDX-License-Identifier: GPL-2.0-or-later
"""Invariant 4: a placeholder ends with the truth about its pod, according to Slurm's own record of
ended jobs.

The expected end follows from the pod alone: Succeeded is COMPLETED 0:0; Failed with code n is
FAILED n:0, over 128 FAILED 0:(n - 128); deleted before its end is CANCELLED. A pod that Slurm
itself ended has the end that Slurm gave it. If a pod was gone before any process that saw its end
could report it (agent or slurmctld away), CANCELLED is also allowed. A slurmctld that was killed
may have forgotten a job: then there is no record to judge. Or it has the job pending again although
the pod has ended meanwhile: that job leaves the queue CANCELLED, as a separate life.
"""
from .slurm_log import nodes_of

SLURMS_OWN = ("CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "DEADLINE")
EARLY = 8.0  # seconds; a killed slurmctld saves its state every five seconds
SETTLE = 30.0  # calm seconds from the end of a pod to the end of its job


def expected(pod):
    """{(state, exit code)} that are true for a pod that ended by itself or was deleted."""
    end, deletion = pod.ended, pod.deletion
    if end.what == "DELETED" and not end.terminal or (deletion and deletion.rv < end.rv):
        return {("CANCELLED", "0:0")} | (
            {("COMPLETED", "0:0")} if end.phase == "Succeeded" else set()
        )
    if end.phase == "Succeeded":
        told = {("COMPLETED", "0:0")}
    else:
        code = end.exit_code or 1
        told = {("FAILED", f"0:{code - 128}" if 128 < code <= 192 else f"{code}:0")}
    # The deletion came together with the end: an observer of only the later object cannot tell them
    # apart.
    if deletion and deletion.at - end.at < 1.0:
        told.add(("CANCELLED", "0:0"))
    return told


def records_of(e, pod, source=None):
    """Slurm's records of the life under which the pod was bound, and of later lives for the same
    pod. source is jobcomp's records, or {job: records} of sacct. An allocation that was given back
    before the pod was bound, and that a restored slurmctld revived, ended for reasons unrelated to
    the pod.
    """
    source = e.slurm.ends if source is None else source
    life = e.slurm.life_at(pod.bound.job, pod.bound.node, pod.bound.at, 0.25)
    since = life.start if life else pod.bound.at
    following = min(
        (x.start for x in e.slurm.lives.get(pod.bound.job, []) if life and x.start > life.start),
        default=float("inf"),
    )
    return [
        r
        for r in source.get(pod.bound.job, [])
        if pod.bound.node in nodes_of(r.node)
        and _has_name(r, pod)
        and since - 1.5 <= r.start
        and _is_before(r.start, following, since)
        and not _was_taken_up_again(e, pod, r)
    ]


def _has_name(record, pod):
    """A gang's job has its owner's name; the job of a component has a role's name after that."""
    return (
        record.name in ("", pod.name)
        or pod.in_gang
        and record.name.startswith(pod.owner.get("name", pod.name))
    )


def _was_taken_up_again(e, pod, record):
    return 0 < record.end < pod.bound.at and any(
        record.end - 1 < t <= pod.bound.at for t in e.slurm.restarts[1:]
    )


def _is_before(second, following, since):
    """Records have whole seconds. A record from the beginning of the next life does not belong to
    this one, unless both began in the same second.
    """
    return following == float("inf") or second < int(following) or int(following) == int(since)


def _slurm_ended_it(e, pod, record):
    """True if Slurm itself ended the job: scancel, node failure, time limit. A cancellation by root
    does not count, because our own processes use root for completions.
    """
    if record.state not in SLURMS_OWN:
        return False
    if record.state == "CANCELLED":
        return any(user != 0 for _, user in e.slurm.kills.get(pod.bound.job, []))
    return True


def _could_be_told(e, pod):
    """True if the processes that knew the pod's end had time to report it before the pod
    was gone.
    """
    return (
        not pod.gone or e.deeds.calm(pod.ended.at, pod.gone.at) > 1.0 or pod.gone.rv == pod.ended.rv
    )


def is_forgotten(e, pod):
    """True if slurmctld was killed before it could have saved this job, or after it had reported
    its end.
    """
    last = max(pod.bound.at, pod.ended.at)
    return any(pod.bound.at - EARLY < t for t in e.slurm.restarts[1:] if t < last + 120)


def allowed_ends(e, pod):
    """expected(), and CANCELLED for a pod that was gone before its end could be reported."""
    return expected(pod) | (set() if _could_be_told(e, pod) else {("CANCELLED", "0:0")})


def ends_are_true(e):
    from .rules import Violation

    out = []
    for pod in e.bound():
        if not pod.ended or pod.in_gang:
            continue
        records = records_of(e, pod)
        if not records:
            if not is_forgotten(e, pod) and (
                e.settled or e.deeds.calm(pod.ended.at, e.until) > SETTLE
            ):
                out.append(
                    Violation(
                        "ends",
                        (
                            f"{pod.name} ended, and Slurm has no record of an end of job"
                            f" {pod.bound.job}"
                        ),
                        pod.ended.at,
                        [pod.uid],
                        [pod.bound.job],
                    )
                )
            continue
        told = allowed_ends(e, pod)
        wrong = [
            r
            for r in records
            if (r.state, r.exit_code) not in told and not _slurm_ended_it(e, pod, r)
        ]
        if wrong:
            out.append(
                Violation(
                    "ends",
                    (
                        f"{pod.name} ended {pod.ended}; Slurm says"
                        f" {wrong[0].state} {wrong[0].exit_code} of job {pod.bound.job}, not"
                        f" {' or '.join(' '.join(t) for t in sorted(told))}"
                    ),
                    pod.ended.at,
                    [pod.uid],
                    [pod.bound.job],
                )
            )
    return out


def compared(e):
    """The number of ends that had a record to compare with."""
    return sum(1 for pod in e.bound() if pod.ended and records_of(e, pod))
