/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile_gang.h - what to do about pods that share one external job, from what is observed now.
 *
 * Pure and total, like reconcile.h, whose sides and actions it uses. The job is submitted for all seats at once; pods are bound as they come, because controllers
 * make some only after others are Ready. The allocation stays while a member lives, and for a while longer: a failed member is replaced into its own seat.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_RECONCILE_GANG_H
#define SLURMKUBE_CORE_RECONCILE_RECONCILE_GANG_H

#include "src/core/reconcile/reconcile.h"

namespace slurmkube::core
{

struct MemberFacts {
	PodUid uid;
	const Pod *pod = nullptr;
	PodSide side = PodSide::absent;
	bool is_seated = false;     /* it has a rank */
	bool is_ours = false;       /* bound, and not by somebody else: that one counts for its seat, and that is all */
	bool has_seat = false;      /* and no other live member is in it */
	std::uint32_t seat = 0;     /* its rank */
	std::string node;           /* of its seat in the allocation; empty: none */
	std::uint32_t cpus = 0;     /* of a task there */
	bool node_usable = false, has_room = false;
	std::string forbidden;      /* why Kubernetes keeps the pod off that node; empty: it does not */
	std::optional<ClaimStep> claim_step; /* to be written before it is bound */
	std::string claim_wait;     /* a volume claim that is not ready for it; empty: none */
	bool is_in_the_way = false; /* its place is taken by a pod that runs and whose job waits for it */
	bool surely_unbound = false; /* the API server said so, since the allocation was found to be wrong */
	bool is_placeless_long = false; /* others are bound; it has waited too long for a place */
	bool is_after_end = false;  /* made after the job had ended: it is about the next one */
	bool is_deletion_slow = false; /* as in reconcile.h */
	bool is_about = false;      /* of a bound pod: to this job or an earlier one of the gang */
	std::string room_holder = {}; /* as in GroupFacts */
	bool may_retry = true;
	Busy busy;
	std::uint32_t rank = 0;     /* of its seat, over all components */
	std::int64_t first_seen_us = 0; /* monotonic */
};

/* What all pods of a component ask for. */
struct ComponentSize {
	std::int64_t devices = 0, milli_cpu = 0, memory_bytes = 0;
};

/* Of a component: what the others of its workload mean for it. Written by stand_together(). */
struct OthersFacts {
	bool are_there = false;
	bool has_live = false;      /* a pod of theirs lives */
	bool asks_ahead = false;    /* for pods that may come only when those of others run */
	bool gives_back = false;    /* its job: they have none, and it is held for nothing */
	std::optional<Condition> waits_for; /* before a job is asked for, or pods are bound */
	const SlurmJob *ended = nullptr; /* of another: it is the end of all */
	std::int64_t ended_us = 0;       /* when this agent saw that, monotonic; 0: it had ended before */
};

struct GangFacts {
	bool known = false;
	std::vector<MemberFacts> members; /* those that exist, in rank order */
	std::uint32_t seats = 0, ended_seats = 0;
	std::uint32_t result = 0;   /* wait status: of the first rank that failed, else 0 */
	const SlurmJob *job = nullptr;
	std::vector<JobId> surplus;
	bool ended_by_us = false;   /* the job, for want of pods: who waits by now wants another */
	bool is_complete = false;   /* seats are known, and enough pods exist to ask for them */
	bool owner_done = false;    /* it makes no more pods: finished, suspended or gone */
	bool owner_succeeded = false; /* and says that all went well, whatever became of single pods */
	bool is_held = false;       /* as in GroupFacts */
	bool absent_long = false;   /* no member has lived for longer than the hold time */
	bool is_unseen = false;     /* the same, but this agent has seen no member, nor asked for any */
	std::string name_space;     /* of its pods */
	bool late_long = false;     /* nothing has run, and seats have been empty, for longer than pods may take to come */
	std::uint32_t empty_seats = 0; /* whose pods have not come */
	bool gives_way = false;     /* members have been in the way of pods that run, for long enough */
	bool may_give_back = false; /* an allocation that is too small for its pods */
	bool is_outgrown = false;   /* the pending job: its owner wants another number of pods */
	bool missing_long = false;  /* bound pods have been without a job for long enough */
	bool submit_due = true; /* as in GroupFacts */
	bool may_retry = true, next_job_due = true, answer_lost = false;
	JobChange change;           /* of a pending job; spec is set where there is any */
	std::optional<Condition> trouble, waits_for; /* waits_for: why the gang is not complete */
	const Result<JobSpec> *spec = nullptr;
	std::string excess;         /* what the job has that no pod asks for; empty: nothing */
	std::string pinned;         /* nodes of bound members, for a job that Slurm has lost: a list with commas */
	/* that this job had, or pods of it that have ended, and that are in service */
	std::vector<std::string> other_nodes;
	Busy busy;
	std::string component;      /* for texts: "component 1 (worker)" */
	ComponentSize size;
	bool is_awaited = false;    /* its first pod may come any moment, and say more than the template */
	bool goes_first = false;    /* the last time the others had nodes, and it had none */
	std::int64_t allocated_us = 0; /* when this agent first saw the job with nodes, monotonic */
	std::int64_t job_ended_us = 0; /* as OthersFacts::ended_us, of its own job */
	OthersFacts others;
};

struct GangAction {
	PodUid pod; /* empty text: the gang's own */
	Action action;
};

/* It waits in a seat of its own, for which the allocation has no place. */
bool is_misfit(const MemberFacts &member);
/* The node of its seat cannot take it now. */
bool is_crowded_out(const MemberFacts &member);
/* Nothing of the gang runs, or is about to. */
bool is_untouched(const GangFacts &facts);

std::vector<GangAction> reconcile_gang(const GangFacts &facts);

/* Somebody wanted it, or its time was over: pods that wait go as well. */
bool is_wish(const SlurmJob &ended);
/* Of a pod of another component: it was made after that end. Both times are in seconds; within one what was seen first came first. */
bool is_made_after(const MemberFacts &member, const SlurmJob &ended, std::int64_t ended_us);

/* Whether the allocation is wrong and nothing of the gang runs in it: it is given back once the API server has said that no member is bound. */
bool lets_go(const GangFacts &facts);

/* So many members are told of a pending job, by rank: a write for every pod of a large gang would be in the way of others. Refusals are told to all. */
inline constexpr std::size_t k_told_members = 16;

/* FAILED 124:0, as timeout(1) says it: pods of the gang never came */
inline constexpr std::uint32_t k_status_never_came = 124U << 8;

} // namespace slurmkube::core

#endif
