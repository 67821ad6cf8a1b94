# SPDX-License-Identifier: GPL-2.0-or-later
"""The invariants that hold whatever is broken meanwhile, checked on all that the API server's watches told from the start.

	- At no moment the pods that are bound to a node and not yet terminal ask for more than the node has; a pod that is being
	  deleted counts until it is terminal or gone.
	- A pod is bound once: its node and its Slurm job never change.
	- No two pods have the same Slurm job.
Every file of tests ends with check_invariants(bed). A Slurm that was killed may give a number again that it has not yet saved:
forgets=[(from, until), ...] says when it was away, and what is bound meanwhile is not counted, because its job may be of both lives.
"""
from collections import defaultdict

from .kube import name_of

JOB_ID = "allocation.slurm-kube.io/job-id"
_UNITS = {"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def amount(text):
	"""A Kubernetes quantity as a number."""
	digits = str(text).rstrip("kmMGKi")
	return float(digits) * _UNITS[str(text)[len(digits):]]


def requests(pod):
	"""What the kubelet will count: cpu and memory of the containers (the tests use no init containers)."""
	total = {"cpu": 0.0, "memory": 0.0}
	for container in pod["spec"]["containers"]:
		asked = container.get("resources", {}).get("requests", {})
		for what in total:
			total[what] += amount(asked.get(what, "0"))
	return total


def holds_node(pod):
	return bool(pod["spec"].get("nodeName")) and pod["status"].get("phase") not in ("Succeeded", "Failed")


class _Ledger:
	"""Who holds what on which node, played from the history."""

	def __init__(self, nodes, forgets):
		self.nodes, self.forgets = nodes, forgets
		self.held = defaultdict(dict)  # node -> {uid: requests}
		self.place = {}                # uid -> (node, job id)
		self.owner = {}                # (job id, times that Slurm was killed before) -> uid
		self.told = set()              # uids whose job is in owner
		self.wrong = []

	def play(self, when, what, pod):
		uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
		if not node:
			return
		self._bound_once(when, uid, node, pod)
		if what == "DELETED" or not holds_node(pod):
			self.held[node].pop(uid, None)
		elif uid not in self.held[node]:
			self.held[node][uid] = requests(pod)
			self._not_too_full(node, pod)

	def _bound_once(self, when, uid, node, pod):
		job = pod["metadata"].get("annotations", {}).get(JOB_ID)
		if self.place.setdefault(uid, (node, job)) != (node, job):
			self.wrong.append(f"{name_of(pod)} moved from {self.place[uid]} to {(node, job)}")
		epoch = sum(1 for _, until in self.forgets if until < when)
		between = any(since <= when <= until for since, until in self.forgets)
		if job and not between and uid not in self.told and self.owner.setdefault((job, epoch), uid) != uid:
			self.wrong.append(f"{name_of(pod)} has job {job}, which another pod had")
		self.told.add(uid)

	def _not_too_full(self, node, pod):
		limit = self.nodes.get(node)
		for what in ("cpu", "memory"):
			used = sum(share[what] for share in self.held[node].values())
			if limit and used > amount(limit[what]) + 1e-6:
				self.wrong.append(f"{name_of(pod)} makes {used:g} of {limit[what]} {what} on {node}, which {len(self.held[node])} pods hold")


def check_invariants(bed, forgets=(), unless=lambda pod: False):
	"""Fails with what went wrong. unless(pod): pods that others bound, past Slurm."""
	with bed.kube.changed:
		pods, nodes = list(bed.kube.history["Pod"]), list(bed.kube.history["Node"])
	sizes = {n["metadata"]["name"]: n["status"]["allocatable"] for _, _, n in nodes if n["status"].get("allocatable")}
	ledger = _Ledger(sizes, list(forgets))
	for when, what, pod in pods:
		if not unless(pod):
			ledger.play(when, what, pod)
	assert ledger.place, "no pod was ever bound: there is nothing to check"
	assert not ledger.wrong, f"{len(ledger.wrong)} violations: " + "; ".join(ledger.wrong[:5])
