/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * component.h - what World knows about a component: about its Slurm job and, if it may have several
 * ranks, about those. A pod alone is a component of one rank, and its key is the pod's uid. The key
 * of any other component is derived from the uid of its owner, see component_key().
 *
 * Times are monotonic microseconds, 0 if not set, unless stated otherwise.
 */
#ifndef SLURMKUBE_CORE_WORLD_COMPONENT_H
#define SLURMKUBE_CORE_WORLD_COMPONENT_H

#include "src/core/gang/grouping.h"
#include "src/core/gang/shape.h"
#include "src/core/reconcile/action.h"
#include "src/core/reconcile/stage.h"
#include "src/core/world/asked_ends.h"
#include "src/core/world/pod_entry.h"

#include <memory>
#include <set>

namespace slurmkube::core
{

/* A node that was given back because it could not take the pods. The next jobs exclude it until it
 * can take them. */
struct Crowded {
	std::string node;
	/* of all pods that were to go there together; nullopt: of the only pod */
	std::optional<Resources> need;
};

/* What the waiting job was last given, and what Slurm refused. */
struct SubmittedOptions {
	JobId job; /* the job whose options we have changed to those of digest */
	std::string digest;
	std::string refused_digest, refused_text; /* options that Slurm refused, and why */
	/* exclusions_digest() of the nodes that the job must not get; nullopt: see its marker */
	std::optional<std::string> exclusions;
	bool is_reviewed = false; /* the excluded nodes must be judged again */
};

/* Successive jobs that have vanished from Slurm without a report of their end. */
struct VanishedJobs {
	unsigned count = 0;
	std::int64_t last_us = 0, submit_not_before_us = 0;
	std::optional<Condition> text;
};

struct Component {
	ComponentStage stage = ComponentStage::ungrouped;
	std::int64_t stage_since_us = 0;

	/* ---- its jobs ---- */
	std::vector<JobId> jobs;
	std::vector<JobId> answered; /* with these, slurmctld answered our own submissions */
	/* Jobs that we ended, for a pod by cancelling: their end says nothing about live pods. */
	std::vector<JobId> given_up;
	/* Jobs that slurmctld answered with, but that the plugin has never reported: to be
	 * cancelled. */
	std::vector<MarkedJob> unheard_of;
	/* Jobs of bound pods that a restored slurmctld has forgotten to be running, and has started
	 * on another node or not at all. */
	std::set<JobId> strays;
	AskedEnds asked_ends;
	VanishedJobs vanished;
	std::uint32_t submitted_attempt = 1;
	std::int64_t submitted_us = 0, allocated_us = 0;
	std::int64_t job_ended_us = 0; /* when the last job was first seen to have ended */
	/* a job that this agent saw end, and when */
	JobId end_seen_of;
	std::int64_t end_seen_us = 0;
	bool has_evictions = false; /* PodEntry::eviction of its pods */

	void note_end_seen(JobId job, std::int64_t now_us)
	{
		end_seen_of = job;
		job_ended_us = end_seen_us = now_us;
	}
	/* 0: this agent did not see that job end */
	[[nodiscard]] std::int64_t end_seen_us_of(JobId job) const
	{
		return job == end_seen_of ? end_seen_us : 0;
	}

	/* ---- its next job ---- */
	InFlight busy; /* only slurm; for several ranks, also look */
	Retries retries;
	/* Slurm refused the job: a lasting failure, retried once a minute */
	bool is_refused = false;
	std::optional<Condition> trouble; /* why the last submission failed */
	SubmittedOptions submitted;
	std::vector<Crowded> crowded; /* the most recent last */
	/* age of jobs that its pods lost before they ran (ComponentFacts::aged_since) */
	std::int64_t age_seconds = 0;
	unsigned given_back = 0; /* allocations, in favour of a pod without a job */
	/* allocations given back in a row because bindings failed */
	unsigned failed_bindings = 0;
	std::int64_t looked_up_us = 0; /* last answer of the API server about one of its pods */
	std::int64_t slurm_quiet_until_us = 0;

	/* When the check before the binding is repeated, even without an event. */
	std::int64_t admission_look_us = 0;

	/* ---- only with several ranks ---- */
	std::int64_t first_seen_us = 0;
	std::set<std::string> bound_nodes; /* where its pods are bound */
	std::set<std::string> bound_names; /* in Slurm, at the binding; empty: the same */
	/* the highest attempt under which one of them is bound */
	std::uint32_t bound_attempt = 0;
	bool is_gone = false; /* the API server has said that none of its pods exists */
	std::int64_t look_quiet_until_us = 0;
};

/* How the last pod in a rank ended. */
struct RankEnd {
	/* of the workload when the pod was made, see PodEntry::restart */
	std::uint32_t restart = 0;
	std::uint32_t attempt = 0;
	std::int64_t created = 0; /* of the pod, seconds since the epoch */
	bool was_deleted = false; /* the pod ended because it was deleted */
	bool is_gone = false;     /* the pod does not exist */
	std::uint32_t status = 0; /* wait status */
};

/* The ranks of a component that may have several. */
struct Gang {
	GangId id;
	OwnerId owner;
	std::uint32_t minimum = 0;  /* of a PodGroup; 0: the gang is not a PodGroup */
	std::vector<Rank> ranks;    /* empty: not known yet */
	std::vector<Role> roles;    /* from which the ranks were made */
	std::size_t components = 1; /* number of components of its workload */
	/* For each rank, its number over all components, ascending; empty: the same numbers. */
	std::vector<std::uint32_t> workload_ranks;
	/* Number of ranks of the whole workload; 0: as many as this component has. */
	std::uint32_t workload_size = 0;
	bool goes_first = false; /* see ComponentFacts::goes_first */
	/* A template whose options the job has while none of the component's pods has come. */
	std::shared_ptr<const Pod> stand_in;
	/* Templates whose resources devices back, with these devices, by role
	 * (note_backed_roles()). */
	std::map<std::string, std::shared_ptr<const Pod>> backed_roles;
	GangShape shape;
	/* Maximum number of tasks per node; 0: as many as fit; nullopt: not planned yet. */
	std::optional<std::uint32_t> per_node;
	std::map<PodUid, std::optional<std::uint32_t>> members; /* with their ranks */
	/* Members without an index, and their roles. The next look at the component assigns their
	 * ranks. */
	std::map<PodUid, std::string> unranked;
	std::map<std::uint32_t, RankEnd> ends;
	std::uint32_t restart = 0; /* of its latest pods, see PodEntry::restart */
	/* For workloads of several components: when the first of the pods was created, seconds
	 * since the epoch, that lived when pods joined and none was bound. Ends of pods that were
	 * created earlier and are gone do not count. */
	std::int64_t run_since = 0;
	/* pods for which may_begin_run() is true have joined since the last look */
	bool has_newcomers = false;
	/* Ranks whose pods were too large for the allocation and therefore have jobs of their
	 * own. */
	std::set<std::uint32_t> standalone;
	/* allocations that were too small, since a pod was last bound */
	unsigned given_back = 0;
	/* Ends under earlier attempts say nothing about the present job; 0: the attempt of the
	 * job. */
	std::uint32_t first_attempt = 0;
	std::int64_t looked_us = 0; /* when all members were last looked at */
	bool was_seen = false;      /* this agent has seen a member */
	/* jobs in a row that were ended because pods never came */
	unsigned never_came = 0;
	std::int64_t submit_not_before_us = 0; /* the pause after the last of these jobs */
	std::optional<Condition> late_text;
	/* A pending job with another number of tasks than the owner wants. */
	JobId outgrown;
};

/* The number of a rank, and of all ranks, over all components of the workload. */
std::uint32_t workload_rank_of(const Gang &gang, std::uint32_t rank);
std::uint32_t workload_size_of(const Gang &gang);
/* nullopt: the rank belongs to another component. */
std::optional<std::uint32_t> rank_in_component(const Gang &gang, std::uint32_t workload_rank);

} // namespace slurmkube::core

#endif
