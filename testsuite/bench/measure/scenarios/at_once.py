# SPDX-License-Identifier: GPL-2.0-or-later
"""--at-once pods are created at once on an idle cluster: seconds until all are bound, and until all
are Running, with kube-scheduler and slurm-kube in turns. Both run all the time.

Time counts from the moment the API server received the first creation. kwok reports Running as soon
as it hears of a binding, without image and container.
"""
from ..bench_testbed import SCHEDULER, BenchTestbed
from ..figures import say

BOTH = {"kube-scheduler-at-once": SCHEDULER, "at-once": "slurm"}
LIMIT = 60.0  # seconds until all pods must be bound, and again until all must run


def seconds(bed, prefix):
    """{figure: seconds since the first creation}"""
    audit = bed.audit
    created = audit.creations(prefix).values()
    begin = min(c.received for c in created)
    steps = {
        "created_s": created,
        "bound_s": audit.bindings(prefix).values(),
        "running_s": audit.running(prefix).values(),
    }
    return {figure: max(e.answered for e in events) - begin for figure, events in steps.items()}


def turn(bed, prefix, scheduler, pods):
    """The figures of one set of pods; the cluster is idle before it and after."""
    bed.settle()
    bed.audit.mark()
    bed.load.create(prefix, pods, scheduler)
    bound = bed.wait_bound(prefix, pods, LIMIT)
    running = bed.wait_running(prefix, bound, LIMIT)
    if running < pods:
        bed.failures += 1  # keeps the run directory
        counts = f"{bound} of {pods} pods are bound, {running} run"
        raise RuntimeError(f"{prefix}: {counts}; see {bed.dir}")
    told = seconds(bed, prefix)
    bed.remove(prefix)
    bed.wait_slurm_idle()
    return told


def note(figures, scenario, told, keep):
    """keep: False in the warm-up round. Returns a text for the progress messages."""
    if keep:
        for figure, value in told.items():
            figures.add(f"{scenario}.{figure}", value)
    return f"{scenario} bound {told['bound_s']:.2f} s, running {told['running_s']:.2f} s"


def ratios(figures, scenario):
    for figure in ("bound_s", "running_s"):
        figures.ratio(f"{scenario}.{figure}", f"kube-scheduler-{scenario}.{figure}")


def measure(options, figures):
    with BenchTestbed(options.build, options.nodes) as bed:
        figures.facts.update(bed.versions())
        size = f"{options.at_once} pods, {options.nodes} nodes of 64 CPUs"
        figures.fact("at-once.size", size)
        bed.agent.start()
        bed.scheduler.start()
        for number in range(-1, options.repeat):
            told = []
            for name, scheduler in BOTH.items():
                took = turn(bed, f"{name}-{number + 1}", scheduler, options.at_once)
                told.append(note(figures, name, took, number >= 0))
            say(f"round {number + 1} of {options.repeat}: " + ", ".join(told))
        ratios(figures, "at-once")
