/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown.h - skube teardown: takes slurm-kube out of a cluster, in an order in which nobody is
 * harmed.
 *
 * What there is is asked of kubectl, scontrol and squeue before each step, so the command may be
 * repeated at any point; the plan that follows is pure. Nothing that runs is ever ended: the plan
 * stops where a person must wait or decide. Jobs are known by their markers, and what sites may
 * have made themselves is left to them.
 */
#ifndef SLURMKUBE_SKUBE_TEARDOWN_H
#define SLURMKUBE_SKUBE_TEARDOWN_H

#include "src/base/result.h"
#include "src/core/model/job.h"
#include "src/core/model/names.h"
#include "src/skube/programs.h"

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
	/* "validatingadmissionpolicy/slurm-kube-scheduler", bindings first */
	Words scheduler_policies, other_policies;
	/* "namespace/name", of our scheduler, not ended */
	Words pods_bound, pods_waiting;
	/* those with the label slurm-kube.io/managed */
	Words labelled_nodes, tainted_nodes, namespaces;
	/* "clusterrole/slurm-kube" and the like, the namespace last */
	Words roles;
	/* of our nodes only, where jobs may still start */
	Words open_partitions;
	Words partitions;                   /* all of them */
	std::vector<MarkedJob> marked_jobs; /* in any partition; that wait or run */
	/* in these partitions, without a marker; ids */
	Words other_jobs;
	/* made by the agent; with a line in slurm.conf */
	Words dynamic_nodes, written_nodes;
	/* "file:line: text" of slurm.conf and what it includes */
	Words conf_lines;
	std::set<std::string> pod_uids, pod_namespaces; /* of those pods */
	/* hosts of slurmctld, without domains: an agent is beside each */
	Words controllers;
	std::string this_host;
	bool agent_answers = false, agents_stopped = false;
	std::string server;       /* what kubectl talks to */
	std::string cluster_uid;  /* of its namespace kube-system, which markers have */
	Words kubectl{"kubectl"}; /* and its options */
	std::string label = names::k_managed_label; /* of nodes */
};

struct Step {
	std::string what;
	std::vector<Words> commands; /* none: a person must do it, see details */
	Words details = {};
	bool stops = false;     /* nothing after it may be done before it is */
	bool must_help = false; /* the same, if its commands were run and it is still there */
};

/*
 * In the order in which they must be done; what is done already is left out. conflict: Kubernetes
 * and Slurm do not belong together, as far as one can see.
 */
Result<std::vector<Step>> teardown_plan(const Leftovers &left);
std::string plan_text(const std::vector<Step> &plan);

struct Teardown {
	std::string socket, scheduler_name, label;
	std::string kubeconfig = {}, context = {}; /* for kubectl; empty: what it takes by itself */
	bool apply = false;
	bool agents_stopped = false; /* on the other controllers: somebody has seen to it */
};

inline constexpr char k_nothing_left[] =
	"Nothing is left of slurm-kube in Kubernetes and in Slurm.";

/* Error: something could not be asked; it is not taken for gone. */
Result<Leftovers> leftovers(const Teardown &wanted);

/* ok: all is gone or was only to be shown. again: something is left that a person must do first. */
Status teardown(const Teardown &wanted);

} // namespace slurmkube::skube

#endif
