#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods with random ends: state and exit code in sacct must be the pod's own. SLURM_KUBE_PODS is the
number of pods (100), SLURM_KUBE_RATE the number created per second (50), and SLURM_KUBE_SEED
repeats a run.
"""
import os
import random
import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from lib import Cluster, pod, run, wait_for
from lib.expect import uid_of, wait_no_live_jobs
from lib.kube import exit_code, name_of
from records.slurm import as_sacct_prints

PODS, RATE = int(os.environ.get("SLURM_KUBE_PODS", "100")), int(
    os.environ.get("SLURM_KUBE_RATE", "50")
)
SEED = os.environ.get("SLURM_KUBE_SEED") or str(random.randrange(1 << 32))
RANDOM = random.Random(SEED)
BATCH = 50  # job ids in one scancel

# kind: weight. Pods of a kind in ACTED run until the test acts on them.
KINDS = {
    "zero": 25,
    "code": 25,
    "signal": 10,
    "oom": 6,
    "evicted": 4,
    "deadline": 4,
    "stuck": 3,
    "scancel": 8,
    "delete": 6,
    "force": 4,
    "limit": 5,
}
ACTED = ("scancel", "delete", "force", "limit")


class Story:
    """One pod: how it is to end, and what Slurm and Kubernetes must show then."""

    def __init__(self, number):
        self.kind = RANDOM.choices(list(KINDS), list(KINDS.values()))[0]
        self.name, self.uid, kwok = f"agree-{number}", None, {}
        self.code = {
            "code": RANDOM.randint(1, 127),
            "signal": 128 + RANDOM.choice((1, 2, 6, 9, 11, 15)),
            "zero": 0,
        }.get(self.kind, 137)
        if self.kind == "stuck":
            kwok = {"start": "1h"}
        elif self.kind not in ACTED:
            kwok = {"run": f"{RANDOM.randint(1, 1500)}ms", "exit-code": self.code}
        kwok.update(
            {
                "oom": {"container-reason": "OOMKilled"},
                "evicted": {"reason": "Evicted"},
                "deadline": {"reason": "DeadlineExceeded"},
            }.get(self.kind, {})
        )
        self.manifest = pod(self.name, cpu=1, memory="32Mi", kwok=kwok)

    def wanted(self):
        """The expected (state, exit code) in Slurm."""
        ends = {
            "zero": ("COMPLETED", "0:0"),
            "code": ("FAILED", f"{self.code}:0"),
            "signal": ("FAILED", f"0:{self.code - 128}"),
            "oom": ("OUT_OF_MEMORY", "0:125"),
            "evicted": ("FAILED", "0:9"),
            "deadline": ("TIMEOUT", "0:0"),
            "limit": ("TIMEOUT", "0:0"),
            "stuck": ("FAILED", "125:0"),
        }
        return ends.get(self.kind, ("CANCELLED", "0:0"))

    def is_pod_as_told(self, last):
        """True if the last state of the pod fits the story."""
        if self.kind in ACTED or self.kind == "stuck":
            return "deletionTimestamp" in last["metadata"] or self.kind == "force"
        return (last["status"]["phase"], exit_code(last)) == (
            "Failed" if self.code else "Succeeded",
            self.code,
        )


def _act(bed, stories):
    """Ends each pod of a kind in ACTED as soon as it runs."""
    left = {s.name: s for s in stories if s.kind in ACTED}
    with ThreadPoolExecutor(2) as pool:
        while left:
            now = bed.kube.wait(
                lambda: {
                    n: p
                    for n, p in bed.kube.pods("agree-").items()
                    if n in left and p["status"].get("phase") == "Running"
                },
                f"{len(left)} pods to run",
                300,
            )
            batch = [(left.pop(n), p) for n, p in list(now.items())[:BATCH]]
            for story, seen in batch:
                if story.kind in ("delete", "force"):
                    pool.submit(
                        bed.kube.delete,
                        "Pod",
                        story.name,
                        **({"gracePeriodSeconds": 0} if story.kind == "force" else {}),
                    ).result()
            numbers = {
                k: [
                    p["metadata"]["annotations"]["allocation.slurm-kube.io/job-id"]
                    for s, p in batch
                    if s.kind == k
                ]
                for k in ("scancel", "limit")
            }
            if numbers["scancel"]:
                bed.slurm.run("scancel", *numbers["scancel"])
            if numbers["limit"]:
                # slurmctld refuses an end in the past, and a second may pass until it has the
                # request
                bed.slurm.run(
                    "scontrol",
                    "update",
                    "JobId=" + ",".join(numbers["limit"]),
                    "EndTime=now+10seconds",
                )


def _rows(bed):
    """sacct's rows by the uid in the marker."""
    found = {}
    for row in bed.slurm.accounting.sacct().values():
        uid = re.search(r'"uid":"([^"]+)"', row["AdminComment"])
        if uid:
            found.setdefault(uid.group(1), []).append((row["State"], row["ExitCode"]))
    return found


def test_sacct_and_pods_agree(bed):
    """All pods of a random mixture have one job each, with the pod's state and exit code."""
    stories = [Story(i) for i in range(PODS)]
    never, start = threading.Event(), time.monotonic()
    actor = threading.Thread(target=_act, args=(bed, stories), daemon=True)
    actor.start()
    for i, story in enumerate(stories):
        never.wait(max(0, start + i / RATE - time.monotonic()))
        story.uid = uid_of(bed.kube.create(story.manifest))
    made = time.monotonic() - start
    actor.join(400)
    assert not actor.is_alive(), "not all pods that should be ended ever ran"
    wait_no_live_jobs(bed, 180)
    want = {s.uid: [(s.wanted()[0], as_sacct_prints(s.wanted()[1]))] for s in stories}

    def right():
        rows = _rows(bed)
        wrong = [
            f"{s.name} ({s.kind}): {rows.get(s.uid)}, not {want[s.uid]}"
            for s in stories
            if rows.get(s.uid) != want[s.uid]
        ]
        assert not wrong, f"{PODS - len(wrong)} of {PODS}: {wrong[:5]}"
        return True

    wait_for(right, "sacct to agree with every pod", 120, 0.5)

    def are_pods_right():
        """A pod whose job has reached its time limit is deleted after that."""
        last = {name_of(p): p for _, _, p in list(bed.kube.history["Pod"])}
        wrong = [s.name for s in stories if not s.is_pod_as_told(last[f"default/{s.name}"])]
        assert not wrong, f"pods that ended otherwise: {wrong}"
        return True

    wait_for(are_pods_right, "every pod to have ended as its story says", 60, 0.5)
    print(
        (
            f"# {PODS} of {PODS}; {PODS / made:.0f} pods/s made;"
            f" {dict(Counter(s.kind for s in stories))}"
        ),
        flush=True,
    )


if __name__ == "__main__":
    print(f"# SLURM_KUBE_SEED={SEED}", flush=True)
    run(
        lambda build: Cluster(
            build,
            kwok=8,
            cpus=64,
            memory="64Gi",
            accounting=True,
            agent_options={
                "namespaces": [{"name": "default", "user": "nobody", "group": "nogroup"}],
                "settings": {
                    "limits": {
                        "condition_interval_seconds": 1,
                        "start_seconds": 20,
                        "forced_delete_hold_seconds": 1,
                    }
                },
            },
        )
    )
