/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_entry.h - what World knows about one pod. The pod's Slurm job belongs to its component, see
 * component.h.
 *
 * Times are monotonic microseconds, 0 if not set.
 */
#ifndef SLURMKUBE_CORE_WORLD_POD_ENTRY_H
#define SLURMKUBE_CORE_WORLD_POD_ENTRY_H

#include "src/base/boxed.h"
#include "src/core/gang/grouping.h"
#include "src/core/reconcile/action.h"
#include "src/core/reconcile/sides.h"

#include <set>

namespace slurmkube::core
{

/* Failed actions are repeated after a pause that doubles. */
struct Retries {
	unsigned failures = 0;
	std::int64_t retry_at_us = 0;
};

/* A pod that runs in a native job, or is to: world/native_pods.h. */
struct NativePod {
	/* of the last binding that was sent, nullopt: in a job of its own; counts while
	 * assumed_node is set */
	std::optional<NativeMark> mark;
	/* when slurmctld first said that there is no such job; 0: it does not say so */
	std::int64_t doubt_us = 0;
	/* the next look that was planned while the pod waits */
	std::int64_t look_us = 0;
};

struct PodEntry {
	/* ---- its workload ---- */
	/* It is known to which component the pod belongs. Until then nothing is done for it. */
	bool grouping_known = false;
	/* Key of the component whose job the pod shares; nullopt: the pod has a job of its own. */
	std::optional<PodUid> component;
	/* What InGang::ends_together was; nullopt: its owners are not known yet. */
	std::optional<bool> ends_together;
	/* Key of the component that the pod belongs to, but runs without; empty: none. */
	PodUid standalone_of;
	/* its rank there; nullopt: not known */
	std::optional<std::uint32_t> standalone_rank;
	/* what its owners ask for is invalid */
	std::optional<Error> refusal;
	std::vector<OwnerId> owners;                  /* the owners that were asked for */
	std::map<std::string, std::string> inherited; /* options of its owners */
	/* options that the pod does not set itself */
	std::set<std::string> inherited_keys;
	std::int64_t deadline_seconds = 0;     /* of the owners; 0: none */
	std::int64_t own_deadline_seconds = 0; /* of the pod itself; 0: none */
	std::int64_t ungrouped_since_us = 0;   /* since when its owners have been asked for */

	/* ---- as Kubernetes shows it ---- */
	/* as the watch shows it, with inherited options added */
	std::optional<Pod> pod;
	/* The last sight of a pod that is gone. On the heap, because few pods are gone and a Pod
	 * takes more than a kilobyte. */
	std::shared_ptr<const Pod> last;
	/* The attempt in the annotations of the pod's binding; 0: none. */
	std::uint32_t pod_attempt = 0;
	/* How often the owner has re-created all pods of the workload before this one; 0: never, or
	 * the owner does not say. */
	std::uint32_t restart = 0;
	/* the rank in the annotations of the pod's binding; nullopt: none */
	std::optional<std::uint32_t> pod_rank;
	/* As of the first sight of a terminal phase: a later deletion does not change it. */
	std::optional<std::uint32_t> end_status;
	bool is_gone = false;      /* the API server says that the pod does not exist */
	bool saw_deletion = false; /* a watch has reported the deletion */
	/* A list did not contain the pod: it is kept as it was last seen. */
	bool is_unseen = false;
	std::uint32_t bind_attempts = 0; /* answered bindings of this agent, failed ones included */
	std::int64_t first_seen_us = 0, terminal_us = 0, deleted_us = 0, gone_us = 0;
	/* when the API server first said that the pod does not exist */
	std::int64_t gone_since_us = 0;
	/* when the API server said that the pod is not bound */
	std::int64_t unbound_at_us = 0;
	unsigned look_failures = 0; /* look-ups in a row that failed */
	std::string look_trouble;   /* why the last one did; empty: it did not */

	/* ---- its place ---- */
	/* The node of a binding that was sent or has succeeded, while no watch has shown it. */
	std::string assumed_node;
	std::string held_node;             /* where Occupancy counts the pod */
	std::optional<Error> bind_failure; /* of the last binding; nullopt: it did not fail */
	/* of the last write for a claim of its devices or volumes; nullopt: it did not fail */
	std::optional<Error> claim_failure;
	/* The node of a binding that failed without a clear answer and may still take effect. */
	std::string late_node;
	/* When the API server is asked whether it did; 0: there is no such binding. */
	std::int64_t late_until_us = 0;
	/* Until when the share is held after a deletion that did not wait for the containers. */
	std::int64_t hold_until_us = 0;
	std::int64_t bound_us = 0; /* when we bound it, until it is seen to run */
	/* The last step that was written for a claim of the pod, or is being written. */
	std::optional<ClaimStep> submitted_step;
	/* The last release of a claim. It may still be carried out, whatever its answer was, as
	 * long as the claim has that version. */
	std::optional<ReleaseDevices> open_release;

	/* Nothing: it is not to run in a native job. On the heap, because few pods are. */
	Boxed<NativePod> native;

	/* The deletion that was decided because a job had ended. Kept until the pod is gone:
	 * slurmctld forgets an ended job after MinJobAge, whatever the API server has accepted. */
	std::optional<DeletePod> eviction;
	bool is_eviction_counted = false;
	/* first seen by a watch, after all pods had been listed */
	bool is_watched = false;

	/* ---- what is under way, and what was reported ---- */
	InFlight busy; /* all flags but slurm */
	Retries retries;
	std::int64_t remove_quiet_until_us = 0, look_quiet_until_us = 0;
	Condition reported;
	std::int64_t last_report_us = 0;
};

} // namespace slurmkube::core

#endif
