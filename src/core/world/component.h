/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * component.h - what World knows of a component: of its Slurm job, and of its ranks where it has
 * several. A pod alone is a component of one rank, whose key is the pod's uid; of the others the
 * key is the uid of their owner, see component_key().
 *
 * Times are monotonic microseconds; 0: not set.
 */
#ifndef SLURMKUBE_CORE_WORLD_COMPONENT_H
#define SLURMKUBE_CORE_WORLD_COMPONENT_H

#include "src/core/gang/grouping.h"
#include "src/core/gang/shape.h"
#include "src/core/reconcile/stage.h"
#include "src/core/world/pod_entry.h"

#include <memory>
#include <set>

namespace slurmkube::core
{

/* A node that was given back because it could not take the pods: another is asked for until that is
 * over. */
struct Crowded {
	std::string node;
	/* of the pods that were to go there together; none: of one pod */
	std::optional<Resources> need;
};

/* What the waiting job was last given, and what Slurm refused. */
struct SubmittedOptions {
	JobId job; /* whose options we have changed, to those of this digest */
	std::string digest;
	std::string refused_digest, refused_text; /* Slurm did not want these */
	/* exclusions_digest() of the nodes that the job is kept off; none: its marker says it */
	std::optional<std::string> exclusions;
	bool is_reviewed = false; /* whether they are still the right ones is to be looked at */
};

/* Jobs, one after the other, that Slurm no longer has and whose end nobody has reported. */
struct VanishedJobs {
	unsigned count = 0;
	std::int64_t last_us = 0, submit_not_before_us = 0;
	std::optional<Condition> text;
};

struct Component {
	ComponentStage stage = ComponentStage::unplaced;
	std::int64_t stage_since_us = 0;

	/* ---- its jobs ---- */
	std::vector<JobId> jobs;
	std::vector<JobId> answered; /* those that our own submissions were answered with */
	/* ended by us, of a pod by cancelling: their end says nothing about pods that live */
	std::vector<JobId> given_up;
	/* Slurm answered with them, and the plugin has never reported them: to be cancelled */
	std::vector<JobId> unheard_of;
	/* jobs of bound pods that Slurm has started elsewhere, or not at all, after it forgot their
	 * start */
	std::set<JobId> strays;
	std::optional<JobId> cancelling;
	VanishedJobs vanished;
	std::uint32_t submitted_attempt = 1;
	std::int64_t submitted_us = 0, allocated_us = 0, job_ended_us = 0;

	/* ---- its next job ---- */
	InFlight busy; /* slurm; with several ranks also look */
	Retries retries;
	bool is_refused = false;          /* Slurm wants no such job: a lasting failure */
	std::optional<Condition> trouble; /* why the last submission failed */
	SubmittedOptions submitted;
	std::vector<Crowded> crowded; /* the latest last */
	unsigned given_back = 0;      /* allocations, to a pod without a job */
	std::int64_t slurm_quiet_until_us = 0;

	/* when the check before binding is tried again without an event */
	std::int64_t admission_look_us = 0;

	/* ---- of several ranks ---- */
	std::int64_t first_seen_us = 0;
	std::set<std::string> bound_nodes; /* where its pods are bound */
	std::uint32_t bound_attempt = 0;   /* and the highest attempt under which */
	bool is_gone = false;              /* the API server says that none of its pods exists */
	std::int64_t look_quiet_until_us = 0;
};

/* How the last pod in a rank ended. */
struct RankEnd {
	std::uint32_t restart = 0; /* of the workload, see PodEntry::restart */
	std::uint32_t attempt = 0;
	std::int64_t created = 0; /* of the pod */
	bool was_deleted = false; /* it ended as it was deleted */
	bool is_gone = false;     /* there is no such pod any more */
	std::uint32_t status = 0; /* wait status */
};

/* The ranks of a component that may have several. */
struct Gang {
	GangId id;
	OwnerId owner;
	std::uint32_t minimum = 0;  /* of a PodGroup */
	std::vector<Rank> ranks;    /* empty: not known yet */
	std::vector<Role> roles;    /* that they were made from */
	std::size_t components = 1; /* of the workload that it is one of */
	/* with the other components; unknown until an owner of a pod has been seen */
	std::optional<bool> ends_together;
	/* of each rank its number over all components, ascending; empty: the same */
	std::vector<std::uint32_t> workload_ranks;
	/* how many the workload has; 0: as many as there are ranks */
	std::uint32_t workload_size = 0;
	bool goes_first = false; /* as in ComponentFacts */
	/* whose options its job has while none of its pods has come */
	std::shared_ptr<const Pod> stand_in;
	GangShape shape;
	/* at most so many tasks, 0: as many as fit; not there: not planned yet */
	std::optional<std::uint32_t> per_node;
	std::map<PodUid, std::optional<std::uint32_t>> members; /* and their ranks */
	/* members without an index, and their roles: they take a rank with the next look */
	std::map<PodUid, std::string> unranked;
	std::map<std::uint32_t, RankEnd> ends;
	std::uint32_t restart = 0; /* the latest of its pods, see PodEntry::restart */
	/* creation of the pod that came first when none was bound: ends of earlier ones do not
	 * count, in workloads of several components */
	std::int64_t run_since = 0;
	/* ranks whose pods were too large for the allocation: they have jobs of their own */
	std::set<std::uint32_t> standalone;
	unsigned given_back = 0; /* allocations that were too small, since a pod was bound */
	/* ends under an earlier one say nothing of the present job; 0: the job's own */
	std::uint32_t first_attempt = 0;
	std::int64_t looked_us = 0;            /* when all members were last looked at */
	bool was_seen = false;                 /* a member, by this agent */
	unsigned never_came = 0;               /* jobs in a row that were ended for want of pods */
	std::int64_t submit_not_before_us = 0; /* after the last of them */
	std::optional<Condition> late_text;
	/* a job that waits for another number of tasks than the owner wants by now */
	JobId outgrown;
};

/* Over all components of the workload. */
std::uint32_t workload_rank_of(const Gang &gang, std::uint32_t rank);
std::uint32_t workload_size_of(const Gang &gang);
/* nullopt: that rank is another component's */
std::optional<std::uint32_t> rank_in_component(const Gang &gang, std::uint32_t workload_rank);

} // namespace slurmkube::core

#endif
