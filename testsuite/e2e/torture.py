#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random load and faults against a whole cluster, judged by the independent checker.

usage: torture.py --minutes N [--seed N] [--nodes N] [--return-to-service N] [--slurm] BUILDDIR

Real slurmctld, slurmdbd, MariaDB, kube-apiserver, etcd and agent, kwok's nodes of 8 CPUs. For N
minutes users create, delete, evict and cancel, and daemons are killed with -9 and stopped at
random. Then the faults end, everything settles, and all records are checked
(testsuite/e2e/history_checker). Each violation is printed with its history. The last line is JSON:
{"violations":0,"pods":N,"kills":N, ...}; exit status 0 if there is none. --return-to-service is
ReturnToService in slurm.conf (default 0, as in Slurm). SLURM_KUBE_KEEP=1 keeps the run directory;
it is always kept after a violation.
"""
import argparse
import json
import random
import signal
import sys
import time

from history_checker.ends import compared
from history_checker.faults import Deeds
from history_checker.gangs import gangs, whole_starts
from history_checker.rules import Violation, check, story
from history_checker.slurm_log import SlurmTruth
from lib import Cluster, pod, wait_for
from lib.process import TESTSUITE, Process
from torture_parts.chaos import Chaos
from torture_parts.judge import Uses, evidence, settle
from torture_parts.load import POOLS, USER, Load, Pictures


def say(text):
    print(f"# {text}", flush=True)


def arguments():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--minutes", type=float, default=10)
    p.add_argument("--seed", default=str(random.randrange(1 << 32)))
    p.add_argument("--nodes", type=int, default=4)
    p.add_argument("--return-to-service", type=int, choices=(0, 1, 2), default=0)
    p.add_argument("--slurm")
    p.add_argument("build", nargs="?")
    a = p.parse_args()
    if not (a.slurm or a.build):
        p.error("which BUILDDIR?")
    return a


def cluster(options):
    bed = Cluster(
        options.slurm or options.build,
        kwok=options.nodes,
        accounting=True,
        workloads="kinds",
        agent_options={
            "namespaces": [{"name": "default", "user": USER, "accounts": ["kube"]}],
            "settings": {
                "nodes": {"manage": True, "not_ready_after": 2},
                "limits": {
                    "condition_interval_seconds": 1,
                    "forced_delete_hold_seconds": 3,
                    "components_wait_seconds": 15,
                },
            },
        },
    )
    bed.slurm.extra += [
        f"SlurmctldLogFile={bed.dir}/log/slurmctld.log",
        "LogTimeFormat=rfc5424_ms",
        "DebugFlags=HetJob",
        "JobCompType=jobcomp/filetxt",
        f"JobCompLoc={bed.dir}/jobcomp.txt",
    ]
    bed.slurm.min_job_age = 120  # DebugFlags: without it 26.05 logs no start by backfill
    bed.slurm.return_to_service = options.return_to_service
    return bed


def recorder(bed):
    plane = bed.plane
    daemon = Process(
        "recorder",
        [
            TESTSUITE / "e2e/history_checker/recorder.py",
            plane.port,
            plane.dir / "pki/ca.crt",
            plane.dir / "tokens/admin",
            bed.dir / "history.jsonl",
        ],
        bed.dir / "log/recorder.out",
    )
    daemon.start()
    wait_for(lambda: '"start"' in (bed.dir / "history.jsonl").read_text(), "the recorder to begin")
    return daemon


def warm_up(bed):
    """Runs one pod through its whole life, so that descriptors opened only once are open."""
    bed.kube.create(pod("first", kwok={"run": "10ms"}))
    bed.kube.wait_phase("first", "Succeeded")
    bed.kube.delete("Pod", "first")
    bed.kube.wait_gone("first")


class Progress:
    """Prints a line every twenty seconds."""

    def __init__(self, load, chaos):
        self.load, self.chaos, self.next = load, chaos, 0.0

    def __call__(self, left):
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + 20
            say(
                f"{max(0.0, left):.0f} s to go: {self.load.number} creations,"
                f" {self.chaos.kills} kills, {self.chaos.stops} stops"
            )


def blow(options, load, chaos):
    load.start()
    chaos.run(options.minutes * 60, Progress(load, chaos))
    load.stop()


def tell(found, proof):
    for v in found[:10]:
        say(f"VIOLATION {v.rule}: {v.text}")
        for line in story(proof, v):
            say(f"    {line}")
    if len(found) > 10:
        say(f"and {len(found) - 10} more: " + "; ".join(v.text for v in found[10:30]))


def torture(bed, options):
    deeds, truth = Deeds(), SlurmTruth()
    for i, name in enumerate(bed.names):
        bed.kube.patch("Node", name, {"metadata": {"labels": {"pool": POOLS[i % len(POOLS)]}}})
    witness = recorder(bed)
    warm_up(bed)
    # The restart creates the files that slurmctld saves only when it ends; without them a killed
    # slurmctld 26.05 does not start again.
    bed.slurm.restart()
    uses = Uses(bed)
    pictures = Pictures(bed.slurm, truth)
    pictures.start()
    parts = Load(bed, deeds, pictures, options.seed, bed.names), Chaos(
        bed, deeds, options.seed, bed.names
    )
    blow(options, *parts)
    found = settle(bed, parts[0], deeds)
    pictures.stop()
    found += uses.violations(parts[0].number)
    if not witness.alive():
        found.append(Violation("history", "the recorder died", time.time()))
    witness.stop()
    proof = evidence(bed, truth, deeds, not found)
    found += check(proof)
    tell(found, proof)
    for line in parts[1].trouble:
        say(f"a fault went otherwise: {line}")
    say(
        f"load: {parts[0].done}; killed: {parts[1].by_name}; agent:"
        f" {json.dumps(bed.agent.skube('diag')['counters'])}"
    )
    return {
        "violations": len(found),
        "pods": len(proof.history.pods),
        "kills": parts[1].kills,
        "stops": parts[1].stops,
        "bound": len(proof.bound()),
        "gangs": len(gangs(proof)),
        "unlike": whole_starts(proof),
        "ends_compared": compared(proof),
        "records": sum(map(len, truth.accounts.values())),
        "events": len(proof.history.events),
        "slurm": bed.slurm.version,
        "seed": options.seed,
        "uses": uses.now(),
        "uses_before": uses.before,
    }


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    say(f"seed {options.seed}, {options.minutes:g} minutes")
    bed = cluster(options)
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
