/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group.h - what World knows of a pod, or of a gang, and of its job. A gang is a group without a pod,
 * which has the job, and its members' groups, which have the pods.
 */
#ifndef SLURMKUBE_CORE_WORLD_GROUP_H
#define SLURMKUBE_CORE_WORLD_GROUP_H

#include "src/core/gang/grouping.h"
#include "src/core/gang/shape.h"
#include "src/core/reconcile/stage.h"

#include <memory>
#include <set>

namespace slurmkube::core
{

/* A node that a pod had, and that could not take it: it asks for another until that is over. */
struct Crowded {
	std::string node;
	std::optional<Resources> need; /* of a lead: for its pods that were to go there */
};

struct Group {
	ComponentStage stage = ComponentStage::unplaced; /* of its component; of a gang that of its lead counts */
	std::int64_t stage_since_us = 0; /* monotonic; 0: nobody has looked yet */
	bool is_placed = false;  /* it is known whether the pod runs alone; until then nothing is done about it */
	std::optional<PodUid> gang; /* the lead of the gang that it is a member of */
	PodUid loose_of;            /* the lead of the PodGroup that does without it; empty: none */
	std::optional<Error> refusal; /* what its owners say makes no sense */
	std::map<std::string, std::string> inherited; /* options of its owners */
	std::set<std::string> inherited_keys;         /* those that its pod does not name itself */
	std::vector<OwnerId> owners;                  /* who was asked for them */
	std::int64_t deadline_seconds = 0;            /* of its owners; 0: none */
	std::int64_t own_deadline_seconds = 0;        /* of the pod itself; 0: none */
	std::optional<Pod> pod;  /* as the watch shows it, with inherited options */
	std::uint32_t pod_attempt = 0;         /* what its annotations say of its binding; 0: nothing */
	std::optional<std::uint32_t> pod_rank; /* the same */
	std::shared_ptr<const Pod> last; /* last sight of a pod that is gone: few are, and a pod takes over a kilobyte */
	std::vector<JobId> jobs;
	std::vector<JobId> answered; /* jobs that our own submissions were told of */
	std::set<JobId> strays;      /* jobs of a bound pod that Slurm has started elsewhere, or not at all, after it forgot their start */
	std::vector<JobId> given_up; /* jobs that we ended ourselves, of a pod by cancelling: their end says nothing about pods that live */
	std::set<std::string> member_nodes; /* of a gang's lead: where members are bound */
	std::uint32_t member_attempt = 0;   /* and the highest attempt under which */
	Busy busy;
	std::string assumed_node; /* a binding was sent or has succeeded, and no watch has shown it */
	std::string held_node;    /* where Occupancy counts it */
	std::string late_node;    /* a binding there has failed without a clear answer: it may still take effect */
	std::int64_t late_until_us = 0; /* from then on the API server is asked; 0: there is none such */
	Condition reported;
	std::optional<Condition> trouble;
	unsigned failures = 0;
	bool is_refused = false; /* Slurm wants no such job: a lasting failure */
	bool is_gone = false;    /* the API server says that there is no such pod */
	std::int64_t gone_since_us = 0; /* when it first said so */
	bool saw_deletion = false; /* a watch has told of it */
	bool is_unseen = false;    /* a list did not show it: the pod is as it was seen last */
	std::optional<std::uint32_t> end_status; /* as of the first sight of a terminal phase: a deletion that follows does not change it */
	std::uint32_t submitted_attempt = 1;
	/* 0: not set; all monotonic microseconds */
	std::int64_t first_seen_us = 0, submitted_us = 0, allocated_us = 0, job_ended_us = 0, terminal_us = 0;
	std::int64_t retry_at_us = 0, slurm_quiet_until_us = 0, remove_quiet_until_us = 0, look_quiet_until_us = 0;
	std::int64_t last_report_us = 0, missing_since_us = 0, hold_until_us = 0;
	std::int64_t starting_since_us = 0; /* bound, nothing of it runs, and it may: the clock of start_limit_us */
	std::int64_t bound_us = 0, deleted_us = 0, gone_us = 0;
	unsigned vanished = 0; /* jobs, one after the other, that Slurm no longer has and whose end nobody has told */
	std::int64_t vanished_at_us = 0, submit_not_before_us = 0;
	std::optional<Condition> vanished_text;
	std::vector<JobId> unheard_of; /* jobs that Slurm answered with and the plugin has never told of: to be cancelled */
	std::optional<JobId> cancelling;
	unsigned given_back = 0; /* allocations, to a pod without a job */
	std::int64_t gate_look_at_us = 0; /* when the binding gate is tried again without an event */
	std::int64_t room_wait_since_us = 0; /* its allocation is on a node that cannot take it */
	std::vector<Crowded> crowded;        /* such nodes, given back; the latest last */
	std::int64_t unbound_at_us = 0; /* the API server said so */
	JobId told_job;                      /* whose options we have changed, to those of told_mark */
	std::string told_mark, refused_mark; /* refused: Slurm did not want them */
	std::string refused_text;
	/* places_mark() of nodes that its waiting job is kept off; nothing: its marker says it */
	std::optional<std::string> told_places;
	bool is_reviewed = false;              /* whether they are still the right ones is to be looked at */
	std::optional<ClaimStep> told_step;    /* what was last written for a claim of it, or is being written */
	std::int64_t claims_since_us = 0;      /* it has an allocation and waits for its claims */
	std::int64_t unplaced_since_us = 0; /* its owners are being asked for */
	std::int64_t letting_go_since_us = 0; /* its allocation is wrong, and what the API server says of its pods decides */
	std::int64_t in_the_way_since_us = 0; /* it has an allocation that a running pod without a job needs */
};

struct SeatEnd {
	std::uint32_t attempt = 0;
	std::int64_t created = 0; /* of the pod */
	std::uint32_t status = 0; /* wait status */
};

/* Of a group that leads a gang. */
struct Gang {
	GangId id;
	OwnerId owner;
	std::uint32_t minimum = 0; /* of a PodGroup */
	std::vector<Seat> seats;   /* empty: not known yet */
	std::vector<Role> roles;   /* that they were made from */
	std::size_t components = 1; /* of the workload that it is one of */
	std::vector<std::uint32_t> ranks; /* of its seats over all components, ascending; empty: they are ranks themselves */
	std::uint32_t ranks_of_all = 0;   /* how many the workload has; 0: as many as there are seats */
	bool goes_first = false; /* as in ComponentFacts */
	std::shared_ptr<const Pod> stand_in; /* whose options its job has while none of its pods has come */
	GangShape shape;
	std::optional<std::uint32_t> per_node; /* at most so many tasks, 0: as many as fit; not there: not planned yet */
	std::map<PodUid, std::optional<std::uint32_t>> members; /* and their seats */
	std::map<PodUid, std::string> newcomers; /* members without an index, and their roles: they take a seat with the next look */
	std::map<std::uint32_t, SeatEnd> ends; /* of who was in a seat last */
	std::set<std::uint32_t> standalone; /* seats whose pods were too large for the allocation: they have jobs of their own */
	unsigned given_back = 0; /* allocations that were too small, since a pod was bound */
	std::uint32_t first_attempt = 0; /* ends under an earlier one say nothing of the present job; 0: the job's own */
	/* monotonic microseconds; 0: not so */
	std::int64_t looked_us = 0; /* when all members were last looked at */
	std::int64_t absent_since_us = 0, late_since_us = 0;
	std::int64_t empty_since_us = 0; /* while there is no link */
	bool was_seen = false; /* a member, by this agent */
	unsigned never_came = 0; /* jobs in a row that were ended for want of pods */
	std::int64_t submit_not_before_us = 0; /* after the last of them */
	std::optional<Condition> late_text;
	JobId outgrown; /* a job that waits for another number of tasks than the owner wants by now */
};

/* Over all components of the workload. */
std::uint32_t rank_of(const Gang &gang, std::uint32_t seat);
std::uint32_t ranks_of(const Gang &gang);
/* nullopt: that rank is another component's */
std::optional<std::uint32_t> seat_of_rank(const Gang &gang, std::uint32_t rank);

} // namespace slurmkube::core

#endif
