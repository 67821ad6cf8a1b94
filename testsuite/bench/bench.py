#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures slurm-kube, its limits and its competitors on private servers.

usage: bench.py SCENARIO... [--pods N] [--nodes M] [--repeat R] [--json FILE] [--build DIR] [--slurm
VERSION] (root)

burst           1,000 single pods on 100 nodes that wait when the scheduler starts: bind-limit,
                kube-scheduler and slurm-kube in turns; with kwok running also the time until the
                last pod is Running
bind-limit      only the bare loop, with 1 to 64 requests in flight
kube-scheduler  only kube-scheduler
at-once         --at-once pods (100) created at once on an idle cluster, and with kube-scheduler
latency         one pod at a time on an idle cluster, and with kube-scheduler
latency-behind, latency-ahead       with 10,000 native jobs pending: the pods' jobs behind them, and
                                    before them
latency-backfill                    pods that only backfill starts
devices         1,000 pods with one device each (DRA) that run for a second, on 100 nodes of 8, and
                with kube-scheduler
devices-lasting                     the same with pods that run on, at most one per device
unlike          a JobSet of 8 pods of one shape and 64 of another, and with kube-scheduler
gang            1 x 1,000 and 10 x 100 pods of Indexed Jobs, and bind-limit
restart         the agent killed with 1,000 running and 500 waiting pods
cancel          one scancel for 200 running pods
native          native jobs with and without slurm-kube
limit-slurm     external jobs started and ended through libslurm alone
churn           50 pods/s that live for 30 s, one in twenty failing, for --seconds
all             all of these except churn and devices
long            10,000 pods on 1,000 nodes (burst, once), 1 x 4,000 (gang), 10,000 running
                (restart), churn for 10 minutes

Time stamps are the API server's (audit log). Each scenario repeats at least five times after a
warm-up. Prints median and spread; --json keys are <scenario>.<figure>.{median,min,max,n,ratio_to}.
Progress goes to stderr. Builds what is missing: slurm-kube with -O2 for Slurm VERSION (22.05.8) in
DIR, a directory of the cache, and kube-scheduler from its Go modules. Measure on an otherwise idle
machine. --only CONTESTANT skips the others of a burst; --profile FILE runs perf record in the last
round of slurm-kube's burst; --variant NAME=JSON adds slurm-kube with those settings of
slurmkubed.yaml to each round of a burst, --slurm-variant NAME=LINE with that line of slurm.conf,
which scontrol reconfigure must apply; --scrape adds slurm-kube with its
metrics fetched each second. --beside PROGRAM runs another slurmkubed, such as that of an earlier
commit, in turns with this one in burst and gang, on the same servers and with the same settings;
the figures have the ratio to it.
"""
import argparse
import importlib
import json
import signal
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "testsuite/e2e"), str(SOURCE / "testsuite/bench")]

from lib.process import CACHE  # noqa: E402
from measure.bench_testbed import build_all  # noqa: E402
from measure.figures import Figures, say  # noqa: E402

ALL_OF_BURST = ("bind-limit", "kube-scheduler", "burst")
# name -> (module, its default parameters)
SCENARIOS = {
    "burst": ("burst", {"contestants": ALL_OF_BURST, "in_flight": [32, 64]}),
    "bind-limit": ("burst", {"contestants": ("bind-limit",), "in_flight": [1, 8, 16, 32, 64]}),
    "kube-scheduler": (
        "burst",
        {"contestants": ("bind-limit", "kube-scheduler"), "in_flight": [32]},
    ),
    "at-once": ("at_once", {}),
    "latency": ("latency:idle", {}),
    "latency-behind": ("latency:behind", {}),
    "latency-ahead": ("latency:ahead", {}),
    "latency-backfill": ("latency:backfill", {}),
    "gang": ("gang", {"in_flight": [32, 64]}),
    "devices": ("devices", {"run": "1s"}),
    "devices-lasting": ("devices", {"run": None}),
    "unlike": ("unlike", {}),
    "restart": ("restart", {}),
    "cancel": ("cancel", {}),
    "native": ("slurm_alone:native", {}),
    "limit-slurm": ("slurm_alone:limit", {}),
    "churn": ("churn", {}),
}
IN_ALL = [
    "burst",
    "at-once",
    "latency",
    "latency-behind",
    "latency-ahead",
    "latency-backfill",
    "gang",
    "unlike",
    "restart",
    "cancel",
    "native",
    "limit-slurm",
]
LONG = [
    ("burst", {"pods": 10000, "nodes": 1000, "repeat": 1, "kwok": [True]}),
    ("gang", {"pods": 4000, "nodes": 500, "repeat": 1}),
    ("restart", {"pods": 10000, "nodes": 1000, "repeat": 1}),
    ("churn", {"seconds": 600}),
]
KWOK = {"running": [True], "paused": [False], "both": [True, False]}


def variant(text):
    name, _, settings = text.partition("=")
    return name, json.loads(settings)


def slurm_variant(text):
    name, _, line = text.partition("=")
    return name, line


def options_of(words):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("scenarios", nargs="+", choices=[*SCENARIOS, "all", "long"])
    p.add_argument("--pods", type=int, default=1000)
    p.add_argument("--nodes", type=int, default=100)
    p.add_argument("--repeat", type=int, default=5)
    p.add_argument("--at-once", type=int, default=100, help="pods that at-once creates")
    p.add_argument("--single", type=int, default=40, help="pods of a round of latency")
    p.add_argument(
        "--waiting", type=int, default=10000, help="native jobs that latency has in the queue"
    )
    p.add_argument("--rate", type=float, default=50)
    p.add_argument("--seconds", type=int, default=600)
    p.add_argument("--kwok", choices=KWOK, default="both")
    p.add_argument(
        "--in-flight",
        type=int,
        nargs="+",
        help="requests of bind-limit, in the place of the scenario's own",
    )
    p.add_argument("--json")
    p.add_argument("--profile")
    p.add_argument("--variant", type=variant, action="append", default=[])
    p.add_argument("--slurm-variant", type=slurm_variant, action="append", default=[])
    p.add_argument("--scrape", action="store_true")
    p.add_argument("--beside", type=Path)
    p.add_argument("--only", choices=ALL_OF_BURST)
    p.add_argument("--slurm", default="22.05.8")
    p.add_argument("--build", type=Path)
    options = p.parse_args(words)
    given = {"in_flight": options.in_flight} if options.in_flight else {}
    options.only = given | ({"contestants": (options.only,)} if options.only else {})
    options.kwok = KWOK[options.kwok]
    options.build = options.build or CACHE / f"bench-{options.slurm}"
    return options


def chosen(words):
    """[(scenario, sizes that differ from the options)]"""
    for word in words:
        yield from (
            [(name, {}) for name in IN_ALL]
            if word == "all"
            else LONG if word == "long" else [(word, {})]
        )


def main():
    options = options_of(sys.argv[1:])
    build_all(options.build, options.slurm)
    figures = Figures()
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # an exception: the test beds are taken down, and the results so far are printed
    try:
        for name, sizes in chosen(options.scenarios):
            module, _, function = SCENARIOS[name][0].partition(":")
            say(f"--- {name}")
            measure = getattr(
                importlib.import_module(f"measure.scenarios.{module}"), function or "measure"
            )
            measure(
                argparse.Namespace(
                    **{**vars(options), **SCENARIOS[name][1], **options.only, **sizes}
                ),
                figures,
            )
    finally:
        if options.json:
            figures.write(options.json)
        figures.table()


main()
