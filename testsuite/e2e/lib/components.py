# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads whose pods have different roles: the node pools that the roles need, a RayCluster with
such roles, and questions about the Slurm jobs of its components.

The marker of component 0 has the workload's uid, that of component n > 0 has "+n" appended.
"""
import json

from records.times import seconds_or_zero

from .cluster import Cluster
from .expect import LIVE, Sight, bound
from .kube import condition
from .manifests import kwok_node
from .waiting import LIMIT, wait_for
from .workloads import (
    annotation,
    change,
    create,
    delete,
    jobs_of,
    owned,
    pods_of,
    template,
    uid_of,
    wait_none,
    wait_pods,
)

GPU = "nvidia.com/gpu"
CPUS, GPUS = 8, 4  # per node
POOLS = {"cpu-0": "cpu", "gpu-0": "gpu", "gpu-1": "gpu"}
GPU_NODES = {"gpu-0", "gpu-1"}

# A job behind one that waits for the other pool starts by backfill; a job of URGENT preempts others
# at once.
URGENT = {"slurm-kube.io/partition": "urgent"}
SLURM_CONF = [
    "GresTypes=gpu",
    "SchedulerParameters=bf_interval=2,sched_interval=5",
    "PreemptType=preempt/partition_prio",
    "PreemptMode=CANCEL",
    "PartitionName=urgent Nodes=kube DefMemPerCPU=100 PriorityTier=10",
]
RULES = [{"namespace": "default", "user": "root", "partitions": ["kube", "urgent"]}]

# What dynamic nodes need. The files need not exist where slurmctld runs.
GRES_CONF = f"NodeName=gpu-[0-1] Name=gpu File=/dev/kube-gpu[0-{GPUS - 1}]\n"

ON_CPU = {"nodeSelector": {"pool": "cpu"}}
TOLERANT = {"tolerations": [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}]}
ON_GPU = {"nodeSelector": {"pool": "gpu"}, **TOLERANT}


# Waiting parts of the workload get their condition soon, and held nodes are given back soon.
LIMITS = {"condition_interval_seconds": 1, "gang_hold_seconds": 3, "components_wait_seconds": 8}

HEAD = {"cpu": 2}  # stays off GPU nodes because it does not tolerate their taint
WORKER = {"cpu": 3, "devices": {GPU: 2}, "spec": TOLERANT}  # two per node


class PoolTestbed(Cluster):
    """One node without devices, and two with GPUs and a taint that keeps other pods off."""

    def __init__(self, build):
        super().__init__(
            build,
            cpus=CPUS,
            workloads=True,
            native=False,
            slurm_options={"extra": SLURM_CONF},
            agent_options={"namespaces": RULES, "settings": {"limits": LIMITS}},
        )

    def start_slurm(self):
        (self.dir / "gres.conf").write_text(GRES_CONF if self.slurm.dynamic_nodes else "")
        super().start_slurm()

    def start_kubernetes(self):
        super().start_kubernetes()
        self.names = list(POOLS)
        for name, pool in POOLS.items():
            node = kwok_node(name, *self.size, labels={"pool": pool})
            if pool == "gpu":
                node["status"]["capacity"][GPU] = node["status"]["allocatable"][GPU] = str(GPUS)
                node["spec"] = {
                    "taints": [{"key": GPU, "value": "present", "effect": "NoSchedule"}]
                }
            self.kube.create(node)
        for name in POOLS:
            self.plane.wait_ready(name)

    def sweep(self, keep=("steady",)):
        for kind in ("JobSet", "LeaderWorkerSet", "RayCluster"):
            self.plane.kubectl("delete", kind, "--all", "--wait=false")
        super().sweep(keep)


class Ray:
    """A RayCluster of a head and a group of workers, with its pods created as by KubeRay's
    operator.

    head and worker are options of manifests.pod, annotations those of the RayCluster.
    """

    def __init__(self, bed, name, head, worker, count, annotations=None):
        self.bed, self.name, self.size = bed, name, count + 1
        self.worker = worker
        group = {
            "groupName": "gpu-group",
            "replicas": count,
            "minReplicas": count,
            "maxReplicas": count,
            "rayStartParams": {},
            "template": template(**worker),
        }
        self.owner = create(
            bed,
            {
                "apiVersion": "ray.io/v1",
                "kind": "RayCluster",
                "metadata": {"name": name, "annotations": annotations or {}},
                "spec": {
                    "headGroupSpec": {"rayStartParams": {}, "template": template(**head)},
                    "workerGroupSpecs": [group],
                },
            },
        )
        self.uid = self.owner["metadata"]["uid"]
        self.head = f"{name}-head"
        self.workers = [f"{name}-gpu-group-worker-{i}" for i in range(count)]
        self._make(self.head, "head", "headgroup", head)
        for worker_name in self.workers:
            self._make(worker_name, "worker", "gpu-group", worker)
        self.uids = {n: p["metadata"]["uid"] for n, p in wait_pods(bed, name, self.size).items()}

    def _make(self, name, node_type, group, options):
        labels = {"ray.io/cluster": self.name, "ray.io/node-type": node_type, "ray.io/group": group}
        create(self.bed, owned(self.owner, name, labels, **options))

    def make_again(self, worker_name):
        """Deletes a worker if it still exists, and creates another, as the operator does. Returns
        its name, which is new as KubeRay's names are, because kwok may delete twice by name.
        """
        if worker_name in self.pods():
            self.bed.kube.delete("Pod", worker_name)
        self.bed.kube.wait_gone(worker_name)
        name = worker_name + "-again"
        self._make(name, "worker", "gpu-group", self.worker)
        self.workers[self.workers.index(worker_name)] = name
        return name

    def shrink(self, count):
        """Removes the last workers, as the operator does."""
        spec = self.owner["spec"]
        spec["workerGroupSpecs"][0].update(replicas=count, minReplicas=count)
        change(self.bed, "RayCluster", self.name, {"spec": spec})
        for name in self.workers[count:]:
            self.bed.kube.delete("Pod", name)
            self.bed.kube.wait_gone(name)
        self.workers, self.size = self.workers[:count], count + 1

    def pods(self):
        return pods_of(self.bed, self.name)

    def wait_running(self, timeout=LIMIT):
        """Waits until all its pods run; returns them."""

        def look():
            found = self.pods()
            running = [p for p in found.values() if p["status"].get("phase") == "Running"]
            assert len(running) == self.size, said(found)
            return found

        return wait_for(look, f"{self.size} pods of {self.name} to run", timeout)

    def bound(self):
        return sorted(n for n, p in self.pods().items() if p["spec"].get("nodeName"))

    def jobs(self, *states):
        """Its Slurm jobs in one of the states, in order of submission; all jobs without states."""
        return [j for j in jobs_of(self.bed, self.uid) if not states or j["JobState"] in states]

    def wait_job_of(self, role, *states, timeout=LIMIT):
        """Waits until the only live job of the head or the workers is in one of the states; returns
        it.
        """

        def look():
            found = [j for j in self.jobs(*LIVE) if is_of(j, role)]
            assert len(found) == 1 and found[0]["JobState"] in states, told(self.jobs())
            return found[0]

        return wait_for(
            look, f"the {role}'s job of {self.name} to be {' or '.join(states)}", timeout
        )

    def ended(self, timeout=LIMIT):
        """Waits until none of its jobs is live; returns all of them."""

        def look():
            assert not self.jobs(*LIVE), told(self.jobs())
            return self.jobs()

        return wait_for(look, f"all jobs of {self.name} to have ended", timeout)

    def remove(self):
        delete(self.bed, "RayCluster", self.name)
        wait_none(self.bed, self.name)
        return self.ended()


def torch(bed, name, **options):
    """A head, and four workers that need both GPU nodes."""
    return Ray(bed, name, {**HEAD, **options}, {**WORKER, **options}, 4)


def is_of(record, role):
    """True if the job belongs to the role, "head" or "workers": workers have devices, the head has
    none.
    """
    has_devices = any("gpu" in text for field, text in record.items() if "TRES" in field.upper())
    return has_devices == (role == "workers")


def said(pods):
    """The state and condition of each pod, for a failed test."""
    return {
        n: (
            p["status"].get("phase"),
            p["spec"].get("nodeName"),
            condition(p, "PodScheduled").get("message"),
        )
        for n, p in pods.items()
    }


def told(records):
    return [(j["JobId"], j["JobState"], uid_of(j)) for j in records]


def component_of(record):
    """The number after "+" in the marker's uid."""
    return int(uid_of(record).partition("+")[2] or 0)


def job_of(bed, a_pod):
    return bed.slurm.jobs()[int(annotation(a_pod, "job-id"))]


def codes_of(bed, records):
    """Waits until the jobs have ended; returns their states and exit codes."""
    ended = [
        bed.slurm.wait_job(int(j["JobId"]), "COMPLETED", "FAILED", "CANCELLED") for j in records
    ]
    return [(j["JobState"], j["ExitCode"]) for j in ended]


def kept_age(record, before):
    """Fails unless the job counts its age from when that earlier one waited in the queue."""
    since = json.loads(record["AdminComment"]).get("since", 0)
    times = [seconds_or_zero(job["SubmitTime"]) for job in (before, record)]
    assert times[0] <= since < times[1], (since, times)


def seconds_held(record):
    return seconds_or_zero(record["EndTime"]) - seconds_or_zero(record["StartTime"])


def started_whole(bed, pods, within=5):
    """Fails unless every component had its allocation when the first of these pods was bound, and
    the last was bound soon after. Slurm reports starts in whole seconds, rounded down."""
    at = {name: Sight(bed, name, bound).time for name in pods}
    first = min(at.values())
    late = {
        n: job["StartTime"]
        for n, p in pods.items()
        if seconds_or_zero((job := job_of(bed, p))["StartTime"]) > first
    }
    assert not late, f"bound from {first:.1f} on, but with later starts of jobs: {late}"
    assert max(at.values()) - first <= within, f"bound one by one: {at}"


def ranks_of(pods):
    """{name: rank}; fails unless ranks and sizes are counted over all the pods."""
    sizes = {annotation(p, "size") for p in pods.values()}
    assert sizes == {str(len(pods))}, f"sizes {sizes} of {len(pods)} pods"
    ranks = {n: int(annotation(p, "rank")) for n, p in pods.items()}
    assert sorted(ranks.values()) == list(range(len(pods))), f"ranks {ranks}"
    return ranks
