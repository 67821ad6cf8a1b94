# SPDX-License-Identifier: GPL-2.0-or-later
"""One scancel for --pods / 5 running pods: from its start until the API server receives the DELETE
of each pod. testsuite/bench/end_latency.py measures single ones under load.
"""
import time

from lib import wait_for

from ..bench_testbed import BenchTestbed
from ..figures import percentile, say


def one_round(bed, figures, number, pods):
    prefix = f"cancel{number}"
    bed.audit.mark()
    bed.load.create(prefix, pods, kwok={"run": "1h"})
    if bed.wait_bound(prefix, pods, 60) != pods:
        raise RuntimeError("not all pods are bound")
    ids = bed.slurm.run("squeue", "--noheader", "--partition=kube", "--format=%i").split()
    bed.audit.mark()
    begin = time.time()
    bed.slurm.run("scancel", *ids)
    wait_for(lambda: len(bed.audit.deletions()) >= pods, "the pods to be deleted", 60, 0.2)
    ms = [(d.received - begin) * 1000 for d in bed.audit.deletions().values()]
    if number >= 0:
        for figure, value in (
            ("p50_ms", percentile(ms, 50)),
            ("p99_ms", percentile(ms, 99)),
            ("deletions_per_s", pods / (max(ms) / 1000)),
        ):
            figures.add(f"cancel.{figure}", value)
    say(f"cancel {number + 1}: p50 {percentile(ms, 50):.0f} p99 {percentile(ms, 99):.0f} ms")
    bed.wait_slurm_idle()
    bed.remove(prefix)


def measure(options, figures):
    with BenchTestbed(options.build, options.nodes) as bed:
        figures.facts.update(bed.versions())
        figures.fact("cancel.size", f"{options.pods // 5} pods, {options.nodes} nodes")
        bed.agent.start()
        for number in range(-1, options.repeat):
            one_round(bed, figures, number, options.pods // 5)
