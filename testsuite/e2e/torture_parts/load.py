# SPDX-License-Identifier: GPL-2.0-or-later
"""Random actions of users: pods of random sizes, run times, exit codes and stop times, and all ways
to end them.

Whatever may end a healthy pod is recorded as a cause before the request is sent, because the
request may take effect although its answer is lost.
"""
import http.client
import random
import subprocess
import threading
import time

from history_checker.faults import Cause
from lib import ApiError, job, pod
from lib.workloads import create, delete, owned

from .rays import labels_of, ray_cluster

# the user of the pods: scancel comes from another user than the agent's, so that slurmctld's log
# distinguishes them
USER = "nobody"
LIVE = 70  # maximum number of pods that have not ended
RATE = 5.0  # actions per second
KEEP = 4.0  # seconds for which an ended pod is kept
CODES = [0] * 12 + [1, 2, 3, 42, 127, 255, 130, 137, 139, 143]
NOT_NOW = (
    ApiError,
    OSError,
    http.client.HTTPException,
    RuntimeError,
    LookupError,
    subprocess.SubprocessError,
)
_never = threading.Event()


POOLS = ("a", "b")  # labels of alternating nodes


def _live(pods):
    return [p for p in pods if p["status"].get("phase") not in ("Succeeded", "Failed")]


class Load:
    """One thread that performs one action after the other until stop()."""

    def __init__(self, bed, deeds, pictures, seed, nodes):
        self.bed, self.deeds, self.pictures, self.nodes = bed, deeds, pictures, nodes
        self.random = random.Random(" ".join(filter(None, (seed, bed.cluster, "load"))))
        self.made, self.number, self.done = 0, 0, {}
        self.ended_since, self.held = {}, set()
        self.rays = {}  # name -> [uid, names of its pods, since when it has been useless or None]
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.deeds_by_weight = [
            (self.make_pod, 40),
            (self.make_job, 3),
            (self.make_gang, 3),
            (self.make_ray, 4),
            (self.delete_ray, 1),
            (self.delete, 7),
            (self.force_delete, 2),
            (self.evict, 4),
            (self.scancel, 6),
            (self.scancel_all, 1),
            (self.hold, 2),
            (self.release, 2),
            (self.cordon, 1),
            (self.uncordon, 2),
            (self.delete_job, 1),
        ]

    def start(self):
        self.thread.start()

    def stop(self):
        self.stopped.set()
        self.thread.join(60)

    def _run(self):
        choices, weights = zip(*self.deeds_by_weight)
        while not self.stopped.is_set():
            deed = self.random.choices(choices, weights)[0]
            numbers = random.Random(
                self.random.random()
            )  # skipping an action must not change the random numbers of later ones
            try:
                if deed(numbers):
                    self.done[deed.__name__] = self.done.get(deed.__name__, 0) + 1
                self._tidy()
            except NOT_NOW:
                pass
            self.stopped.wait(self.random.expovariate(RATE))

    def _pods(self):
        with self.bed.kube.changed:
            return list(self.bed.kube.now["Pod"].values())

    def _some(self, numbers):
        """A live pod that is not being deleted."""
        there = sorted(
            (p for p in _live(self._pods()) if "deletionTimestamp" not in p["metadata"]),
            key=lambda p: p["metadata"]["name"],
        )
        return numbers.choice(there) if there else None

    def _cause(self, what, thing, **more):
        self.deeds.causes.append(
            Cause(
                time.time(),
                what,
                uid=thing["metadata"]["uid"],
                name=thing["metadata"]["name"],
                **more,
            )
        )

    def _life(self, numbers):
        kwok = {
            "run": f"{numbers.choice([0, 50, 200, 500, 1000, 2000, 3000, 5000, 8000])}ms",
            "stop": f"{numbers.choice([0, 0, 100, 1000, 3000, 6000, 10000])}ms",
        }
        if numbers.random() < 0.2:
            kwok["start"] = f"{numbers.choice([100, 500, 2000])}ms"
        return kwok

    def make_pod(self, numbers):
        if len(_live(self._pods())) >= LIVE:
            return False
        self.number += 1
        kwok = {**self._life(numbers), "exit-code": numbers.choice(CODES)}
        self.bed.kube.create(
            pod(
                f"p{self.number}",
                cpu=numbers.choice([1, 1, 2, 2, 3, 4, 6, 8]),
                memory=f"{numbers.choice([64, 128, 512, 2048])}Mi",
                kwok=kwok,
                spec={"terminationGracePeriodSeconds": 30},
            )
        )
        return True

    def make_job(self, numbers):
        if len(_live(self._pods())) >= LIVE:
            return False
        self.number += 1
        manifest = job(
            f"j{self.number}",
            numbers.randint(2, 8),
            cpu=numbers.choice([1, 2, 4]),
            kwok=self._life(numbers),
        )
        manifest["spec"]["backoffLimit"] = 1000  # a deleted pod gets a replacement
        self.bed.kube.create(manifest)
        return True

    def make_gang(self, numbers):
        """An Indexed Job with one Slurm job. The controller replaces each deleted pod."""
        if len(_live(self._pods())) >= LIVE:
            return False
        self.number += 1
        manifest = job(
            f"g{self.number}",
            numbers.randint(2, 6),
            indexed=True,
            cpu=numbers.choice([1, 2]),
            kwok=self._life(numbers),
        )
        manifest["spec"]["backoffLimit"] = 1000
        self.bed.kube.create(manifest)
        return True

    def make_ray(self, numbers):
        """A head in one pool and workers in the other, with a Slurm job each. No controller
        replaces a pod that is gone.
        """
        if len(_live(self._pods())) >= LIVE:
            return False
        self.number += 1
        name = f"r{self.number}"
        roles = {
            "head": self._role(numbers, POOLS[0], 1),
            "worker": self._role(numbers, POOLS[1], numbers.choice([1, 2, 3])),
        }
        names = {
            f"{name}-head": "head",
            **{f"{name}-worker-{i}": "worker" for i in range(numbers.randint(1, 4))},
        }
        owner = create(self.bed, ray_cluster(name, roles, len(names) - 1))
        self.rays[name] = [owner["metadata"]["uid"], set(names), None]
        for pod_name, role in names.items():
            labels = labels_of(name, role)
            self.bed.kube.create(owned(owner, pod_name, labels, **roles[role]))
        return True

    def _role(self, numbers, pool, cpu):
        return {
            "cpu": cpu,
            "kwok": {**self._life(numbers), "exit-code": numbers.choice(CODES)},
            "spec": {"terminationGracePeriodSeconds": 30, "nodeSelector": {"pool": pool}},
        }

    def delete_ray(self, numbers, name=None):
        name = name or (numbers.choice(sorted(self.rays)) if self.rays else None)
        if not name:
            return False
        self.deeds.causes.append(
            Cause(time.time(), "delete of the RayCluster", owner=self.rays[name][0])
        )
        try:
            delete(self.bed, "RayCluster", name)
        except ApiError as e:
            if e.status != 404:
                raise
        del self.rays[name]
        return True

    def tidy_rays(self):
        """Deletes a RayCluster that lacks a pod: it can never start without that pod, and its ended
        pods stay ended.
        """
        there, now = {p["metadata"]["name"] for p in _live(self._pods())}, time.monotonic()
        for name, ray in list(self.rays.items()):
            ray[2] = None if ray[1] <= there else ray[2] or now
            if (
                ray[2]
                and now - ray[2] > KEEP
                and (len(ray[1] & there) == 0 or not self._runs(ray[1] & there))
            ):
                self.delete_ray(None, name)

    def _runs(self, names):
        return any(
            p["metadata"]["name"] in names and p["spec"].get("nodeName")
            for p in _live(self._pods())
        )

    def delete(self, numbers, what="delete", **options):
        thing = self._some(numbers)
        if not thing:
            return False
        self._cause(what, thing)
        self.bed.kube.delete("Pod", thing["metadata"]["name"], **options)
        return True

    def force_delete(self, numbers):
        return self.delete(numbers, "force delete", gracePeriodSeconds=0)

    def evict(self, numbers):
        thing = self._some(numbers)
        if not thing:
            return False
        self._cause("evict", thing)
        name = thing["metadata"]["name"]
        self.bed.kube.request(
            "POST",
            self.bed.kube.path("Pod", name, "eviction"),
            {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": name, "namespace": "default"},
            },
        )
        return True

    def delete_job(self, numbers):
        jobs = sorted(self.bed.kube.list("Job"), key=lambda j: j["metadata"]["name"])
        if not jobs:
            return False
        chosen = numbers.choice(jobs)["metadata"]
        self.deeds.causes.append(Cause(time.time(), "delete of the Job", owner=chosen["uid"]))
        self.bed.kube.delete("Job", chosen["name"])
        return True

    def _jobs(self, *states):
        return sorted(
            n
            for n, f in self.pictures.of(self.bed.cluster).items()
            if f["JobState"] in states and "slurm-kube" in f.get("AdminComment", "")
        )

    def _slurm(self, *command, user=None):
        """Runs in the background, because a slurmctld that is away blocks its clients for long."""

        def run():
            try:
                self.bed.slurm.run(*command, user=user, check=False, timeout=20)
            except NOT_NOW:
                pass

        threading.Thread(target=run, daemon=True).start()

    def scancel(self, numbers, most=1):
        jobs = self._jobs("RUNNING") if most > 1 else self._jobs("RUNNING", "PENDING")
        if not jobs:
            return False
        self._slurm("scancel", *map(str, numbers.sample(jobs, min(most, len(jobs)))), user=USER)
        return True

    def scancel_all(self, numbers):
        """Cancels all running jobs, while others wait for their resources; giving those back takes
        up to ten seconds.
        """
        return self.scancel(numbers, 100)

    def hold(self, numbers):
        jobs = self._jobs("PENDING")
        if jobs:
            chosen = numbers.choice(jobs)
            self.held.add(chosen)
            self._slurm("scontrol", "hold", str(chosen))
        return bool(jobs)

    def release(self, numbers):
        if self.held:
            self._slurm("scontrol", "release", str(self.held.pop()))
        return bool(numbers)

    def release_all(self):
        held = [
            str(n)
            for n, f in self.pictures.of(self.bed.cluster).items()
            if f["JobState"] == "PENDING" and f.get("Reason", "").startswith("JobHeld")
        ]
        if held:
            self.bed.slurm.run("scontrol", "release", ",".join(held), check=False)

    def cordon(self, numbers, value=True):
        self.bed.kube.patch("Node", numbers.choice(self.nodes), {"spec": {"unschedulable": value}})
        return True

    def uncordon(self, numbers):
        return self.cordon(numbers, None)

    def _tidy(self):
        """Deletes ended pods after a while, oldest first."""
        now, ended = time.time(), {}
        for p in self._pods():
            if (
                p["status"].get("phase") in ("Succeeded", "Failed")
                and "ownerReferences" not in p["metadata"]
            ):
                ended[p["metadata"]["name"]] = self.ended_since.get(p["metadata"]["name"], now)
        self.ended_since = ended
        for name in [n for n, since in ended.items() if now - since > KEEP][:20]:
            self.bed.kube.delete("Pod", name)
        self.tidy_rays()
