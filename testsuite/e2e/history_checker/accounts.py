# SPDX-License-Identifier: GPL-2.0-or-later
"""What sacct shows after torture, compared with the pods' own ends and with slurmctld: no record is
lost or duplicated, and none runs forever.

Slurm itself cannot know five things:

1. A slurmctld that is killed within seconds of a job's start has not saved the job: it forgets the
   job, and the record stays as it was.
2. What slurmctld could not yet send to slurmdbd is only in its memory until it ends in good order.
   If it is killed before, it never sends the end.
3. While its database is away, slurmdbd answers with an error, which slurmctld writes into its log
   ("DBD_ID_RC is 7000") without ever asking again: seen with 24.11.5.
4. A job number that a killed slurmctld assigned twice may keep the record of its first job.
5. What a killed slurmdbd had answered but not yet committed is lost: a record that has an end but
   neither node nor start (22.05.8, 2 of 1,802 records with 15 kills).
"""
from records.slurm import LIVE, as_sacct_prints
from records.times import seconds_or_zero

from .ends import EARLY, SLURMS_OWN, allowed_ends, is_forgotten, records_of

SENT = 2.0  # seconds within which slurmctld sends what it has, while slurmdbd is there


def printed(state, code):
    """What sacct may print for a state and exit code of scontrol and jobcomp. sacct subtracts 128
    from exit codes of 128 and more. That of 26.05 does not, and swaps the two numbers for
    NODE_FAIL.
    """
    number, signal = code.split(":")
    codes = {code, as_sacct_prints(code)}
    return {(state, c) for c in (codes | {f"{signal}:{number}"} if state == "NODE_FAIL" else codes)}


def _kills_of_slurmctld(e):
    return [w[0] for w in e.deeds.windows if "kill -9" in w[2] and "slurmctld" in w[2]]


def _database_calm(e, since, until):
    return e.deeds.calm(since, until, lambda what: "slurmdbd" in what or "mariadbd" in what)


def slurm_cannot_know(e, begun, ended):
    """True if slurmdbd or the database was killed at the job's beginning or end, or if slurmctld
    was killed before it had saved the job or could send its end. begun: its submission or its
    start; ended: 0 if unknown.
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
    """True if the number has a second job, which only happens when slurmctld is killed."""
    submitted = {r.submit for r in e.slurm.accounts.get(job, [])} | {
        seconds_or_zero(at) for (number, at), _ in e.slurm.shown.items() if number == job
    }
    return len(submitted - {0.0}) > 1 and bool(_kills_of_slurmctld(e))


def _violation(text, at, row_or_job, pods=()):
    from .rules import Violation

    return Violation("accounts", text, at, list(pods), [row_or_job])


def of_pods(e):
    """A pod that has ended has exactly one record, with the pod's state and exit code."""
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
    """The record of a job that Slurm ended itself agrees with Slurm's log of ended jobs. A
    completion that comes after such an end still gives its exit code to the job, if that has none
    (_job_complete in job_mgr.c).
    """
    late = {code for _, code in allowed_ends(e, pod)}
    return any(
        (row.state, row.exit_code) in printed(r.state, code)
        for r in records_of(e, pod)
        for code in {r.exit_code} | (late if r.exit_code == "0:0" else set())
    )


def disagreements(slurm):
    """[(job, begun, ended, text)] for jobs of ours that slurmctld still shows and whose only record
    differs.
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
        # a completion that comes after Slurm's own end changes only what slurmctld shows
        if fields["JobState"] in SLURMS_OWN:
            said = {*said, (fields["JobState"], "0:0")}
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
    """Records without an end, of jobs that slurmctld does not have any more."""
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
    """All of these rules, if there is a slurmdbd."""
    if e.slurm.accounts is None:
        return []
    late = [*disagreements(e.slurm), *_runaways(e)] if e.settled else []
    return of_pods(e) + [
        _violation(text, ended or begun, n)
        for n, begun, ended, text in late
        if not slurm_cannot_know(e, begun, ended) and not _was_given_twice(e, n)
    ]
