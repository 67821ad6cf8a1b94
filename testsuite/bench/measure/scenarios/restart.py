# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent is killed while --pods pods run, and half as many pods arrive while it is down. After
its restart: when are the first and the last of those bound, and what did the agent list?
"""
import time

from ..bench_testbed import CPUS, BenchTestbed
from ..figures import say

LIMIT = 120.0


def one_round(bed, figures, number, waiting):
    prefix = f"waiting{number}"
    bed.agent.kill9()
    bed.load.create(prefix, waiting)
    bed.audit.mark()
    stretch, begin = bed.stretch(), time.time()
    bed.agent.start(wait=False)
    bound = bed.wait_bound(prefix, waiting, LIMIT)
    cpu, peak = stretch.used()["slurmkubed"]
    times = bed.audit.bindings(prefix).values()
    first, last = min(b.received for b in times) - begin, max(b.answered for b in times) - begin
    if number >= 0:
        for figure, value in (
            ("first_bind_s", first),
            ("last_bind_s", last),
            ("unbound", waiting - bound),
            ("agent_cpu_s", cpu),
            ("agent_peak_mib", peak),
            ("lists", sum(bed.audit.lists().values())),
            ("mib_received", bed.agent.skube("diag")["counters"]["kube_bytes_received"] / 2**20),
        ):
            figures.add(f"restart.{figure}", value)
        figures.fact("restart.lists", dict(bed.audit.lists()))
    bed.remove(prefix)
    say(f"restart {number + 1}: first {first:.2f} s, last {last:.2f} s")


def measure(options, figures):
    running, waiting = options.pods, options.pods // 2
    cpus = max(1, options.nodes * CPUS // (running + waiting))
    with BenchTestbed(options.build, options.nodes) as bed:
        figures.facts.update(bed.versions())
        figures.fact(
            "restart.size", f"{running} running and {waiting} waiting pods, {options.nodes} nodes"
        )
        bed.agent.start()
        bed.audit.mark()
        bed.load.create("running", running, cpu=cpus, kwok={"run": "10h"})
        if bed.wait_bound("running", running, 300) != running:
            raise RuntimeError("not all pods run")
        for number in range(-1, options.repeat):
            one_round(bed, figures, number, waiting)
