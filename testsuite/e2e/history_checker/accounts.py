# SPDX-License-Identifier: GPL-2.0-or-later
"""What sacct shows after torture, against the pods' own ends and against slurmctld: nothing lost,
nothing doubled, nothing that runs for ever.

Slurm itself cannot know five things. A slurmctld that is killed within seconds of a job's start has
not saved it: the job is forgotten and its record stays as it was. And what slurmctld could not yet
send to slurmdbd is in its memory only until it ends in good order: killed before, it does not send
the end again. And what slurmdbd hears while its database is away it answers with an error, which
slurmctld writes into its log ("DBD_ID_RC is 7000") and never asks again: seen with 24.11.5. And a
number that a killed slurmctld gave twice may keep the record of its first job. And what a killed
slurmdbd had answered and not yet committed is lost: a start of which only the end has a record,
without node and start (22.05.8, 2 of 1,802 records with 15 kills).
"""
from records.slurm import LIVE, as_sacct_prints
from records.times import seconds_or_zero

from .ends import EARLY, SLURMS_OWN, allowed_ends, is_forgotten, records_of

SENT = 2.0  # seconds in which slurmctld surely hands over what it has, while slurmdbd is there


def printed(state, code):
    """What sacct may print, of what scontrol and jobcomp do. It takes 128 off exit codes from 128
    on; that of 26.05 does not, and tells a node's failure the other way round.
    """
    number, signal = code.split(":")
    codes = {code, as_sacct_prints(code)}
    return {(state, c) for c in (codes | {f"{signal}:{number}"} if state == "NODE_FAIL" else codes)}


def _kills_of_slurmctld(e):
    return [w[0] for w in e.deeds.windows if "kill -9" in w[2] and "slurmctld" in w[2]]


def _database_calm(e, since, until):
    return e.deeds.calm(since, until, lambda what: "slurmdbd" in what or "mariadbd" in what)


def slurm_cannot_know(e, begun, ended):
    """slurmdbd or the database was killed at the job's beginning or end, or slurmctld was killed
    before it had saved the job or could send its end. begun: its submission or its start; ended: 0
    when nobody knows it.
    """
    for since, until, what in e.deeds.windows:
        if (
            "kill -9" in what
            and ("mariadbd" in what or "slurmdbd" in what)
            and any(since - 1 <= t <= (until or since) + SENT for t in (begun, ended))
        ):
            return True
    for kill in _kills_of_slurmctld(e):
        if begun - 1 <= kill < begun + EARLY:
            return True
        if ended and ended - 1 <= kill and _database_calm(e, ended, kill) < SENT:
            return True
    return False


def _was_given_twice(e, job):
    """The number has a second job; only slurmctld's death does that."""
    submitted = {r.submit for r in e.slurm.accounts.get(job, [])} | {
        seconds_or_zero(at) for (number, at), _ in e.slurm.shown.items() if number == job
    }
    return len(submitted - {0.0}) > 1 and bool(_kills_of_slurmctld(e))


def _violation(text, at, row_or_job, pods=()):
    from .rules import Violation

    return Violation("accounts", text, at, list(pods), [row_or_job])


def of_pods(e):
    """A pod that has ended has exactly one record, with its state and code."""
    out = []
    for pod in e.bound():
        if not pod.ended or pod.in_gang:
            continue
        job, rows = pod.bound.job, records_of(e, pod, e.slurm.accounts)
        seen = [(r.state, r.exit_code) for r in rows]
        told = set().union(*(printed(*t) for t in allowed_ends(e, pod)))
        true = len(rows) == 1 and (
            seen[0] in told or rows[0].state in SLURMS_OWN and ends_agree(e, pod, rows[0])
        )
        unknowable = any(
            slurm_cannot_know(e, begun, pod.ended.at) for begun in (pod.events[0].at, pod.bound.at)
        )
        if (
            true
            or len(rows) < 2
            and (unknowable or is_forgotten(e, pod) or _was_given_twice(e, job))
        ):
            continue
        out.append(
            _violation(
                (
                    f"{pod.name} ended {pod.ended}; sacct has {seen or 'nothing'} of job {job}, not"
                    f" {sorted(told)}"
                ),
                pod.ended.at,
                job,
                [pod.uid],
            )
        )
    return out


def ends_agree(e, pod, row):
    """What Slurm ended itself has what Slurm's own record of ended jobs says."""
    return any(
        (row.state, row.exit_code) in printed(r.state, r.exit_code) for r in records_of(e, pod)
    )


def disagreements(slurm):
    """[(job, begun, ended, text)]: jobs of ours that slurmctld still shows, and whose only record
    must say the same.
    """
    out = []
    for (number, submitted), fields in slurm.shown.items():
        if (
            not fields.get("last picture")
            or '"uid"' not in fields.get("AdminComment", "")
            or fields["JobState"] in LIVE
        ):
            continue
        rows = [r for r in slurm.accounts.get(number, []) if r.submit == seconds_or_zero(submitted)]
        seen, said = [(r.state, r.exit_code) for r in rows], printed(
            fields["JobState"], fields["ExitCode"]
        )
        if len(seen) != 1 or seen[0] not in said:
            out.append(
                (
                    number,
                    seconds_or_zero(submitted),
                    seconds_or_zero(fields.get("EndTime")),
                    (
                        f"job {number}: scontrol says {fields['JobState']} {fields['ExitCode']},"
                        f" sacct {seen or 'nothing'}"
                    ),
                )
            )
    return out


def _runaways(e):
    """Records that go on of jobs that slurmctld does not have any more."""
    known = {
        (n, seconds_or_zero(submitted))
        for (n, submitted), f in e.slurm.shown.items()
        if f.get("last picture")
    }
    for number, rows in e.slurm.accounts.items():
        for r in rows:
            if r.state in LIVE and (number, r.submit) not in known:
                ends = [
                    x.end
                    for x in e.slurm.lives.get(number, [])
                    if x.end and x.start >= r.submit - 1
                ]
                yield number, r.start or r.submit, min(
                    ends, default=0.0
                ), f"job {number} is {r.state} in sacct and slurmctld does not know it"


def accounts_are_true(e):
    """All of it, where there is a slurmdbd."""
    if e.slurm.accounts is None:
        return []
    late = [*disagreements(e.slurm), *_runaways(e)] if e.settled else []
    return of_pods(e) + [
        _violation(text, ended or begun, n)
        for n, begun, ended, text in late
        if not slurm_cannot_know(e, begun, ended) and not _was_given_twice(e, n)
    ]
