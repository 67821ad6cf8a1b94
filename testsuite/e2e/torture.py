#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random load and faults against a whole cluster, judged by the independent checker.

usage: torture.py --minutes N [--seed N] [--nodes N] [--clusters N] [--return-to-service N]
                  [--slurm] BUILDDIR

Real slurmctld, slurmdbd, MariaDB, kube-apiserver, etcd and agent, kwok's nodes of 8 CPUs. For N
minutes users create, delete, evict and cancel, and daemons are killed with -9 and stopped at
random. Then the faults end, everything settles, and all records are checked
(testsuite/e2e/history_checker). Each violation is printed with its history. The last line is JSON:
{"violations":0,"pods":N,"kills":N, ...}; exit status 0 if there is none. --return-to-service is
ReturnToService in slurm.conf (default 0, as in Slurm). SLURM_KUBE_KEEP=1 keeps the run directory;
it is always kept after a violation. --clusters 2 puts two Kubernetes clusters under the slurmctld,
with nodes of the same names; each has users, faults and a verdict of its own, and nothing may be
mixed.
"""
import argparse
import json
import os
import random
import signal
import sys
import time

from concurrent.futures import ThreadPoolExecutor

from history_checker.ends import compared
from history_checker.gangs import gangs, whole_starts
from history_checker.rules import check, story
from history_checker.slurm_log import SlurmTruth
from torture_parts.chaos import Chaos
from torture_parts.judge import evidences, read_all
from torture_parts.pictures import Pictures
from torture_parts.side import Side
from torture_parts.testbed import testbed, title


def say(text):
    print(f"# {text}", flush=True)


def arguments():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--minutes", type=float, default=10)
    p.add_argument("--seed", default=str(random.randrange(1 << 32)))
    p.add_argument("--nodes", type=int, default=4)
    p.add_argument("--clusters", type=int, choices=(1, 2), default=1)
    p.add_argument("--return-to-service", type=int, choices=(0, 1, 2), default=0)
    p.add_argument("--slurm")
    p.add_argument("build", nargs="?")
    a = p.parse_args()
    if not (a.slurm or a.build):
        p.error("which BUILDDIR?")
    return a


class Progress:
    """Prints a line every twenty seconds."""

    def __init__(self, sides, chaos):
        self.sides, self.chaos, self.next = sides, chaos, 0.0

    def __call__(self, left):
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + 20
            say(
                f"{max(0.0, left):.0f} s to go: {created(self.sides)} creations,"
                f" {self.chaos.kills} kills, {self.chaos.stops} stops"
            )


def created(sides):
    return sum(side.load.number for side in sides)


def blow(options, sides, chaos):
    for side in sides:
        side.load.start()
    chaos.run(options.minutes * 60, Progress(sides, chaos))
    for side in sides:
        side.load.stop()


def tell(found, proof):
    for v in found[:10]:
        say(f"VIOLATION {v.rule}: {v.text}")
        for line in story(proof, v):
            say(f"    {line}")
    if len(found) > 10:
        say(f"and {len(found) - 10} more: " + "; ".join(v.text for v in found[10:30]))


def tell_figures(sides, chaos):
    for line in chaos.trouble:
        say(f"a fault went otherwise: {line}")
    say(f"killed: {chaos.by_name}")
    for side in sides:
        counters = json.dumps(side.bed.agent.skube("diag")["counters"])
        say(f"{title(side.bed, 'load')}: {side.load.done}; agent: {counters}")


def prepare(bed, options, pictures):
    sides = [Side(one) for one in bed.all]
    for side in sides:
        side.prepare()
    # The restart creates the files that slurmctld saves only when it ends; without them a killed
    # slurmctld 26.05 does not start again.
    bed.slurm.restart()
    for side in sides:
        side.measure(pictures, options.seed)
    pictures.start()
    return sides


def settle(sides):
    """At the same time, because no cluster may have to wait for another one."""
    with ThreadPoolExecutor(len(sides)) as pool:
        list(pool.map(Side.settle, sides))


def judge(bed, sides, truth):
    """Returns the evidence of each cluster."""
    read_all(bed, truth)
    proofs = evidences(sides, truth, not any(side.found for side in sides))
    for side, (proof, mixed) in zip(sides, proofs):
        side.found += mixed + check(proof)
        tell(side.found, proof)
    return [proof for proof, _ in proofs]


def torture(bed, options):
    truth = SlurmTruth()
    pictures = Pictures(bed.slurm, truth)
    sides = prepare(bed, options, pictures)
    chaos = Chaos(bed.slurm, sides, options.seed)
    blow(options, sides, chaos)
    settle(sides)
    pictures.stop()
    for side in sides:
        side.end(created(sides))
    proofs = judge(bed, sides, truth)
    tell_figures(sides, chaos)
    return {
        "violations": sum(len(side.found) for side in sides),
        **figures(proofs, chaos),
        "records": sum(map(len, truth.accounts.values())),
        "slurm": bed.slurm.version,
        "seed": options.seed,
        "uses": all_uses(side.uses.now() for side in sides),
        "uses_before": all_uses(side.uses.before for side in sides),
    }


def figures(proofs, chaos):
    total = lambda count: sum(map(count, proofs))  # noqa: E731
    return {
        "pods": total(lambda proof: len(proof.history.pods)),
        "kills": chaos.kills,
        "stops": chaos.stops,
        "bound": total(lambda proof: len(proof.bound())),
        "gangs": total(lambda proof: len(gangs(proof))),
        "unlike": total(whole_starts),
        "ends_compared": total(compared),
        "events": total(lambda proof: len(proof.history.events)),
    }


def all_uses(each):
    return {daemon: use for uses in each for daemon, use in uses.items()}


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    say(f"seed {options.seed}, {options.minutes:g} minutes")
    # slurmctld's 86 threads would otherwise keep up to 80 MB in arenas of their own, without a leak
    os.environ["MALLOC_ARENA_MAX"] = "1"
    bed = testbed(options)
    with bed:
        try:
            result = torture(bed, options)
        except BaseException:
            bed.failures += 1
            say(f"everything is kept in {bed.dir}")
            raise
        if result["violations"]:
            bed.failed("torture", lambda text: say(text.splitlines()[0]))
    print(json.dumps(result, separators=(",", ":")), flush=True)
    sys.exit(1 if result["violations"] else 0)


main()
