/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planted_bugs.h - bugs that the simulator must find. None of them is in the product: the driver
 * filters what World hears and does.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_PLANTED_BUGS_H
#define SLURMKUBE_TESTSUITE_SIM_PLANTED_BUGS_H

namespace slurmkube::sim
{

enum class Plant {
	none,
	no_uid,           /* DELETE and binding go by the pod's name alone */
	deleting_is_gone, /* a pod counts as gone when its deletion begins */
	open_gate,        /* the binding gate counts no pods */
	early_snapshot,   /* the plugin's snapshot is believed complete when it begins */
	dropped_complete, /* a restarted agent does not complete jobs of the time before */
	mixed_exit_codes, /* an exit code is told as a signal */
	foreign_cluster,  /* jobs of another Kubernetes cluster pass for ours */
	stale_marker,     /* a job number stands for ever for the pod it was first seen with */
	two_leaders,      /* the agent without a link acts as well */
	early_gang,       /* a gang's job passes for allocated while it is pending */
	no_copy,          /* the plugin knows a job by its admin_comment alone */
	late_condition,   /* PodScheduled=False is written whatever has become of the pod since */
	short_list,       /* a pod that a list does not show is gone */
	any_cluster,      /* every API server passes for that of our jobs */
	no_guard,         /* slurmctld takes a second job for the same pod and attempt */
	/* what a component holds is never given back while another has no nodes */
	endless_hold,
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
};

} // namespace slurmkube::sim

#endif
