/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts.h - all that a decision about a component depends on, as it is observed now.
 *
 * A workload has components, each a Slurm job; a component has ranks, each for one pod. A pod alone
 * is a component of one rank. Pure; written anew for every look (world/facts_reader.h).
 */
#ifndef SLURMKUBE_CORE_RECONCILE_FACTS_H
#define SLURMKUBE_CORE_RECONCILE_FACTS_H

#include "src/base/result.h"
#include "src/core/reconcile/action.h"
#include "src/core/reconcile/sides.h"

#include <vector>

namespace slurmkube::core
{

/* What a node that its pod was given says to that, before the binding. */
struct PlaceFacts {
	std::string name;             /* empty: there is no place for it in the allocation */
	std::uint32_t cpus = 0;       /* that the job has there for it */
	bool is_usable = false;       /* it exists and is Ready */
	bool is_native = false;       /* it does not, and Slurm knows it as none of ours */
	bool has_room = false;        /* the binding gate */
	std::string room_holder = {}; /* who is in the way, or empty */
	/* the room is held by a running pod whose job Slurm has lost, and which needs it */
	bool is_in_the_way = false;
	/* why Kubernetes keeps the pod off it, or empty; see placement.h */
	std::string forbidden = {};
	std::optional<ClaimStep> claim_step = {}; /* to be written before the binding */
	std::string claim_wait = {}; /* a volume claim that is not ready for it, or empty */
};

/* Of one pod that exists. */
struct RankFacts {
	PodUid uid;
	const Pod *pod = nullptr;
	PodSide side = PodSide::absent;
	std::uint32_t rank = 0;          /* its rank in the component */
	std::uint32_t workload_rank = 0; /* and over all components */
	bool is_ranked = false;          /* it has a rank */
	bool holds_rank = false;         /* and no other live pod is in it */
	/* bound, and not by somebody else: that one counts for its rank, and that is all */
	bool is_ours = false;
	PlaceFacts node; /* of its rank in the allocation */
	/* the API server said so, since the allocation was found to be wrong */
	bool surely_unbound = false;
	bool is_placeless_long = false; /* others are bound; it has waited too long for a place */
	bool is_of_before = false;      /* it ended under an earlier job */
	bool is_after_end = false;      /* made after the job had ended: it is about the next one */
	/* of a bound pod: to this job or an earlier one of the component */
	bool is_about = false;
	/* bound, and nothing of it has run for longer than is allowed */
	bool start_expired = false;
	/* it is being deleted, and says that it may take longer than is allowed */
	bool is_deletion_slow = false;
	bool may_retry = true; /* back-off after a failed action is over */
	InFlight busy;
	std::int64_t first_seen_us = 0; /* monotonic */
};

/* What all pods of a component ask for. */
struct ComponentSize {
	std::int64_t devices = 0, milli_cpu = 0, memory_bytes = 0;
};

/* Of a component: what the others of its workload mean for it. Written by stand_together(). */
struct OthersFacts {
	bool are_there = false;
	bool has_live = false;   /* a pod of theirs lives */
	bool asks_ahead = false; /* for pods that may come only when those of others run */
	bool gives_back = false; /* its job: they have none, and it is held for nothing */
	std::optional<Condition> waits_for; /* before a job is asked for, or pods are bound */
	/* that it waits for volumes of other components only: its own may be made */
	bool may_bind_volumes = false;
	const SlurmJob *ended = nullptr; /* of another: it is the end of all */
	/* when this agent saw that, monotonic; 0: it had ended before */
	std::int64_t ended_us = 0;
};

/* What has become of a job that waits, since it was submitted. */
struct JobChange {
	bool options = false, exclusions = false; /* it was given others; spec is set */
	std::string submitted_digest;             /* of those that Slurm has */
	std::string trouble;                      /* why it did not take the present ones */
};

struct ComponentFacts {
	bool known = false;    /* all lists are complete and the plugin's snapshot is merged */
	bool is_alone = false; /* one pod that nobody replaces: the job ends with it */
	std::string name_space, name; /* to look its pods up; name empty: any of that namespace */
	std::vector<RankFacts> ranks; /* whose pods exist, in order */
	/* empty: whose pods have not come */
	std::uint32_t rank_count = 0, ended_ranks = 0, empty_ranks = 0;
	std::uint32_t result = 0;      /* wait status: of the first rank that failed, else 0 */
	bool has_deleted_end = false;  /* a rank ended as its pod was deleted: another may come */
	const SlurmJob *job = nullptr; /* the one that counts, see State::current_job() */
	std::vector<JobId> surplus;    /* other live jobs of the same pods */
	/* of pods that wait for a job, with the attempt to use next */
	const Result<JobSpec> *spec = nullptr;
	JobChange change; /* of a pending job */

	/* ---- before a job is asked for ---- */
	bool is_complete = false; /* ranks are known, and enough pods exist to ask for them */
	std::optional<Condition> waits_for; /* in Kubernetes, or for a pause to be over */
	/* the pause after requests that slurmctld has not answered is over */
	bool submit_due = true;
	bool next_job_due = true;         /* the same after jobs that ended before a pod ran */
	bool may_retry = true;            /* back-off after a failed action is over */
	std::optional<Condition> trouble; /* why the last submission failed */
	std::string excess; /* what the job has that no pod asks for; empty: nothing */

	/* ---- a job that waits, or is held ---- */
	bool is_outgrown = false; /* its owner wants another number of pods */
	/* pods have waited too long for their nodes, or for others to leave them */
	bool gives_way = false;
	bool may_give_back = false; /* an allocation that is too small for its pods */
	/* nothing has run, and ranks have been empty, for longer than pods may take to come */
	bool late_long = false;

	/* ---- no pod lives ---- */
	bool is_held = false;     /* too many are absent at once to be believed */
	bool is_unseen = false;   /* this agent has seen none, nor asked for any */
	bool absent_long = false; /* none has lived for longer than is waited for its successor */
	/* no watch has told of their end: the marker says why the job ends */
	bool for_absence = false;
	bool owner_done = false; /* it makes no more pods: finished, suspended or gone */
	/* and says that all went well, whatever became of single pods */
	bool owner_succeeded = false;

	/* ---- the job has ended, or is lost ---- */
	/* slurmctld made the job, could not tell us and killed it: nobody wanted its end */
	bool answer_lost = false;
	bool ended_by_us = false;  /* for want of pods: who waits by now wants another */
	bool missing_long = false; /* bound pods have been without a job for long enough */
	std::string pinned;        /* their nodes: a list with commas */
	/* that this job had, or pods of it that have ended, and that are in service */
	std::vector<std::string> other_nodes;
	std::int64_t start_limit_us = 0; /* for the text */

	InFlight busy;

	/* ---- of several components ---- */
	std::string component; /* for texts: "component 1 (worker)" */
	ComponentSize size;
	/* its first pod may come any moment, and say more than the template */
	bool is_awaited = false;
	bool goes_first = false;   /* the last time the others had nodes, and it had none */
	bool ends_together = true; /* with the others, when the job of one of them has ended */
	/* its job has had nodes and no bound pod, as this agent saw it, monotonic; 0: it is not
	 * so */
	std::int64_t held_since_us = 0;
	std::int64_t job_ended_us = 0; /* as OthersFacts::ended_us, of its own job */
	OthersFacts others;
};

/* It waits in a rank of its own, for which the allocation has no place. */
bool is_misfit(const RankFacts &rank);
/* The node of its rank cannot take it now. */
bool is_crowded_out(const RankFacts &rank);
/* Ours, and bound. */
bool is_bound(const RankFacts &rank);
/* Of a pod of another component: it was made after that end. Both times are in seconds; within one
 * what was seen first came first. */
bool is_made_after(const RankFacts &rank, const SlurmJob &ended, std::int64_t ended_us);

/* Its job has ended, and who waits for it goes with it. A time limit that nothing has run under is
 * no reason: the time passed while the nodes were held. */
bool takes_waiting_along(const ComponentFacts &facts);

/* All ranks have, and nothing says that one of them comes again. */
bool has_succeeded(const ComponentFacts &facts);
bool has_own_live(const ComponentFacts &facts);
bool has_own_bound(const ComponentFacts &facts);
/* Also of other components: those that run may be what the others wait for. */
bool has_live(const ComponentFacts &facts);
/* Wants a job: a pod waits, or will come when those of other components run. */
bool has_waiting(const ComponentFacts &facts);
/* Nothing of it runs, or is about to. */
bool is_untouched(const ComponentFacts &facts);
/* The allocation is wrong and nothing runs in it: it is given back once the API server has said
 * that no pod is bound. */
bool lets_go(const ComponentFacts &facts);
/* Its pods may only be out of sight: a wrong scheduler_name hides them from the watch, and so do
 * rights that are missing. */
bool is_doubtful(const ComponentFacts &facts);

} // namespace slurmkube::core

#endif
