#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the end of a pod or job takes to reach the other side while pods come and go.

usage: end_latency.py [--rate PODS_PER_SECOND] [--seconds N] BUILDDIR       (50 pods/s, 30 s)

Half of the pods end by themselves after a second, the others are cancelled with scancel while they
run. The waits, in milliseconds:
  scancel_to_delete      slurmctld's log reports that the job's signal was delivered -> the API
                         server receives the DELETE of its pod
  scancel_to_condition   the same until the API server receives the condition with the reason: the
                         time that plugin and agent take; condition_write: the time that the server
                         takes for that write
  terminal_to_job_end    the API server has answered the write that makes the pod terminal ->
                         slurmctld's log reports that its job is done
The API server's audit log has microseconds, slurmctld's log milliseconds, both by this machine's
clock. Prints one line of JSON; progress goes to stderr. "agent" has the agent's own figures,
"behind" the number of pods that were not created in time.
"""
import argparse
import json
import math
import os
import statistics
import sys
import threading
import time
from datetime import datetime, timezone
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "testsuite/e2e"))

from history_checker.history import JOB_ID  # noqa: E402
from lib import ApiError, Cluster, pod, wait_for  # noqa: E402
from records.audit_log import Audit  # noqa: E402
from records.slurm import log_matches  # noqa: E402

NODES, CPUS, MAKERS = 24, 16, 4
_never = threading.Event()


def say(text):
    print(text, file=sys.stderr, flush=True)


def cluster(build):
    bed = Cluster(
        build,
        kwok=NODES,
        cpus=CPUS,
        plane_env={},
        slurm_options={
            "extra": ["SchedulerParameters=batch_sched_delay=0", "LogTimeFormat=rfc5424_ms"]
        },
    )
    bed.slurm.extra.append(f"SlurmctldLogFile={bed.dir}/log/slurmctld.log")
    bed.plane.env["APISERVER_ARGS"] = (
        f"--audit-policy-file={SOURCE}/testsuite/bench/end-latency-audit-policy.yaml"
        f" --audit-log-path={bed.dir}/audit.log"
    )
    return bed


class Makers:
    """Threads that together create pods at a steady rate."""

    def __init__(self, kube, rate, seconds):
        self.kube, self.rate, self.count, self.begin = (
            kube,
            rate,
            int(rate * seconds),
            time.monotonic(),
        )
        self.late = 0
        self.threads = [
            threading.Thread(target=self._make, args=(i,), daemon=True) for i in range(MAKERS)
        ]
        for t in self.threads:
            t.start()

    def _make(self, first):
        for i in range(first, self.count, MAKERS):
            due = self.begin + i / self.rate - time.monotonic()
            if due > 0:
                _never.wait(due)
            elif due < -1:
                self.late += 1
            kwok = {"run": "1s"} if i % 2 else {"run": "1h", "stop": "300ms"}
            self.kube.create(pod(f"{'end' if i % 2 else 'cancel'}-{i}", memory="16Mi", kwok=kwok))

    def alive(self):
        return any(t.is_alive() for t in self.threads)


def cancel_running(bed):
    """One scancel for all pods that have run for at least half a second, according to the watch."""
    now, jobs = datetime.now(timezone.utc), []
    for p in bed.kube.pods("cancel-").values():
        started = p["status"].get("startTime")
        if (
            p["status"].get("phase") == "Running"
            and "deletionTimestamp" not in p["metadata"]
            and started
            and (now - datetime.fromisoformat(started)).total_seconds() > 1
        ):
            jobs.append(p["metadata"]["annotations"][JOB_ID])
    new = [j for j in jobs if j not in cancel_running.asked]
    if new:
        cancel_running.asked.update(new)
        bed.slurm.run("scancel", *new)


cancel_running.asked = set()


def sweep(bed):
    """Deletes the pods that have ended."""
    for name, p in bed.kube.pods("end-").items():
        if (
            p["status"].get("phase") == "Succeeded"
            and "deletionTimestamp" not in p["metadata"]
            and name not in sweep.asked
        ):
            sweep.asked.add(name)
            try:
                bed.kube.delete("Pod", name)
            except ApiError:
                pass


sweep.asked = set()


def run(bed, rate, seconds):
    makers = Makers(bed.kube, rate, seconds)
    said = time.monotonic()
    while makers.alive() or bed.kube.pods("cancel-"):
        cancel_running(bed)
        if time.monotonic() - said > 10:
            said = time.monotonic()
            say(f"{len(cancel_running.asked)} cancelled")
        _never.wait(0.2)
    wait_for(
        lambda: all(p["status"].get("phase") == "Succeeded" for p in bed.kube.pods().values()),
        "all pods to end",
        60,
    )
    wait_for(lambda: not bed.slurm.run("squeue", "--noheader"), "an idle Slurm", 60)
    return makers.late


class Ends:
    """From the API server's audit log: the job of each pod, and when its terminal status was
    written, its condition was received and written, and its deletion was received.
    """

    def __init__(self, path):
        self.job, self.terminal, self.deleted, self.condition = {}, {}, {}, {}
        for event in Audit(path).events():
            if event.good:
                self._take(event)

    def _take(self, event):
        if event.part == "binding":
            self.job[event.name] = int(event.body["metadata"]["annotations"][JOB_ID])
        elif event.part == "status":
            if event.phase in ("Succeeded", "Failed"):
                self.terminal.setdefault(event.name, event.answered)
            elif any(
                c.get("type") == "DisruptionTarget" for c in event.status.get("conditions", [])
            ):
                self.condition.setdefault(event.name, (event.received, event.answered))
        elif event.verb == "delete":
            self.deleted.setdefault(event.name, event.received)


def ends_in_slurm(log):
    """{job: time of its signal}, {job: time of its completion}; times in seconds."""
    killed, done = {}, {}
    pattern = r"job_signal: 9 of running JobId=(\d+) successful|^_job_complete: JobId=(\d+) done"
    for when, found in log_matches(log, pattern):
        job, ends = (found.group(1), killed) if found.group(1) else (found.group(2), done)
        ends.setdefault(int(job), when)
    return killed, done


def summary(ms):
    ms = sorted(ms)

    def percentile(p):
        return round(ms[max(0, math.ceil(p / 100 * len(ms)) - 1)], 1)

    return {
        "n": len(ms),
        "p50_ms": percentile(50),
        "p99_ms": percentile(99),
        "mean_ms": round(statistics.fmean(ms), 1),
        "max_ms": percentile(100),
    }


def measure(bed):
    audit = Ends(bed.dir / "audit.log")
    killed, done = ends_in_slurm(bed.dir / "log/slurmctld.log")
    cancels = [
        (audit.deleted[n] - killed[j]) * 1000
        for n, j in audit.job.items()
        if j in killed and n in audit.deleted
    ]
    told = [
        (audit.condition[n][0] - killed[j]) * 1000
        for n, j in audit.job.items()
        if j in killed and n in audit.condition
    ]
    written = [(done - got) * 1000 for got, done in audit.condition.values()]
    ends = [
        (done[j] - audit.terminal[n]) * 1000
        for n, j in audit.job.items()
        if j in done and n in audit.terminal and n.startswith("end-")
    ]
    return {
        "scancel_to_delete": summary(cancels),
        "scancel_to_condition": summary(told),
        "condition_write": summary(written),
        "terminal_to_job_end": summary(ends),
    }


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--rate", type=float, default=50)
    p.add_argument("--seconds", type=float, default=30)
    p.add_argument("build")
    a = p.parse_args()
    with cluster(a.build) as bed:
        begin = time.monotonic()
        late = run(bed, a.rate, a.seconds)
        took = time.monotonic() - begin
        diag = bed.agent.skube("diag")
        edges = {
            k: diag["stage_latencies"][k]
            for k in ("ended_to_pod_deleted", "pod_terminal_to_job_ended")
        }
        print(
            json.dumps(
                {
                    **measure(bed),
                    "rate": a.rate,
                    "pods": int(a.rate * a.seconds),
                    "behind": late,
                    "seconds": round(took, 1),
                    "slurm": bed.slurm.version,
                    "load": round(os.getloadavg()[0], 1),
                    "agent": edges,
                }
            )
        )


main()
