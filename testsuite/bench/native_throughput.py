#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What slurm-kube costs native jobs: the same 2,000 batch jobs with and without it, side by side.

usage: native_throughput.py BUILDDIR [JOBS]          (root; JOBS for each side, 2000)

Two private Slurms run, each with one real slurmd that takes 250 jobs at a time. One has the plugin,
the agent, a Kubernetes and eight external nodes; the other has the same slurm.conf without the
plugin. Both get the same 500 jobs at the same time, sbatch of `sleep 0`, four at a time, and again
when all have ended, so that other load on the machine affects both. Each side has half of the CPUs,
the other half in the next round: on shared CPUs the slower side would slow down the other. Every
job must end COMPLETED 0:0. Prints a line of JSON:
  ratio              throughput with slurm-kube divided by that without, from the first submission
                     to the last end
  ratio_stderr       its standard error over the rounds
  submit_ratio       the same for the submissions alone
  slurmctld_cpu_ms   slurmctld's own CPU time per job, which other load affects least
"""
import json
import math
import os
import statistics
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from lib import Cluster, Slurm, wait_for  # noqa: E402
from lib.process import output_of  # noqa: E402

ROUND = 500
# All jobs are counted at the end. By default Slurm waits 3 s before it looks at new batch jobs, and
# that delay would dominate the measurement.
OPTIONS = {
    "min_job_age": 3600,
    "native_size": "CPUs=250 RealMemory=64000",
    "extra": ["SchedulerParameters=batch_sched_delay=0"],
}


class Side:
    """One of the two Slurms, and the times of its rounds."""

    def __init__(self, name, slurm):
        self.name, self.slurm = name, slurm
        self.reset()
        (slurm.dir / "job.sh").write_text("#!/bin/sh\nsleep 0\n")
        loop = (
            f"seq {ROUND} | xargs -P 4 -n 1 {slurm.bin}sbatch --quiet --output=/dev/null"
            f" --chdir=/tmp {slurm.dir}/job.sh"
        )
        self.command = slurm.program("sh", "-c", loop)

    def cpu_of_slurmctld(self):
        """CPU time of slurmctld since its start, in milliseconds."""
        words = (
            Path(f"/proc/{self.slurm.slurmctld.pid}/stat").read_text().rpartition(")")[2].split()
        )
        return (int(words[11]) + int(words[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def reset(self):
        self.submit, self.whole, self.cpu_ms = [], [], 0.0

    def pin(self, processors):
        """Sets the CPUs of its daemons, and of what this thread starts from here on."""
        os.sched_setaffinity(0, processors)
        for daemon in (self.slurm.munged, self.slurm.slurmctld, self.slurm.slurmd):
            for task in Path(f"/proc/{daemon.pid}/task").iterdir():
                with suppress(ProcessLookupError):  # threads come and go
                    os.sched_setaffinity(int(task.name), processors)

    def run_round(self, processors):
        self.pin(processors)
        t0, cpu = time.monotonic(), self.cpu_of_slurmctld()
        output_of(*self.command, timeout=600)
        self.submit.append(time.monotonic() - t0)
        wait_for(
            lambda: not self.slurm.run("squeue", "--noheader", "--partition=native"),
            f"the jobs {self.name}",
            600,
            0.1,
        )
        self.whole.append(time.monotonic() - t0)
        self.cpu_ms += self.cpu_of_slurmctld() - cpu

    def tell(self):
        return f"{self.name} {self.whole[-1]:.2f} s ({self.submit[-1]:.2f} s to submit)"

    def check(self, jobs):
        ends = Counter((j["JobState"], j["ExitCode"]) for j in self.slurm.jobs().values())
        if ends != {("COMPLETED", "0:0"): jobs}:
            sys.exit(f"{self.name}: of {jobs} jobs ended {dict(ends)}")


def say(text):
    print(text, file=sys.stderr, flush=True)


def halves_of(processors):
    middle = len(processors) // 2
    if not middle:
        sys.exit("this needs two processors")
    return [processors[:middle], processors[middle : 2 * middle]]


def run_rounds(sides, rounds):
    """The first round is not measured, because it includes one-time work."""
    halves = halves_of(sorted(os.sched_getaffinity(0)))
    for i in range(rounds + 1):
        with ThreadPoolExecutor() as pool:
            for done in [pool.submit(side.run_round, half) for side, half in zip(sides, halves)]:
                done.result()
        halves.reverse()
        say(
            f"{i * ROUND} of {rounds * ROUND} jobs on each side: "
            + ", ".join(side.tell() for side in sides)
        )
        if i == 0:
            for side in sides:
                side.reset()


def standard_error(ours, theirs):
    ratios = [b / a for a, b in zip(ours, theirs)]
    return round(statistics.stdev(ratios) / math.sqrt(len(ratios)), 4) if len(ratios) > 1 else None


def summary(ours, theirs, jobs):
    return {
        "ratio": round(sum(theirs.whole) / sum(ours.whole), 4),
        "ratio_stderr": standard_error(ours.whole, theirs.whole),
        "submit_ratio": round(sum(theirs.submit) / sum(ours.submit), 4),
        "n": jobs,
        "with_jobs_per_s": round(jobs / sum(ours.whole), 2),
        "without_jobs_per_s": round(jobs / sum(theirs.whole), 2),
        "slurmctld_cpu_ms": {
            "with": round(ours.cpu_ms / jobs, 3),
            "without": round(theirs.cpu_ms / jobs, 3),
        },
    }


def without_plugin(bed):
    """Every command and job reads slurm.conf and searches PluginDir, so both are as long as on the
    other side.
    """
    folder = bed.dir / "without"
    folder.mkdir()
    slurm = Slurm(bed.slurm.build, folder, bed.base + 8, plugin=False, **OPTIONS)
    slurm.plugin_dirs = bed.slurm.plugin_dirs
    nodes = (bed.dir / "kube-nodes.conf").read_text()
    (folder / "kube-nodes.conf").write_text(nodes.replace("State=UNKNOWN", "State=FUTURE"))
    return slurm


def main():
    if len(sys.argv) not in (2, 3) or not (Path(sys.argv[1]) / "slurm.env").exists():
        sys.exit(__doc__)
    rounds = max(1, (int(sys.argv[2]) if len(sys.argv) > 2 else 2000) // ROUND)
    with Cluster(sys.argv[1], kwok=8, slurm_options=OPTIONS) as bed, ExitStack() as stack:
        if not bed.slurm.has_plugin:
            sys.exit("this build has no plugin")
        bare = without_plugin(bed)
        stack.callback(bare.stop)
        bare.start()
        ours, theirs = Side("with slurm-kube", bed.slurm), Side("without", bare)
        run_rounds((ours, theirs), rounds)
        for side in (ours, theirs):
            side.check((rounds + 1) * ROUND)
        print(json.dumps(summary(ours, theirs, rounds * ROUND)))


main()
