/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script.h - what happens to the model world from outside: users, administrators, faults. Drawn
 * from a seed, then a plain list: events can be dropped.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_SCRIPT_H
#define SLURMKUBE_TESTSUITE_SIM_SCRIPT_H

#include "testsuite/sim/stage.h"

namespace slurmkube::sim
{

enum class Kind {
	/* users of Kubernetes */
	create_pod,
	create_owner, /* a Job or StatefulSet that makes pods again */
	create_gang,  /* an owner whose pods start together */
	delete_gang,  /* now and then another of its name comes */
	suspend_gang,
	resume_gang,
	create_bound_pod, /* spec.nodeName set by its user */
	foreign_bind,     /* somebody else binds a waiting pod */
	open_gates,
	delete_pod,
	force_delete_pod,
	delete_namespace,
	drop_finalizers,
	fail_unbound_pod, /* somebody sets phase Failed of a waiting pod */
	/* what kubelets see */
	end_containers,
	pressure_eviction,
	/* nodes */
	cordon,
	uncordon,
	taint,
	kubelet_stops,
	kubelet_returns,
	outage, /* all kubelets but one stop: more than are believed to be lost */
	delete_node,
	add_node,
	unlabel_node,
	unlabel_all, /* every node loses the managed label, one after the other */
	label_all,
	/* the API server */
	api_away,
	api_trouble, /* requests fail in every way */
	api_stall,   /* requests wait; some are carried out after their sender has given up */
	break_watch,
	expire_watch, /* 410: list again */
	slow_watch,
	repeat_events,
	/* users and administrators of Slurm */
	scancel,
	hold,
	release,
	preempt,
	suspend,
	resume_job,
	time_out,
	write_over_marker, /* a site's script: admin_comment has another text, the job goes on */
	native_job,
	other_clusters_job,
	drain_node,
	down_node,
	resume_node,
	/* slurmctld */
	refuse_jobs,  /* for a time */
	full_queue,   /* MaxSubmitJobs and its like, for a time */
	lose_answers, /* for a time: calls arrive, their answers do not */
	slurmctld_killed,
	slurmctld_restored, /* from an older state */
	fail_over,          /* slurmctld moves to the other agent's host */
	break_link,
	slow_link,
	/* the agent */
	kill_agent,
	/* it is restarted and sees no node or no pod for a time: another selector, or another
	 * cluster's kubeconfig */
	wrong_config,
	freeze_agent,
	step_clock,
	count_
};

const char *text_of(Kind kind);

struct Event {
	Micros at = 0;
	Kind kind = Kind::create_pod;
	std::uint64_t number = 0; /* everything else about it is drawn from this */
};

using Script = std::vector<Event>;

Script write_script(std::uint64_t seed, unsigned events);

} // namespace slurmkube::sim

#endif
