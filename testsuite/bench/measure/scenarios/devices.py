# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods that wait for one device each (DRA) when the scheduler starts: kube-scheduler and slurm-kube
in turns on the same servers, with the same slices, class, templates and pods. kwok runs.

Both scenarios begin when the controller manager has made all claims, which both schedulers wait
for alike. In `devices` a pod runs for a second, so that devices are freed and given again all the
time and no scheduler has to wait for the last pods of a full cluster. In `devices-lasting` the pods
run on, and at most as many are created as there are devices: nothing but scheduling is measured.

writes_per_pod counts all writes of the scheduler, or of the agent, until the last pod is Running.
all_bound_s_since_start counts from the start of its process, so that writes to claims before the
first binding are in it. load: the load average when a turn ends, with the bench's own.
"""
import os
import time

from ..bench_testbed import SCHEDULER
from ..device_testbed import DeviceBenchTestbed
from ..figures import say
from .burst import Contest

WARM_UP = 200  # maximum number of pods in the warm-up round
PROGRAMS = {SCHEDULER: "kube-scheduler", "slurm": "slurmkubed"}


class DeviceContest(Contest):
    """name: of the scenario; run: how long a pod runs."""

    def __init__(self, bed, figures, pods, name, run):
        super().__init__(bed, figures, pods)
        self.name, self.run, self.scheduler = name, run, None

    def prepare(self, scheduler):
        self.rounds += 1
        self.scheduler, prefix = scheduler, f"p{self.rounds}"
        self.bed.settle()
        self.bed.create_pods(prefix, self.pods, scheduler, self.run)
        self.bed.settle()
        self.bed.audit.mark()
        return prefix

    def clean(self, prefix):
        self.bed.remove_pods(prefix)

    def note(self, scenario, prefix, stretch, begin, keep):
        text = super().note(scenario, prefix, stretch, begin, keep)
        last = max(b.answered for b in self.bed.audit.bindings(prefix).values())
        if keep:
            self.figures.add(f"{scenario}.all_bound_s_since_start", last - begin)
        return text

    def note_running(self, scenario, prefix, used, keep):
        writes, load = self.bed.audit.writes_of(PROGRAMS[self.scheduler]), os.getloadavg()[0]
        if keep:
            self.figures.add(f"{scenario}.writes_per_pod", sum(writes.values()) / self.pods)
            self.figures.add(f"{scenario}.load", load)
            self.figures.fact(f"{scenario}.writes", dict(writes))
        return super().note_running(scenario, prefix, used, keep) + f", load {load:.1f}"

    def count_calls(self, name, before):
        """The writes have been counted, for both contestants in the same way."""

    def turns(self, keep):
        theirs = f"kube-scheduler-{self.name}"
        first, second = (
            lambda: self.kube_scheduler(keep, theirs),
            lambda: self.burst(keep, self.name),
        )
        turns = (first, second) if self.rounds % 4 == 0 else (second, first)
        told = [turn() for turn in turns]
        for figure in ("pods_per_s", "all_bound_s_since_start", "writes_per_pod"):
            self.figures.ratio(f"{self.name}.{figure}", f"{theirs}.{figure}")
        cpu = "cpu_s_per_1000"
        self.figures.ratio(f"{self.name}.{cpu}.slurmkubed", f"{theirs}.{cpu}.kube-scheduler")
        return told


def measure(options, figures):
    with DeviceBenchTestbed(options.build, options.nodes) as bed:
        figures.facts.update(bed.versions())
        pods = options.pods if options.run else min(options.pods, bed.devices)
        name = "devices" if options.run else "devices-lasting"
        figures.fact(f"{name}.size", f"{pods} pods, {options.nodes} nodes of 8 devices")
        contest = DeviceContest(bed, figures, pods, name, options.run or "1h")
        contest.profile = options.profile
        for number in range(-1, options.repeat):
            begin = time.monotonic()
            contest.pods = pods if number >= 0 else min(pods, WARM_UP)
            told = contest.turns(number >= 0)
            took = time.monotonic() - begin
            say(f"round {number + 1} of {options.repeat} ({took:.0f} s): " + ", ".join(told))
