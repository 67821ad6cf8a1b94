#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods as they come from their controllers: JobSet's and LeaderWorkerSet's own managers, Kubernetes' own, and kinds whose pods the tests make themselves."""
from lib import ApiError, Cluster, equal, pod, run
from lib.workloads import PATHS, create, delete, job_set, path_of, replicated_job, wait_none, wait_pods


# ---- the bed itself ----

def test_bed_has_the_real_controllers(bed):
	"""JobSet's webhook refuses what its API server's schema lets through; its manager makes pods with its labels."""
	try:
		create(bed, job_set("wrong", replicated_job("a"), successPolicy={"operator": "Any", "targetReplicatedJobs": ["b"]}))
		raise AssertionError("the webhook of JobSet is not asked")
	except ApiError as e:
		assert "vjobset.kb.io" in str(e), e
	create(bed, job_set("right", replicated_job("a", 2, scheduler="nobody")))
	labels = {p["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"] for p in wait_pods(bed, "right", 2).values()}
	equal(labels, {"a"})
	delete(bed, "JobSet", "right")
	wait_none(bed, "right")


def test_bed_knows_all_kinds(bed):
	"""Also those that only have a CRD, and the API server's own PodGroups, which are off by default."""
	for kind in PATHS:
		equal(bed.kube.request("GET", path_of(kind) + "?limit=1")["kind"], kind.partition(".")[0] + "List")


if __name__ == "__main__":
	run(lambda build: Cluster(build, kwok=4, cpus=8, workloads=True))
