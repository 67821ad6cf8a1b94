# SPDX-License-Identifier: GPL-2.0-or-later
"""One pod at a time: from the moment the API server received the request to create it until it had
answered its binding.

idle      no other load; kube-scheduler and slurm-kube in turns, pod by pod, on the same servers
behind    slurm-kube with --waiting native jobs pending for their own partition; first the pods'
          partition has a higher PriorityTier, then the same one
ahead     the same with priority/multifactor, and a PriorityJobFactor of the pods' partition that
          puts their jobs before all others
backfill  500 jobs of higher priority block the pods' own partition, so that only backfill starts
          their jobs: from Slurm's start of the job (slurmctld's log, milliseconds) to the binding
"""
import time

from history_checker.history import JOB_ID
from lib import pod, wait_for
from records.slurm import log_matches

from ..bench_testbed import CPUS, SCHEDULER, BenchTestbed
from ..figures import Figures, percentile, say

LIMIT, SAME_TIER_LIMIT = 30.0, 45.0  # seconds per pod


SAME_TIER_PODS = 6


def waits(bed, prefix):
    """The latency of each pod, in milliseconds."""
    bound = bed.audit.bindings(prefix)
    return [
        (bound[n].answered - c.received) * 1000
        for n, c in bed.audit.creations(prefix).items()
        if n in bound
    ]


def one_pod(bed, name, scheduler, limit=LIMIT):
    """Creates a pod, waits for its binding and deletes it; Slurm releases its share before the next
    one comes.
    """
    bed.kube.create(pod(name, scheduler=scheduler))
    wait_for(lambda: bed.audit.bindings(name), f"pod {name} to be bound", limit, 0.01)
    bed.load.delete([name])
    time.sleep(0.1)  # a pause, so that each pod meets an idle cluster


def series(bed, contestants, prefix, pods):
    """{contestant: [ms]}: the contestants' pods in turns."""
    told = {name: [] for name in contestants}
    for i in range(pods):
        for name, scheduler in contestants.items():
            bed.audit.mark()
            one_pod(bed, f"{prefix}-{name}-{i}", scheduler)
            told[name] += waits(bed, f"{prefix}-{name}-{i}")
    return told


def note(figures, scenario, ms):
    figures.add(f"{scenario}.p50_ms", percentile(ms, 50))
    figures.add(f"{scenario}.p99_ms", percentile(ms, 99))
    figures.add(f"{scenario}.max_ms", max(ms))
    return f"{scenario} p50 {percentile(ms, 50):.1f} p99 {percentile(ms, 99):.1f} ms"


def alone(bed, options, figures):
    both = {"latency": "slurm", "kube-scheduler-latency": SCHEDULER}
    series(bed, both, "warm", 10)
    for number in range(options.repeat):
        stretch = bed.stretch()
        told = series(bed, both, f"idle{number}", options.single)
        for name, (cpu, _) in stretch.used().items():
            figures.add(f"latency.cpu_s_per_1000.{name}", cpu * 1000 / options.single)
        say(
            f"round {number + 1} of {options.repeat}: "
            + ", ".join(note(figures, f"{name}.idle", ms) for name, ms in told.items())
        )
    figures.ratio("latency.idle.p50_ms", "kube-scheduler-latency.idle.p50_ms")


def same_tier(bed, figures):
    """Only a few pods, because a job behind all others may wait for half a minute."""
    for i in range(SAME_TIER_PODS):
        bed.audit.mark()
        try:
            one_pod(bed, f"tier-{i}", "slurm", SAME_TIER_LIMIT)
            figures.add("latency.behind_same_tier.ms", waits(bed, f"tier-{i}")[0])
        except AssertionError:
            figures.add("latency.behind_same_tier.ms", SAME_TIER_LIMIT * 1000)
            bed.load.delete([f"tier-{i}"])
    say(f"same tier: {[round(ms) for ms in figures.values['latency.behind_same_tier.ms']]} ms")


def wait_for_peer(bed, options, figures):
    """The jobs wait for resources held by a job of all CPUs; no program runs on their node."""
    bed.slurm.run("scontrol", "update", "PartitionName=kube", "PriorityTier=10")
    bed.submit_native(1, cpus=4)
    bed.submit_native(options.waiting, cpus=1)
    figures.fact("latency.behind", f"{options.waiting} native jobs wait")
    series(bed, {"latency": "slurm"}, "warmbehind", 5)
    for number in range(options.repeat):
        told = series(bed, {"latency": "slurm"}, f"behind{number}", options.single // 2)
        say(
            f"round {number + 1} of {options.repeat}: "
            + note(figures, "latency.behind", told["latency"])
        )
    figures.ratio("latency.behind.p50_ms", "latency.idle.p50_ms")
    bed.slurm.run("scontrol", "update", "PartitionName=kube", "PriorityTier=1")
    same_tier(bed, figures)


def go_ahead(bed, options, figures):
    """Slurm starts an allocation at once only if no pending job has a higher priority, in any
    partition.
    """
    bed.slurm.run("scontrol", "update", "PartitionName=kube", "PriorityJobFactor=100")
    bed.submit_native(1, cpus=4)
    bed.submit_native(options.waiting, cpus=1)
    figures.fact("latency.ahead", f"{options.waiting} native jobs wait, of lower priority")
    series(bed, {"latency": "slurm"}, "warmahead", 5)
    for number in range(options.repeat):
        told = series(bed, {"latency": "slurm"}, f"ahead{number}", options.single // 2)
        say(
            f"round {number + 1} of {options.repeat}: "
            + note(figures, "latency.ahead", told["latency"])
        )
    figures.ratio("latency.ahead.p50_ms", "latency.idle.p50_ms")


def started_by_backfill(log):
    """{job: time in seconds} of the jobs that backfill started, by slurmctld's log."""
    started = log_matches(log, r"[Bb]ackfill.*: Started JobId=(\d+)")
    return {int(said.group(1)): when for when, said in started}


def wait_for_backfill(bed, options, figures):
    """Each node has a pod that runs forever, and 500 older pods need a whole node each. Only
    backfill starts a small, short pod beside them.
    """
    bed.audit.mark()
    bed.load.create("holder", options.nodes, cpu=CPUS // 2 + 1, kwok={"run": "10h"})
    if bed.wait_bound("holder", options.nodes, 120) != options.nodes:
        raise RuntimeError("not every node has its holder")
    bed.load.create("blocker", 500, cpu=CPUS)
    wait_for(
        lambda: len(
            bed.slurm.run(
                "squeue", "--noheader", "--states=PENDING", "--partition=kube"
            ).splitlines()
        )
        >= 500,
        "500 jobs to wait",
        120,
        0.5,
    )
    figures.fact(
        "latency.backfill",
        "500 pods of a whole node wait at the top; bf_interval=2,bf_max_job_test=1000",
    )
    for number in range(-1, options.repeat):
        prefix = f"backfill{number}"
        bed.audit.mark()
        bed.load.create(prefix, 10, annotations={"slurm-kube.io/timelimit": "1"})
        if bed.wait_bound(prefix, 10, 120) != 10:
            raise RuntimeError("backfill did not start all")
        jobs = {
            p["metadata"]["name"]: int(p["metadata"]["annotations"][JOB_ID])
            for p in bed.pods(prefix)
        }
        started = started_by_backfill(bed.slurmctld_log)
        ms = [
            (bound.answered - started[jobs[name]]) * 1000
            for name, bound in bed.audit.bindings(prefix).items()
            if jobs[name] in started
        ]
        if number >= 0:
            note(figures, "latency.backfill_start_to_bound", ms)
            figures.add("latency.backfill_start_to_bound.by_backfill", len(ms))
        say(
            f"backfill {number + 1}: {len(ms)} of 10 by backfill,"
            f" {note(Figures(), 'start to bound', ms) if ms else ''}"
        )
        bed.remove(prefix)


LINES = ["SchedulerParameters=batch_sched_delay=0", "LogTimeFormat=rfc5424_ms"]
# Older jobs go first, as on most sites, but the partition counts more.
MULTIFACTOR = [
    "PriorityType=priority/multifactor",
    "PriorityWeightAge=100000",
    "PriorityMaxAge=1-0",
    "PriorityWeightPartition=1000000",
]


def idle(options, figures):
    with BenchTestbed(options.build, options.nodes) as bed:
        figures.facts.update(bed.versions())
        figures.fact("latency.size", f"{options.single} pods a round, {options.nodes} nodes")
        bed.agent.start()
        bed.scheduler.start()
        alone(bed, options, figures)


def behind(options, figures):
    with BenchTestbed(options.build, options.nodes, slurm_lines=LINES, native=True) as bed:
        bed.agent.start()
        wait_for_peer(bed, options, figures)


def ahead(options, figures):
    with BenchTestbed(
        options.build, options.nodes, slurm_lines=[*LINES, *MULTIFACTOR], native=True
    ) as bed:
        bed.agent.start()
        go_ahead(bed, options, figures)


def backfill(options, figures):
    with BenchTestbed(
        options.build,
        options.nodes,
        slurm_lines=[LINES[1], "SchedulerParameters=bf_interval=2,bf_max_job_test=1000"],
    ) as bed:
        bed.agent.start()
        wait_for_backfill(bed, options, figures)
