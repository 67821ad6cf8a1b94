# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods that come and go: --rate per second for --seconds; each lives 30 s, one in twenty fails. Per
minute: created -> bound, the memory of the agent and slurmctld, the backlog.
"""
import threading
import time

from ..bench_testbed import BenchTestbed
from ..figures import percentile, say

LIFE = "30s"


class Maker(threading.Thread):
    """Creates pods ten times per second, and also deletes ended pods in batches."""

    def __init__(self, bed, rate, seconds):
        super().__init__(daemon=True)
        self.bed, self.rate, self.seconds, self.made, self.late = bed, rate, seconds, 0, 0.0

    def run(self):
        begin, portion = time.monotonic(), max(1, int(self.rate / 2))
        while time.monotonic() - begin < self.seconds:
            due = begin + self.made / self.rate
            time.sleep(max(0.0, due - time.monotonic()))
            self.late = max(self.late, time.monotonic() - due)
            fails = {"exit-code": 3} if (self.made // portion) % 20 == 0 else {}
            self.bed.load.create(f"churn-{self.made}", portion, kwok={"run": LIFE, **fails})
            self.made += portion


def sweep(bed):
    ended = [
        p["metadata"]["name"]
        for p in bed.pods("churn-")
        if p["status"].get("phase") in ("Succeeded", "Failed")
    ]
    bed.load.delete(ended)
    return len(ended)


def minute(bed, figures, number, seconds):
    bed.audit.mark()
    stretch, end = bed.stretch(), time.monotonic() + seconds
    while time.monotonic() < end:
        sweep(bed)
        time.sleep(5)
    created, bound = bed.audit.creations("churn-"), bed.audit.bindings("churn-")
    ms = [(bound[n].answered - c.received) * 1000 for n, c in created.items() if n in bound]
    used = stretch.used()
    for figure, value in (
        ("p50_ms", percentile(ms, 50)),
        ("p99_ms", percentile(ms, 99)),
        ("bound_per_s", len(bound) / seconds),
        ("agent_peak_mib", used["slurmkubed"][1]),
        ("slurmctld_peak_mib", used["slurmctld"][1]),
        ("agent_cpu_percent", used["slurmkubed"][0] * 100 / seconds),
        ("slurmctld_cpu_percent", used["slurmctld"][0] * 100 / seconds),
    ):
        figures.add(f"churn.{figure}", value)
    figures.facts.setdefault("churn.minutes", []).append(
        [
            round(percentile(ms, 50), 1),
            round(percentile(ms, 99), 1),
            round(used["slurmkubed"][1], 1),
        ]
    )
    say(
        f"minute {number + 1}: {len(bound) / seconds:.0f}/s, p50 {percentile(ms, 50):.0f} p99"
        f" {percentile(ms, 99):.0f} ms, agent {used['slurmkubed'][1]:.0f} MiB"
    )


def measure(options, figures):
    with BenchTestbed(options.build, options.nodes, min_job_age=60) as bed:
        figures.facts.update(bed.versions())
        figures.fact(
            "churn.size",
            (
                f"{options.rate:g} pods/s for {options.seconds} s, life {LIFE},"
                f" {options.nodes} nodes, MinJobAge 60"
            ),
        )
        bed.agent.start()
        maker = Maker(bed, options.rate, options.seconds + 15)
        maker.start()
        time.sleep(15)
        for number in range(max(1, options.seconds // 60)):
            minute(bed, figures, number, min(60, options.seconds))
        maker.join()
        figures.add("churn.most_late_s", maker.late)
