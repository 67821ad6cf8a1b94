/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown.h - skube teardown: removes slurm-kube from a cluster, in an order that harms no pod or
 * job.
 *
 * Before each step the command asks kubectl, scontrol and squeue what is left, so that it may be
 * repeated at any point; the plan that follows from the answers is pure. The command never ends a
 * pod or job that runs: the plan stops where a person must wait or decide. Jobs are known by their
 * markers. What a site may have created itself is left to the site.
 */
#ifndef SLURMKUBE_SKUBE_TEARDOWN_H
#define SLURMKUBE_SKUBE_TEARDOWN_H

#include "src/base/programs.h"
#include "src/base/result.h"
#include "src/core/model/job.h"
#include "src/core/model/names.h"
#include "src/skube/plan.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::skube
{

struct MarkedJob {
	std::string id, state; /* as squeue prints them */
	core::Marker marker;
};

/* What is left of slurm-kube. */
struct Leftovers {
	/* "validatingadmissionpolicy/slurm-kube-scheduler"; bindings come first */
	Words scheduler_policies, other_policies;
	/* "pod NAMESPACE/NAME" for each pod of the scheduler that has not ended */
	Words pods_bound, pods_waiting;
	/* nodes with label; nodes with the taint, and namespaces with the label,
	 * slurm-kube.io/managed */
	Words labelled_nodes, tainted_nodes, namespaces;
	std::map<std::string, std::string> named_nodes; /* with their names in Slurm, by label */
	Words reported_nodes;                           /* nodes with the condition SlurmDrain */
	/* "clusterrole/slurm-kube" and the like; the namespace comes last */
	Words roles;
	/* partitions of external nodes only in which jobs may still start */
	Words open_partitions;
	Words partitions;                   /* all partitions of external nodes only */
	std::vector<MarkedJob> marked_jobs; /* pending or running, in any partition */
	/* ids of jobs in these partitions without a marker */
	Words other_jobs;
	/* created by the agent, and with a line in slurm.conf */
	Words dynamic_nodes, written_nodes;
	/* "file:line: text" of slurm.conf and the files that it includes */
	Words conf_lines;
	std::set<std::string> pod_uids, pod_namespaces; /* of pods_bound and pods_waiting */
	/* hosts of slurmctld, without domains; each has an agent */
	Words controllers;
	std::string this_host;
	bool agent_answers = false, agents_stopped = false;
	std::string server;       /* the API server that kubectl uses */
	std::string cluster_uid;  /* uid of the namespace kube-system, which markers contain */
	Words kubectl{"kubectl"}; /* with its options */
	/* the only cluster of several that is to be removed, and what the agent puts before the
	 * names of its nodes; empty: slurm-kube as a whole */
	std::string cluster, name_prefix;
	std::set<std::string> clusters;             /* whose features external nodes have */
	std::string label = names::k_managed_label; /* label of nodes */
};

/*
 * The steps in the order in which they must be done, without those that are done. conflict:
 * Kubernetes and Slurm seem not to belong together.
 */
Result<std::vector<Step>> teardown_plan(const Leftovers &left);

struct Teardown {
	std::string socket, scheduler_name, label;
	std::string cluster = {}, name_prefix = {}; /* as in Leftovers */
	std::string kubeconfig = {}, context = {};  /* for kubectl; empty: its defaults */
	bool apply = false;
	bool agents_stopped = false; /* the user says that those on other controllers are */
};

inline constexpr char k_nothing_left[] =
	"Nothing is left of slurm-kube in Kubernetes and in Slurm.";

/* Error: a question failed. What could not be asked for is not assumed to be gone. */
Result<Leftovers> leftovers(const Teardown &wanted);

/* ok: everything is gone, or the plan was only to be shown. again: a person must do something
 * first. */
Status teardown(const Teardown &wanted);

} // namespace slurmkube::skube

#endif
