/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * teardown.h - skube teardown: takes slurm-kube out of a cluster, in an order in which nobody is harmed.
 *
 * What there is is asked of kubectl, scontrol and squeue each time, so the command may be repeated at any point; the plan that follows is pure.
 * Nothing that runs is ever ended: the plan stops where a person must wait or decide.
 */
#ifndef SLURMKUBE_SKUBE_TEARDOWN_H
#define SLURMKUBE_SKUBE_TEARDOWN_H

#include "src/base/result.h"
#include "src/core/names.h"
#include "src/skube/programs.h"

#include <string>
#include <vector>

namespace slurmkube::skube
{

/* What is left of slurm-kube. */
struct Leftovers {
	Words scheduler_policies, other_policies;	 /* "validatingadmissionpolicy/slurm-kube-scheduler", bindings first */
	Words pods_bound, pods_waiting;			 /* "namespace/name", of our scheduler, not ended */
	Words labelled_nodes, tainted_nodes, namespaces; /* those with the label slurm-kube.io/managed */
	Words roles;					 /* "clusterrole/slurm-kube" and the like, the namespace last */
	Words open_partitions;				 /* of our nodes only, where jobs may still start */
	Words partitions;				 /* all of them */
	Words waiting_jobs, running_jobs;		 /* in these */
	Words dynamic_nodes, written_nodes;		 /* made by the agent; with a line in slurm.conf */
	Words conf_lines;				 /* "file:line: text" of slurm.conf and what it includes */
	bool agent_answers = false;
	std::string label = names::k_managed_label; /* of nodes */
};

struct Step {
	std::string what;
	std::vector<Words> commands; /* none: a person must do it, see details */
	Words details = {};
	bool stops = false; /* nothing after it may be done before it is */
};

/* In the order in which they must be done; what is done already is left out. */
std::vector<Step> teardown_plan(const Leftovers &left);
std::string plan_text(const std::vector<Step> &plan);

struct Teardown {
	std::string socket, scheduler_name, label;
	bool apply = false;
};
/* ok: all is gone or was only to be shown. again: something is left that a person must do first. */
Status teardown(const Teardown &wanted);

} // namespace slurmkube::skube

#endif
