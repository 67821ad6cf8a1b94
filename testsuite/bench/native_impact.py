#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the plugin costs slurmctld with many nodes, external jobs, and native jobs in the queue.

usage: native_impact.py BUILDDIR [--nodes 5000] [--placeholders 10000] [--native 20000]
                        [--lives 4000] [--rounds 4] [--seconds 30] [--threads 4]
                        [--inactive-limit 0] [--ports FIRST]   (root)

Two private slurmctld are filled with the same load: external nodes, running external jobs, pending
native jobs. Then both are restarted, one of them without the plugin (its nodes stay in service for
a year). Side by side:
 1. passes   sdiag's mean cycle of the main scheduler and of backfill, over --rounds rounds at the
             same time on both; ratio with its standard error
 2. budgets  the plugin's own figures over --lives jobs (submitted and ended at once, --threads
             threads) on the filled slurmctld, in wall and CPU time; the share of that time that the
             keeper holds locks, in both; and the kernel's figures for the keeper's thread
             (schedstat): how long it ran, and how long it waited for a CPU
 3. next     from the end of a job to the start of the one that waited for its resources, 20 times
 4. starts   seconds from slurmctld's start to the complete snapshot at the agent
Prints one line of JSON; progress goes to stderr. Note how busy the machine was: other load affects
the wall times, but not the CPU times.
"""
import argparse
import json
import math
import os
import re
import statistics
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "component/plugin"))

from fixture import NATIVE_NODE, Fixture, Peer, eventually, marker  # noqa: E402


def say(text):
    print(
        f"[{time.monotonic() - BEGAN:5.0f} s, load {os.getloadavg()[0]:.1f}] {text}",
        file=sys.stderr,
        flush=True,
    )


BEGAN = time.monotonic()


class Side:
    def __init__(self, args, port):
        nodes = (
            "NodeName=k[1-{n}] NodeAddr=127.0.0.1 Port={sink} CPUs=4 RealMemory=4000 Feature=kube"
            " State={state}"
        )
        self.args = args
        self.fixture = Fixture(args.build, port)
        self.fixture.write_conf(
            nodes=nodes.format(
                n=args.nodes, sink=self.fixture.sink, state=self.fixture.options["external"]
            ),
            dynamic=f"MaxNodeCount={args.nodes + 10}" if self.fixture.has_dynamic_nodes() else "",
            native_node=NATIVE_NODE.format(slurmd_port=self.fixture.slurmd_port),
            inactive=args.inactive_limit,
            extra=(
                "SlurmdParameters=config_overrides\nMaxJobCount=200000\n"
                "SchedulerParameters=sched_interval=10,bf_interval=10"
            ),
        )
        self.peer = Peer(f"{self.fixture.run}/plugin.sock")
        self.fixture.start_munged()
        self.fixture.start_slurmctld()
        assert self.peer.wait("snapshot_end", seconds=60)
        self.fixture.start_slurmd()

    def submit(self, count, **keys):
        words = [f"{k}={v}" for k, v in keys.items()]
        started = self.fixture.alloc(
            "submit", *words, "threads=4", f"count={count // 4}", background=True
        )
        answers = started.communicate(timeout=900)[0].splitlines()
        assert sum(a.startswith("ok") for a in answers) == count // 4 * 4, answers[:3]

    def fill(self):
        self.submit(self.args.placeholders, marker=marker("fill-@"), partition="kube")
        if self.args.native:
            self.fixture.alloc("submit", "partition=native", "cpus=4")
            self.submit(self.args.native, partition="native")

    def restart(self, **options):
        self.fixture.write_conf(**options)
        before, began = len(self.peer.lines), time.monotonic()
        self.fixture.kill_slurmctld(15)
        self.fixture.start_slurmctld()
        if "submit" not in options:
            assert eventually(lambda: self.peer.find("snapshot_end", before), 60)
        return time.monotonic() - began

    def cycles(self):
        """(main, backfill): mean cycle in us, number of cycles."""
        text = self.fixture.command("sdiag").stdout
        main, backfill = text.partition("Main schedule statistics")[2].partition(
            "Backfilling stats"
        )[::2]

        def number(part, name):
            found = re.search(rf"{name}:\s*(\d+)", part)
            return int(found[1]) if found else 0

        return (number(main, "Mean cycle"), number(main, "Total cycles")), (
            number(backfill, "Mean cycle"),
            number(backfill, "Total cycles"),
        )

    def keeper_schedstat(self):
        """Nanoseconds for which the keeper ran, and for which it was ready but did not run."""
        task = Path(f"/proc/{self.fixture.slurmctld.pid}/task")
        for tid in task.iterdir():
            if (tid / "comm").read_text().strip() == "kube-keeper":
                ran, waited, _ = map(int, (tid / "schedstat").read_text().split())
                return ran, waited
        raise AssertionError("no keeper")

    def stats(self):
        before = len(self.peer.lines)
        return eventually(lambda: self.peer.find("stats", before), 12)[1]


def ratio(pairs):
    """The mean of a/b over the rounds, and its standard error."""
    quotients = [a / b for a, b in pairs if b]
    if not quotients:
        return None
    error = statistics.stdev(quotients) / math.sqrt(len(quotients)) if len(quotients) > 1 else None
    return [round(statistics.mean(quotients), 3), error and round(error, 3)]


def passes(args, with_plugin, without):
    rounds = []
    for n in range(args.rounds):
        for side in (with_plugin, without):
            side.fixture.command("sdiag", "--reset")
        time.sleep(args.seconds)
        rounds.append((with_plugin.cycles(), without.cycles()))
        say(
            f"round {n + 1}: main and backfill (mean us, cycles): with {rounds[-1][0]}, without"
            f" {rounds[-1][1]}"
        )
    return {
        "main_ratio": ratio([(a[0][0], b[0][0]) for a, b in rounds]),
        "backfill_ratio": ratio([(a[1][0], b[1][0]) for a, b in rounds]),
        "rounds": rounds,
    }


def share(before, after, kind, seconds):
    """The share of the time, in percent."""
    return round(
        100
        * (
            after[kind]["count"] * after[kind]["mean_us"]
            - before[kind]["count"] * before[kind]["mean_us"]
        )
        / 1e6
        / seconds,
        2,
    )


def budgets(args, side):
    ran, waited = side.keeper_schedstat()
    before, began = side.stats(), time.monotonic()
    out = (
        side.fixture.alloc(
            "lives",
            f"marker={marker('life-@')}",
            "partition=kube",
            f"threads={args.threads}",
            f"count={args.lives // args.threads}",
            background=True,
        )
        .communicate(timeout=900)[0]
        .split()
    )
    seconds = time.monotonic() - began
    stats = side.stats()
    until = time.monotonic() - began
    ran_after, waited_after = side.keeper_schedstat()
    keep = ("hook", "hook_cpu", "lock_hold", "lock_cpu", "lock_wait")
    return {
        "lives_per_second": round(int(out[1]) / seconds),
        "unfinished": int(out[2]),
        **{k: stats[k] for k in keep},
        "share_by_clock": share(before, stats, "lock_hold", until),
        "share_of_processor": share(before, stats, "lock_cpu", until),
        "share_measured_s": round(until, 1),
        "duty_percent": round(stats["duty_percent"], 2),
        "keeper_ran_ms": round((ran_after - ran) / 1e6),
        "keeper_waited_for_a_processor_ms": round((waited_after - waited) / 1e6),
        "placeholders": stats["placeholders"],
    }


def next_start(side):
    delays, node = [], f"k{side.args.nodes}"  # Slurm has filled the nodes before this one
    for i in range(20):
        first = side.fixture.submit(marker(f"next-{i}-a"), node=node, cpus=1).job
        assert side.peer.wait("job", id=first, state="running", seconds=20), side.peer.last(
            "job", id=first
        )
        room = side.fixture.submit(marker(f"next-{i}-b"), node=node, cpus=4)
        assert room.nodes == "-"
        time.sleep(0.2)
        ended = side.fixture.complete(first)
        line = side.peer.wait(
            "job", id=room.job, state="running", seconds=20, after=len(side.peer.lines) - 500
        )
        assert line, side.peer.last("job", id=room.job)
        delays.append((line[0] - ended.ns) / 1e6)
        side.fixture.complete(room.job)
    return {"median_ms": round(statistics.median(delays), 1), "worst_ms": round(max(delays), 1)}


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("build")
    for name, default in (
        ("nodes", 5000),
        ("placeholders", 10000),
        ("native", 20000),
        ("lives", 4000),
        ("rounds", 4),
        ("seconds", 30),
        ("threads", 4),
        ("inactive-limit", 0),
        ("ports", 21200),
    ):
        p.add_argument(f"--{name}", type=int, default=default)
    args = p.parse_args()
    sides = []
    try:
        sides = [Side(args, args.ports), Side(args, args.ports + 10)]
        threads = [threading.Thread(target=s.fill) for s in sides]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        say("both are filled")
        with_plugin, without = sides
        started = with_plugin.restart()
        without.restart(submit="")
        say(f"restarted; the snapshot took {started:.1f} s with the restart")
        result = {
            "slurm": with_plugin.fixture.command("slurmctld", "-V").stdout.split()[-1],
            "load": os.getloadavg()[0],
            "passes": passes(args, with_plugin, without),
        }
        sides.pop().fixture.stop()
        result["budgets"] = budgets(args, with_plugin)
        say(f"budgets: {result['budgets']}")
        result["next_start"] = next_start(with_plugin)
        result["restart_to_snapshot_s"] = round(started, 1)
        print(json.dumps(result))
    finally:
        for side in sides:
            side.fixture.stop()


if __name__ == "__main__":
    main()
