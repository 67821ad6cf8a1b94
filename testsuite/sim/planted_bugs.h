/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planted_bugs.h - planted bugs, which the simulator must find. None of them is in the product
 * code: the driver alters what World hears and does.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_PLANTED_BUGS_H
#define SLURMKUBE_TESTSUITE_SIM_PLANTED_BUGS_H

namespace slurmkube::sim
{

enum class Plant {
	none,
	no_uid,           /* deletion and binding use the pod's name alone */
	deleting_is_gone, /* a pod counts as gone when its deletion begins */
	open_gate,        /* the check before binding counts no pods */
	early_snapshot,   /* a snapshot counts as complete as soon as it begins */
	dropped_complete, /* a restarted agent does not complete jobs of its earlier life */
	mixed_exit_codes, /* an exit code is reported as a signal */
	foreign_cluster,  /* jobs of another Kubernetes cluster count as ours */
	stale_marker,     /* a job number always denotes the pod first seen with it */
	two_leaders,      /* the agent without a link acts, too */
	early_gang,       /* a gang's job counts as allocated while it is pending */
	no_copy,          /* the plugin recognises jobs by admin_comment alone */
	late_condition,   /* PodScheduled=False is written although the pod has changed since */
	short_list,       /* a pod missing from a list counts as gone */
	any_cluster,      /* every API server counts as the one of our jobs */
	no_guard,         /* slurmctld accepts a second job for the same pod and attempt */
	/* a component holds its nodes forever while another component has none */
	endless_hold,
	blind_claims, /* a claim's allocation is not seen */
};

struct PlantName {
	Plant plant;
	const char *name;
};

inline constexpr PlantName k_plants[] = {
	{Plant::no_uid, "no-uid"},
	{Plant::deleting_is_gone, "deleting-is-gone"},
	{Plant::open_gate, "open-gate"},
	{Plant::early_snapshot, "early-snapshot"},
	{Plant::dropped_complete, "dropped-complete"},
	{Plant::mixed_exit_codes, "mixed-exit-codes"},
	{Plant::foreign_cluster, "foreign-cluster"},
	{Plant::stale_marker, "stale-marker"},
	{Plant::two_leaders, "two-leaders"},
	{Plant::early_gang, "early-gang"},
	{Plant::no_copy, "no-copy"},
	{Plant::late_condition, "late-condition"},
	{Plant::short_list, "short-list"},
	{Plant::any_cluster, "any-cluster"},
	{Plant::no_guard, "no-guard"},
	{Plant::endless_hold, "endless-hold"},
	{Plant::blind_claims, "blind-claims"},
};

} // namespace slurmkube::sim

#endif
