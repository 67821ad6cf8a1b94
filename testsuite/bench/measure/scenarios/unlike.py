# SPDX-License-Identifier: GPL-2.0-or-later
"""A gang of different roles on an idle cluster: a JobSet of 8 pods of one shape and 64 of another.
Seconds until all are bound, by kube-scheduler (which does not know gangs) and by slurm-kube in
turns.

Time counts from the moment the API server received the JobSet, so it includes JobSet's manager and
the controller manager, which create the pods. first_pod_s and created_s are the times of the first
and the last pod; after_first_pod_s and after_last_pod_s count from these until all pods are bound.
The number of the gang's Slurm jobs is reported, not checked: roles may share one or have one each.
"""
from lib import wait_for
from lib.workloads import annotation, create, delete, job_set, replicated_job

from ..bench_testbed import SCHEDULER, BenchTestbed
from ..figures import say
from .at_once import LIMIT, note, ratios

BOTH = {"kube-scheduler-unlike": SCHEDULER, "unlike": "slurm"}
HEADS, WORKERS = 8, 64
PODS = HEADS + WORKERS
HEAD = {"cpu": 8, "memory": "16Gi"}
WORKER = {"cpu": 2, "memory": "2Gi"}


def gang(name, scheduler):
    common = {"kwok": {"run": "1h"}, "scheduler": scheduler}
    return job_set(
        name,
        replicated_job("head", HEADS, **HEAD, **common),
        replicated_job("worker", WORKERS, **WORKER, **common),
    )


def seconds(bed, name):
    """{figure: seconds since the JobSet was received}; after_...: since a pod was created."""
    audit = bed.audit
    begin, pods = audit.made("jobsets")[0].received, audit.made("pods")
    steps = {
        "created_s": pods,
        "bound_s": audit.bindings(name).values(),
        "running_s": audit.running(name).values(),
    }
    told = {figure: max(e.answered for e in events) - begin for figure, events in steps.items()}
    first = min(e.answered for e in pods) - begin
    return {
        **told,
        "first_pod_s": first,
        "after_first_pod_s": told["bound_s"] - first,
        "after_last_pod_s": told["bound_s"] - told["created_s"],
    }


def remove(bed, name):
    """Deletes the JobSet. Lists the pods, because the watches of the test bed are off."""
    delete(bed, "JobSet", name)
    bed.remove(name)
    wait_for(lambda: not bed.pods(name), "the pods of the JobSet to be gone", 120, 0.5)
    bed.wait_slurm_idle()


def turn(bed, name, scheduler):
    """The figures of one gang; the cluster is idle before it and after."""
    bed.settle()
    bed.audit.mark()
    create(bed, gang(name, scheduler))
    bound = bed.wait_bound(name, PODS, LIMIT)
    running = bed.wait_running(name, bound, LIMIT)
    if running < PODS:
        bed.failures += 1  # keeps the run directory
        counts = f"{bound} of {PODS} pods are bound, {running} run"
        raise RuntimeError(f"{name}: {counts}; see {bed.dir}")
    told = seconds(bed, name)
    jobs = {annotation(p, "job-id") for p in bed.pods(name)} - {None}
    remove(bed, name)
    return {**told, "slurm_jobs": len(jobs) or None}


def measure(options, figures):
    with BenchTestbed(options.build, options.nodes, workloads=True) as bed:
        figures.facts.update(bed.versions())
        shapes = f"{HEADS} pods of {HEAD} and {WORKERS} of {WORKER}"
        figures.fact("unlike.size", f"JobSet of {shapes}, {options.nodes} nodes of 64 CPUs")
        bed.agent.start()
        bed.scheduler.start()
        for number in range(-1, options.repeat):
            told = []
            for name, scheduler in BOTH.items():
                took = turn(bed, f"{name}-{number + 1}", scheduler)
                told.append(note(figures, name, took, number >= 0))
            say(f"round {number + 1} of {options.repeat}: " + ", ".join(told))
        ratios(figures, "unlike")
