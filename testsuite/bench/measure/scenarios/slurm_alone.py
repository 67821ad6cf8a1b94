# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm without Kubernetes. limit-slurm: external jobs that libslurm submits and ends at once, with
1, 4 and 8 connections. native: what slurm-kube costs native jobs
(testsuite/bench/native_throughput.py, a separate program).
"""
import json
import time

from lib.process import SOURCE, output_of

from ..bench_testbed import BenchTestbed
from ..figures import say

MARKER = (
    '{"slurm-kube":1,"cluster":"other","namespace":"bench","name":"x","kind":"Pod",'
    '"uid":"@","attempt":1,"user":0,"group":0}'
)


def limit(options, figures):
    with BenchTestbed(options.build, options.nodes) as bed:
        figures.facts.update(bed.versions())
        figures.fact("limit-slurm.size", f"{options.pods} lives, {options.nodes} nodes")
        for number in range(-1, options.repeat):
            for threads in (1, 4, 8):
                stretch, begin = bed.stretch(), time.time()
                marker = MARKER.replace("@", f"{number}-{threads}-@")
                told = bed.alloc(
                    "lives",
                    f"marker={marker}",
                    "partition=kube",
                    f"threads={threads}",
                    f"count={options.pods // threads}",
                )[-1].split()
                rate = int(told[1]) / (time.time() - begin)
                if number >= 0:
                    figures.add(f"limit-slurm.connections_{threads}.lives_per_s", rate)
                    figures.add(
                        f"limit-slurm.connections_{threads}.cpu_s_per_1000.slurmctld",
                        stretch.used()["slurmctld"][0] * 1000 / options.pods,
                    )
                say(
                    f"limit-slurm {number + 1}, {threads} connections: {rate:.0f} lives/s,"
                    f" {told[2]} refused"
                )


def native(options, figures):
    told = json.loads(
        output_of(
            SOURCE / "testsuite/bench/native_throughput.py", options.build, "2000", timeout=1200
        ).splitlines()[-1]
    )
    figures.fact("native", told)
    figures.add("native.throughput_with_to_without", told["ratio"])
    figures.add("native.submissions_with_to_without", told["submit_ratio"])
