/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script.h - what happens to the model cluster from outside: actions of users and administrators,
 * and faults. A script is drawn from a seed, then it is a plain list from which events can be
 * dropped.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_SCRIPT_H
#define SLURMKUBE_TESTSUITE_SIM_SCRIPT_H

#include "testsuite/sim/stage.h"

namespace slurmkube::sim
{

enum class Kind {
	/* users of Kubernetes */
	create_pod,
	create_owner, /* a Job or StatefulSet, which recreates pods */
	create_gang,  /* an owner whose pods start together */
	delete_gang,  /* sometimes another owner of the same name follows */
	suspend_gang,
	resume_gang,
	create_bound_pod, /* spec.nodeName set by its user */
	foreign_bind,     /* another client binds a waiting pod */
	open_gates,
	delete_pod,
	force_delete_pod,
	delete_namespace,
	drop_finalizers,
	fail_unbound_pod, /* a client sets phase Failed on a waiting pod */
	/* what kubelets see */
	end_containers,
	pressure_eviction,
	/* nodes */
	cordon,
	uncordon,
	taint,
	kubelet_stops,
	kubelet_returns,
	outage, /* all kubelets but one stop: more than the agent accepts as lost */
	delete_node,
	add_node,
	unlabel_node,
	unlabel_all, /* all nodes lose the managed label, one after the other */
	label_all,
	/* the API server */
	api_away,
	api_trouble,     /* requests fail in every possible way */
	api_stall,       /* requests wait; some take effect after the client has given up */
	refuse_bindings, /* by a policy or a webhook that is broken, for some time */
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
	write_over_marker, /* a site's script replaces admin_comment; the job goes on */
	native_job,
	other_clusters_job,
	drain_node,
	down_node,
	resume_node,
	/* slurmctld */
	refuse_jobs,  /* for some time */
	full_queue,   /* MaxSubmitJobs and similar limits, for some time */
	lose_answers, /* for some time: calls take effect, their answers are lost */
	slurmctld_killed,
	slurmctld_restored, /* from an older state */
	fail_over,          /* slurmctld moves to the other agent's host */
	break_link,
	slow_link,
	/* the agent */
	kill_agent,
	/* the agent restarts and for some time sees no nodes or no pods: another label selector,
	 * or another cluster's kubeconfig */
	wrong_config,
	freeze_agent,
	step_clock,
	count_
};

const char *text_of(Kind kind);

struct Event {
	Micros at = 0;
	Kind kind = Kind::create_pod;
	std::uint64_t number = 0; /* all other properties of the event derive from it */
};

using Script = std::vector<Event>;

Script write_script(std::uint64_t seed, unsigned events);

} // namespace slurmkube::sim

#endif
