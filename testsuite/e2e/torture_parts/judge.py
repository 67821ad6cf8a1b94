# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of torture: everything settles, nothing has leaked, and the checker reports the
violations.
"""
import os
import threading
import time

from history_checker.accounts import disagreements
from history_checker.clusters import mixed, truth_of
from history_checker.faults import Cause
from history_checker.rules import Evidence, Violation
from lib import wait_for
from lib.expect import LIVE, jobs_by_uid

from .load import NOT_NOW
from .testbed import title

MORE_DESCRIPTORS = 4  # allowed for connections that come and go
MORE_MEMORY = 64 << 20  # allowed for what the allocator keeps
MEMORY_OF_A_JOB = 8 << 10  # slurmctld remembers ended jobs for MinJobAge
# A write of kwok that etcd's death broke was repeated after 353 s. So were deletions: the pod
# stayed Failed, with a deletionTimestamp, until then.
KWOK_REPEATS = 600
_never = threading.Event()


def _uses(pid):
    """(open descriptors, resident bytes)"""
    with open(f"/proc/{pid}/statm", encoding="ascii") as f:
        return len(os.listdir(f"/proc/{pid}/fd")), int(f.read().split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )


class Uses:
    """What agent and slurmctld use at rest: measured before the load, compared after it."""

    def __init__(self, bed):
        self.daemons = {
            title(bed, "slurmkubed"): bed.agent.daemon,
            "slurmctld": bed.slurm.slurmctld,
        }
        self.others = {
            d.name: d
            for d in (
                bed.slurm.munged,
                bed.slurm.accounting.slurmdbd,
                bed.slurm.accounting.mariadbd,
            )
        }
        self.before = self.now()

    def now(self):
        return {name: _uses(d.pid) for name, d in self.daemons.items()}

    def is_back(self, pods):
        def good(name, files, memory):
            was_files, was_memory = self.before[name]
            return (
                files <= was_files + MORE_DESCRIPTORS
                and memory <= was_memory + MORE_MEMORY + pods * MEMORY_OF_A_JOB
            )

        return all(good(name, *use) for name, use in self.now().items())

    def violations(self, pods):
        dead = [name for name, d in (self.daemons | self.others).items() if not d.alive()]
        if dead:
            return [Violation("died", f"{' and '.join(dead)} died by itself", time.time())]
        try:
            wait_for(lambda: self.is_back(pods), "descriptors and memory to be as before", 120, 1)
            return []
        except AssertionError:
            return [
                Violation(
                    "leak",
                    (
                        f"120 s after the end, (descriptors, bytes): {self.now()}; before:"
                        f" {self.before}"
                    ),
                    time.time(),
                )
            ]


def _at_rest(bed, load, deeds):
    """Undoes the changes of load and faults and lets pods end by themselves; deletes those that do
    not, and records that as a cause.
    """
    for name in load.nodes:
        bed.kube.patch("Node", name, {"spec": {"unschedulable": None}})
        record = bed.prefix + name
        if "DOWN" in bed.slurm.node(record)["State"]:
            bed.slurm.run("scontrol", "update", f"NodeName={record}", "State=RESUME", check=False)
    _release(load)
    left = lambda: [
        p
        for p in bed.kube.pods().values()
        if p["status"].get("phase") not in ("Succeeded", "Failed")
    ]  # noqa: E731
    wait_for(
        lambda: _release(load) or load.tidy_rays() or not left(),
        "all pods to end by themselves",
        KWOK_REPEATS,
        2,
    )
    for name in list(load.rays):
        load.delete_ray(None, name)
    for j in bed.kube.list("Job"):
        deeds.causes.append(Cause(time.time(), "delete of the Job", owner=j["metadata"]["uid"]))
        bed.kube.delete("Job", j["metadata"]["name"])
    wait_for(lambda: not _live_jobs(bed), "all jobs with a marker to have ended", 180, 0.5)
    for name in bed.kube.pods():
        try:
            bed.kube.delete("Pod", name)
        except NOT_NOW:
            pass
    bed.kube.wait(lambda: not bed.kube.pods(), "all pods to be gone", KWOK_REPEATS)
    wait_for(lambda: not bed.agent.skube("show", "pods")["pods"], "skube to show no pod", 90, 0.5)


def _release(load):
    load.pictures.take()
    load.release_all()


def _live_jobs(bed):
    return [j["JobId"] for jobs in jobs_by_uid(bed).values() for j in jobs if j["JobState"] in LIVE]


def accounts_settle(bed, truth):
    """Reads the jobs of sacct and slurmctld until they agree, for at most two minutes. The checker
    judges the final state.
    """
    end = time.monotonic() + 120
    while True:
        try:
            look(bed, truth)
            if not disagreements(truth) or time.monotonic() > end:
                return
        except NOT_NOW:
            if time.monotonic() > end:
                raise
        _never.wait(1)


def look(bed, truth):
    final = bed.slurm.jobs()
    truth.picture({n: {**f, "last picture": "yes"} for n, f in final.items()})
    numbers = {n for n, _ in truth.shown} | set(truth.lives) | set(truth.ends)
    truth.account(bed.slurm.accounting.rows(*sorted(numbers)))


def settle(bed, load, deeds):
    """Violations during settling itself: work that should finish and does not."""
    try:
        wait_for(lambda: bed.agent.skube("ping")["ready"], "the agent to be ready", 120, 0.5)
        _at_rest(bed, load, deeds)
        return []
    except (AssertionError, *NOT_NOW) as e:
        pods = [
            p["metadata"]["uid"]
            for p in bed.kube.pods().values()
            if p["status"].get("phase") not in ("Succeeded", "Failed")
        ]
        jobs = [int(n) for n in _live_jobs(bed)]
        return [
            Violation(
                "rest",
                f"the world does not come to rest: {e}; pods {len(pods)}, jobs {jobs[:10]}",
                time.time(),
                pods,
                jobs,
            )
        ]


def read_all(bed, truth):
    """Reads what Slurm has recorded, of all clusters."""
    accounts_settle(bed, truth)
    truth.read_log(bed.slurm.dir / "log/slurmctld.log")
    truth.read_ends(bed.slurm.dir / "jobcomp.txt")


def evidences(sides, truth, settled):
    """[(Evidence, violations of the rule that nothing is mixed)] of each cluster."""
    clusters, until = [side.kube_cluster() for side in sides], time.time()
    if len(sides) == 1:
        return [(Evidence(clusters[0].history, truth, sides[0].deeds, until, settled=settled), [])]
    return [
        (
            Evidence(own.history, truth_of(truth, own), side.deeds, until, settled=settled),
            mixed(truth, own, clusters),
        )
        for side, own in zip(sides, clusters)
    ]
