/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_entry.h - what World knows of one pod. Its Slurm job is its component's: component.h.
 *
 * Times are monotonic microseconds; 0: not set.
 */
#ifndef SLURMKUBE_CORE_WORLD_POD_ENTRY_H
#define SLURMKUBE_CORE_WORLD_POD_ENTRY_H

#include "src/core/gang/grouping.h"
#include "src/core/reconcile/action.h"
#include "src/core/reconcile/sides.h"

#include <memory>
#include <set>

namespace slurmkube::core
{

/* Failed actions are repeated after a pause that doubles. */
struct Retries {
	unsigned failures = 0;
	std::int64_t retry_at_us = 0;
};

struct PodEntry {
	/* ---- its workload ---- */
	/* which component it is of; until then nothing is done about it */
	bool grouping_known = false;
	/* key of the component whose job it shares; none: one of its own */
	std::optional<PodUid> component;
	/* key of the PodGroup that does without it; empty: none */
	PodUid standalone_of;
	std::optional<Error> refusal;                 /* what its owners say makes no sense */
	std::vector<OwnerId> owners;                  /* who was asked for its options */
	std::map<std::string, std::string> inherited; /* options of its owners */
	std::set<std::string> inherited_keys;         /* those that the pod does not name itself */
	std::int64_t deadline_seconds = 0;            /* of its owners; 0: none */
	std::int64_t own_deadline_seconds = 0;        /* of the pod itself; 0: none */
	std::int64_t ungrouped_since_us = 0;          /* its owners are being asked for */

	/* ---- as Kubernetes shows it ---- */
	std::optional<Pod> pod; /* as the watch shows it, with inherited options */
	/* last sight of a pod that is gone: few are, and a pod takes over a kilobyte */
	std::shared_ptr<const Pod> last;
	/* what its annotations say of its binding; 0: nothing */
	std::uint32_t pod_attempt = 0;
	/* how often its owner has made all pods of the workload anew before this one; 0: never, or
	 * its owner does not say */
	std::uint32_t restart = 0;
	std::optional<std::uint32_t> pod_rank; /* the same */
	/* as of the first sight of a terminal phase: a deletion that follows does not change it */
	std::optional<std::uint32_t> end_status;
	bool is_gone = false;      /* the API server says that there is no such pod */
	bool saw_deletion = false; /* a watch has reported it */
	/* a list did not show it: the pod is as it was seen last */
	bool is_unseen = false;
	std::int64_t first_seen_us = 0, terminal_us = 0, deleted_us = 0, gone_us = 0;
	std::int64_t gone_since_us = 0; /* when the API server first denied it */
	std::int64_t unbound_at_us = 0; /* when the API server said that it is not bound */

	/* ---- its place ---- */
	/* a binding was sent or has succeeded, and no watch has shown it */
	std::string assumed_node;
	std::string held_node; /* where Occupancy counts it */
	/* a binding there has failed without a clear answer: it may still take effect */
	std::string late_node;
	/* from then on the API server is asked; 0: there is none such */
	std::int64_t late_until_us = 0;
	/* its share is held after a deletion that did not wait for the containers */
	std::int64_t hold_until_us = 0;
	std::int64_t bound_us = 0; /* by us, and not seen to run */
	/* what was last written for a claim of it, or is being written */
	std::optional<ClaimStep> submitted_step;

	/* ---- what is under way, and what it was told ---- */
	InFlight busy; /* all but slurm */
	Retries retries;
	std::int64_t remove_quiet_until_us = 0, look_quiet_until_us = 0;
	Condition reported;
	std::int64_t last_report_us = 0;
};

} // namespace slurmkube::core

#endif
