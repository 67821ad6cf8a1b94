# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemons that are tortured: one slurmctld, and one Kubernetes cluster or several."""
from lib import Cluster
from lib.clusters import Clusters

from .load import USER

NAMES = ("alpha", "beta")  # of several clusters
SETTINGS = {
    "nodes": {"manage": True, "not_ready_after": 2},
    "limits": {
        "condition_interval_seconds": 1,
        "forced_delete_hold_seconds": 3,
        "components_wait_seconds": 15,
    },
}


def title(bed, daemon):
    """The name of a daemon of one cluster, if there are several."""
    return f"{bed.cluster} {daemon}" if bed.cluster else daemon


def _cluster(options):
    build = options.slurm or options.build
    rules = [{"name": "default", "user": USER, "accounts": ["kube"]}]
    each = {
        "kwok": options.nodes,
        "workloads": "kinds",
        "agent_options": {"namespaces": rules, "settings": SETTINGS},
    }
    if options.clusters == 1:
        return Cluster(build, accounting=True, **each)
    return Clusters(build, NAMES[: options.clusters], accounting=True, each=each)


def testbed(options):
    bed = _cluster(options)
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
