# SPDX-License-Identifier: GPL-2.0-or-later
"""Several Kubernetes clusters under one slurmctld: Slurm's records of one of them, and the rule
that no job of one cluster has a node or a pod of another.

A job belongs to the cluster that its marker names. A node belongs to the cluster whose prefix its
name has in Slurm; Kubernetes does not know the prefix.
"""
import re
from collections import defaultdict
from dataclasses import dataclass, replace

from records.times import seconds_or_zero

from .gangs import workload_of
from .history import History
from .rules import Violation
from .slurm_log import SlurmTruth, nodes_of

NO_NODE = ("", "(null)", "None assigned")
# seconds after its submission in which a restart of slurmctld may mean that the job was forgotten,
# and its number given to another job
FORGOTTEN = 30.0


@dataclass
class KubeCluster:
    """name: as in markers; prefix: of its nodes' names in Slurm."""

    name: str
    prefix: str
    history: History

    def uids(self):
        """Of all pods and their owners."""
        pods = self.history.pods.values()
        return {p.uid for p in pods} | {p.owner["uid"] for p in pods if p.owner}

    def has(self, node):
        return node.startswith(self.prefix)


def cluster_of(fields):
    """The cluster in the marker of a job as scontrol shows it, or None."""
    found = re.search(r'"cluster":"([^"]+)"', fields.get("AdminComment", ""))
    return found and found.group(1)


def _nodes(text):
    return set() if text in NO_NODE else nodes_of(text)


def _renamed(records, prefix):
    """The records with the nodes' names of Kubernetes. Names without the prefix stay."""
    return [
        replace(r, node=",".join(sorted(n.removeprefix(prefix) for n in _nodes(r.node))))
        for r in records
    ]


def _shown_of(truth, name):
    return [(*key, f) for key, f in truth.shown.items() if cluster_of(f) == name]


def truth_of(truth, cluster):
    """What Slurm says about the jobs of one cluster. A number that slurmctld has given to jobs of
    two clusters keeps the ends and records of both; rules select by node.
    """
    own = SlurmTruth(restarts=truth.restarts)
    for number, _, fields in _shown_of(truth, cluster.name):
        own.picture({number: fields})
    for job, lives in truth.lives.items():
        if there := [x for x in lives if any(map(cluster.has, _nodes(x.node)))]:
            own.lives[job] = _renamed(there, cluster.prefix)
    jobs = {n for n, _ in own.shown} | set(own.lives)
    of_jobs = lambda found: {job: x for job, x in found.items() if job in jobs}  # noqa: E731
    renamed = lambda found: {  # noqa: E731
        job: _renamed(x, cluster.prefix) for job, x in of_jobs(found).items()
    }
    own.kills, own.said, own.ends = of_jobs(truth.kills), of_jobs(truth.said), renamed(truth.ends)
    own.accounts = None if truth.accounts is None else renamed(truth.accounts)
    return own


class _Owners:
    """Which cluster a job number belongs to at a time."""

    def __init__(self, truth):
        self.restarts, self.claims = truth.restarts, defaultdict(list)
        for (number, submitted), fields in truth.shown.items():
            if name := cluster_of(fields):
                self.claims[number].append((seconds_or_zero(submitted), name))

    def at(self, job, when):
        """None if no marker tells."""
        submitted, name = max((c for c in self.claims[job] if c[0] <= when), default=(0, None))
        if any(submitted < t <= min(when, submitted + FORGOTTEN) for t in self.restarts):
            return None
        return name


def _mixed(text, at, jobs, pods=()):
    return Violation("mixed", text, at, list(pods), list(jobs))


def _uids_of_others(truth, own, clusters):
    for number, submitted, fields in _shown_of(truth, own.name):
        uid = re.search(r'"uid":"([^"]+)"', fields["AdminComment"]).group(1)
        for other in clusters:
            if other is not own and workload_of(uid) in other.uids():
                text = f"job {number} of {own.name} stands for {uid}, which is of {other.name}"
                yield _mixed(text, seconds_or_zero(submitted), [number], [uid])


def _places(truth, own):
    """(job, its nodes, when, from where) of all jobs, by markers and by starts and ends."""
    owners = _Owners(truth)
    for number, submitted, fields in _shown_of(truth, own.name):
        yield number, fields.get("NodeList", ""), seconds_or_zero(submitted), "scontrol"
    for source, found in (("slurmctld", truth.lives), ("jobcomp", truth.ends)):
        for x in (x for records in found.values() for x in records):
            if owners.at(x.job, x.start) == own.name:
                yield x.job, x.node, x.start, source


def _nodes_of_others(truth, own):
    for job, nodes, at, source in _places(truth, own):
        if wrong := sorted(n for n in _nodes(nodes) if not own.has(n)):
            yield _mixed(f"job {job} of {own.name} had {wrong[0]}, says {source}", at, [job])


def _pods_of_jobs_of_others(truth, own):
    owners = _Owners(truth)
    for pod in (p for p in own.history.pods.values() if p.bound):
        other = owners.at(pod.bound.job, pod.bound.at)
        if other and other != own.name:
            text = f"{pod.name} of {own.name} was bound for job {pod.bound.job} of {other}"
            yield _mixed(text, pod.bound.at, [pod.bound.job], [pod.uid])


def mixed(truth, own, clusters):
    """No job of a cluster ever has a node or a pod of another one. truth: of all clusters."""
    return [
        *_uids_of_others(truth, own, clusters),
        *_nodes_of_others(truth, own),
        *_pods_of_jobs_of_others(truth, own),
    ]
