# SPDX-License-Identifier: GPL-2.0-or-later
"""Invariant 4: a placeholder ends with the truth about its pod, as Slurm's own record of ended jobs
has it.

What is expected follows from the pod alone: Succeeded is COMPLETED 0:0; Failed with code n is
FAILED n:0, over 128 FAILED 0:(n - 128); deleted before it ended is CANCELLED. A pod that Slurm
itself ended has what Slurm did. A pod that was gone before anybody who saw it could tell (agent or
slurmctld away) may be CANCELLED as well. A slurmctld that was killed may have forgotten a job: then
there is no record to judge. Or it has the job pending again, of a pod that has ended meanwhile:
that leaves the queue CANCELLED, as a life of its own.
"""
from .slurm_log import nodes_of

SLURMS_OWN = ("CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "DEADLINE")
EARLY = 8.0  # a killed slurmctld saves its state every five seconds
SETTLE = 30.0  # calm seconds from a pod's end to its job's


def expected(pod):
    """{(state, exit code)} that tell the truth about a pod that ended by itself or was deleted."""
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
    # Its deletion came with its end: whoever saw only the later object could not tell them apart.
    if deletion and deletion.at - end.at < 1.0:
        told.add(("CANCELLED", "0:0"))
    return told


def records_of(e, pod, source=None):
    """Slurm's records of the life that the pod was bound in, and of those that took it up again;
    source is jobcomp's, or {job: records} of sacct. An allocation that had been given back before
    the pod was bound, and that a restored slurmctld took up again, ended for other reasons than the
    pod's.
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
    """The job of a gang has its owner's name, and that of a component a role's behind it."""
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
    """A record has seconds only. What began with the next life is not this one's, unless both began
    in the same second.
    """
    return following == float("inf") or second < int(following) or int(following) == int(since)


def _slurm_ended_it(e, pod, record):
    """Slurm's own end: scancel, node failure, time limit; a process of ours asks as root for
    completions only.
    """
    if record.state not in SLURMS_OWN:
        return False
    if record.state == "CANCELLED":
        return any(user != 0 for _, user in e.slurm.kills.get(pod.bound.job, []))
    return True


def _could_be_told(e, pod):
    """Whether those who knew how it ended had time to say so before it was gone."""
    return (
        not pod.gone or e.deeds.calm(pod.ended.at, pod.gone.at) > 1.0 or pod.gone.rv == pod.ended.rv
    )


def is_forgotten(e, pod):
    """slurmctld was killed when it could not yet have saved this job, or after it had told the
    end.
    """
    last = max(pod.bound.at, pod.ended.at)
    return any(pod.bound.at - EARLY < t for t in e.slurm.restarts[1:] if t < last + 120)


def allowed_ends(e, pod):
    """expected(), and CANCELLED for a pod that was gone before those who knew its end could
    tell.
    """
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
    """How many ends had a record to be compared with."""
    return sum(1 for pod in e.bound() if pod.ended and records_of(e, pod))
