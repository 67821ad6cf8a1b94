# SPDX-License-Identifier: GPL-2.0-or-later
"""Indexed Jobs whose pods share one Slurm job each: one Job of --pods, then ten of a tenth. The
pods exist when the agent starts; otherwise as in burst. The bind-limit here is that of a Job's
pods, too (gang-bind-limit), because the controller manager writes for each of these, but not for
bare pods.

Skew is the time from the first binding of a gang that was received to its last that was answered;
that of bind-limit is for the same number of consecutive bindings.
"""
import statistics
import time

from lib import job, wait_for

from ..bench_testbed import BenchTestbed
from ..figures import say
from .burst import BESIDE, WARM_UP, Contest

GANGS = 10  # in the second case
LIMIT_NAME = "gang-bind-limit"


def make_jobs(bed, prefix, jobs, pods, scheduler="slurm"):
    """Creates Jobs PREFIX-0 and so on; returns when the controller manager has created all their
    pods.
    """
    for i in range(jobs):
        bed.kube.create(
            job(f"{prefix}-{i}", pods, indexed=True, kwok={"run": "1h"}, scheduler=scheduler)
        )
    wait_for(lambda: len(bed.pods(prefix)) == jobs * pods, f"{jobs * pods} pods of Jobs", 600, 0.5)
    bed.settle()


def remove_jobs(bed, prefix, jobs):
    for i in range(jobs):
        bed.kube.delete("Job", f"{prefix}-{i}")
    bed.remove(prefix)
    wait_for(lambda: not bed.pods(prefix), "the pods of Jobs to be gone", 600, 0.5)
    bed.wait_slurm_idle()


def skews(gangs):
    """The skew of each list of bindings, in milliseconds."""
    return [1000 * (max(b.answered for b in g) - min(b.received for b in g)) for g in gangs]


def by_gang(bindings):
    gangs = {}
    for b in bindings:
        gangs.setdefault(b.name.rsplit("-", 2)[0], []).append(b)  # JOB-INDEX-RANDOM
    return gangs.values()


def in_portions(bindings, count):
    ordered = sorted(bindings, key=lambda b: b.received)
    return [ordered[i : i + count] for i in range(0, len(ordered) - count + 1, count)]


def note_skew(contest, scenario, gangs, keep):
    found = skews(gangs)
    if keep:
        contest.figures.add(f"{scenario}.skew_p50_ms", statistics.median(found))
        contest.figures.add(f"{scenario}.skew_worst_ms", max(found))
    return f" skew {statistics.median(found):.0f}, worst {max(found):.0f} ms"


def limit_round(contest, in_flight, keep):
    bed, prefix = contest.bed, f"none-{contest.rounds}"
    contest.rounds += 1
    make_jobs(bed, prefix, 1, contest.pods, "none")
    pods = bed.pods(prefix)
    bed.audit.mark()
    stretch = bed.stretch()
    told = bed.load.bind(pods, bed.names, in_flight)
    scenario = f"{LIMIT_NAME}.in_flight_{in_flight}"
    text = contest.note(
        scenario, prefix, {**stretch.used(), "load": (told["cpu_s"], 0)}, None, keep
    )
    text += note_skew(
        contest,
        scenario,
        in_portions(bed.audit.bindings(prefix).values(), contest.pods // GANGS),
        keep,
    )
    remove_jobs(bed, prefix, 1)
    return text


def one_round(contest, scenario, jobs, pods, keep, program=None):
    """program: slurmkubed of another build."""
    bed, prefix = contest.bed, f"gang-{jobs}-{contest.rounds}"
    bed.choose_agent(program)
    contest.rounds += 1
    make_jobs(bed, prefix, jobs, pods)
    bed.audit.mark()
    rpcs, stretch, begin = bed.slurm.rpcs(), bed.stretch(), time.time()
    bed.agent.start(wait=False)
    bed.wait_bound(prefix, jobs * pods, contest.limit())
    text = contest.note(scenario, prefix, stretch.used(), begin, keep)
    if jobs > 1:
        text += note_skew(contest, scenario, by_gang(bed.audit.bindings(prefix).values()), keep)
    if keep:
        contest.count_calls(scenario, rpcs)
    remove_jobs(bed, prefix, jobs)
    bed.agent.stop()
    return text


def turns(contest, beside, number, keep):
    """Both cases, each with the agent of beside before or after this one, if it is given."""
    said = []
    for jobs in (1, GANGS):
        agents = [("", None)] + ([(BESIDE, beside)] if beside else [])
        said += [
            one_round(contest, f"gang-{jobs}{name}", jobs, contest.pods // jobs, keep, program)
            for name, program in agents[:: -1 if number % 2 else 1]
        ]
    return said


def ratios(figures, in_flight):
    best = f"{LIMIT_NAME}.pods_per_s"
    figures.same(
        best, max((f"{LIMIT_NAME}.in_flight_{n}.pods_per_s" for n in in_flight), key=figures.median)
    )
    for jobs in (1, GANGS):
        figures.ratios_beside(f"gang-{jobs}", f"gang-{jobs}{BESIDE}")
        figures.ratio(f"gang-{jobs}.pods_per_s", best)
    figures.ratio(
        f"gang-{GANGS}.skew_worst_ms", f"{LIMIT_NAME}.in_flight_{in_flight[0]}.skew_worst_ms"
    )


def measure(options, figures):
    with BenchTestbed(options.build, options.nodes) as bed:
        figures.facts.update(bed.versions())
        figures.fact(
            "gang.size",
            (
                f"1 x {options.pods} and {GANGS} x {options.pods // GANGS} pods,"
                f" {options.nodes} nodes of 64 CPUs"
            ),
        )
        contest = Contest(bed, figures, options.pods)
        for number in range(-1, options.repeat):
            keep = number >= 0
            contest.pods = options.pods if keep else min(options.pods, WARM_UP)
            told = [limit_round(contest, n, keep) for n in options.in_flight]
            told += turns(contest, options.beside, number, keep)
            say(f"round {number + 1} of {options.repeat}: " + ", ".join(told))
            if keep:
                ratios(figures, options.in_flight)
