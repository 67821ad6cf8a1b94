/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts.h - everything that a decision about a component depends on, as observed at one moment.
 *
 * A workload has components, each of which is a Slurm job. A component has ranks, each for one pod.
 * A pod alone is a component of one rank.
 *
 * Pure. FactsReader (world/facts_reader.h) gathers the facts for every decision; all pointers are
 * borrowed from World or from the caller.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_FACTS_H
#define SLURMKUBE_CORE_RECONCILE_FACTS_H

#include "src/base/result.h"
#include "src/core/reconcile/action.h"
#include "src/core/reconcile/sides.h"

#include <vector>

namespace slurmkube::core
{

/* The node that the allocation gives to a pod, as judged before the binding. */
struct PlaceFacts {
	std::string name; /* empty: the allocation has no place for the pod */
	/* the CPUs that the job has there for the pod, as Slurm counts them */
	std::uint32_t cpus = 0;
	/* the same of memory, on a hybrid node only */
	std::uint64_t memory_mib = 0;
	/* the node exists in Kubernetes and is Ready, and has a record in Slurm */
	bool is_usable = false;
	/* Slurm has an external node of this name for this cluster */
	bool has_record = true;
	bool is_native = false; /* no managed node in Kubernetes, and no external node in Slurm */
	/* by the admission check \(placement/occupancy.h\) and host ports; only if is_usable */
	bool has_room = false;
	std::string room_holder = {}; /* which pod takes up the room, as text for users; or empty */
	/* The room is held by a running pod whose job Slurm has lost; the new job of that pod waits
	 * for the resources of this allocation. */
	bool is_in_the_way = false;
	/* why Kubernetes does not allow the pod on the node (placement.h); empty: it does */
	std::string forbidden = {};
	/* to be written before the pod can be bound */
	std::optional<ClaimStep> claim_step = {};
	/* a volume claim that is not ready yet, as text for users; or empty */
	std::string claim_wait = {};
	/* The same of a claim for devices. claim_step may be for one, too. */
	std::string device_wait = {};
};

/* One pod that exists. */
struct RankFacts {
	PodUid uid;
	const Pod *pod = nullptr;
	PodSide side = PodSide::absent;
	std::uint32_t rank = 0; /* within the component */
	/* over all components of the workload */
	std::uint32_t workload_rank = 0;
	bool is_ranked = false; /* false: the pod has no rank yet; rank is 0 then */
	/* the pod has the rank for itself: no other live pod is in it */
	bool holds_rank = false;
	/* The pod is bound and, if it is a member of a gang, slurm-kube has bound it. A member that
	 * another scheduler has bound only takes up its rank. */
	bool is_ours = false;
	PlaceFacts node;                   /* the node of its rank in the allocation */
	std::optional<Error> bind_failure; /* of the last binding; nullopt: it did not fail */
	/* of the last write for a claim, if it is worth telling */
	std::optional<Error> claim_failure;
	bool tells_failure = false; /* the failure is worth a condition on the pod */
	/* The API server has said that the pod is not bound, after the allocation was found to be
	 * wrong. */
	bool surely_unbound = false;
	/* A binding that was not answered may still be carried out, whatever the API server says
	 * now. */
	bool may_be_bound_late = false;
	bool is_asked_for = false; /* the API server has not answered a look-up yet */
	std::string look_trouble;  /* why the last look-up failed; empty: it did not */
	/* others of its component are bound, and it has waited too long for a place */
	bool is_placeless_long = false;
	bool is_of_before = false; /* the pod ended under an earlier job */
	/* devices are allocated for the pod, and its job is gone: what gives them back */
	std::optional<ClaimStep> stale_claim;
	/* The API server has said just now that the pod is not bound, and no binding is under way:
	 * devices of a pod that runs must not be given back. */
	bool is_unbound_now = false;
	/* created after the job ended: the pod waits for the next job */
	bool is_after_end = false;
	/* The end of this job means the end of this bound pod; see is_about_pod(). */
	bool is_about = false;
	/* Decided earlier, because a job had ended. Slurm may not know that job any more. */
	std::optional<DeletePod> eviction;
	/* Bound to a hybrid node that has been rebooted since, or has not been Ready for longer
	 * than nodes.not_ready_after, as the API server has confirmed. Slurm sees a node in
	 * service, so we end the job. */
	bool is_on_lost_node = false;
	/* bound, and no container has run for longer than limits.start_seconds */
	bool start_expired = false;
	/* being deleted, with a longer grace period than limits.grace_seconds allows */
	bool is_deletion_slow = false;
	bool may_retry = true; /* the back-off after a failed action is over */
	InFlight busy;
	std::int64_t first_seen_us = 0; /* monotonic microseconds */
	bool is_watched = false;        /* a watch told of it, after all pods had been listed */
};

/* What all pods of a component request together. */
struct ComponentSize {
	std::int64_t devices = 0, milli_cpu = 0, memory_bytes = 0;
};

/* What the other components of the workload mean for this one. stand_together() writes it. */
struct OthersFacts {
	bool are_there = false;
	bool has_live = false; /* another component has a live pod */
	/* a job is asked for before the component's pods exist, since they may come only when pods
	 * of other components run */
	bool asks_ahead = false;
	/* The component must give up its job: other components have no nodes, or have to be
	 * submitted first. */
	bool gives_back = false;
	/* creation of the oldest pod of all components that waits, seconds since the epoch; 0: none
	 * does */
	std::int64_t oldest_waiting = 0;
	/* The earliest aged_since of all components: they wait as one. */
	std::int64_t aged_since = 0;
	/* what to wait for before a job is submitted, or before pods are bound */
	std::optional<Condition> waits_for;
	/* The component waits only for volumes of other components, so its own volumes may be
	 * bound. */
	bool may_bind_volumes = false;
	/* a job of another component whose end is the end of all */
	const SlurmJob *ended = nullptr;
	/* When this agent saw that job end, monotonic microseconds; 0: it had ended before. */
	std::int64_t end_seen_us = 0;
};

/* How a pending job differs from what its pods ask for at present. */
struct JobChange {
	/* what differs: options, or the nodes that the job must not get; spec is set then */
	bool options = false, exclusions = false;
	std::string submitted_digest; /* of the options that Slurm has */
	std::string trouble;          /* why Slurm refused the present options; empty: it did not */
};

struct ComponentFacts {
	bool known = false; /* all lists are complete and the plugin's snapshot is merged */
	/* a pod without a gang: nothing replaces it, and the job ends with it */
	bool is_alone = false;
	/* of the pods, for LookUp; name empty: any pod of the gang in that namespace */
	std::string name_space, name;
	std::vector<RankFacts> ranks; /* ranks whose pods exist, in rank order */
	/* empty_ranks: ranks whose pods have not come */
	std::uint32_t rank_count = 0, ended_ranks = 0, empty_ranks = 0;
	std::uint32_t result = 0; /* wait status of the first rank that failed; 0: none has */
	/* a rank ended because its pod was deleted: a successor may come */
	bool has_deleted_end = false;
	const SlurmJob *job = nullptr;  /* the current job, see State::current_job() */
	std::optional<Complete> ending; /* its end, which has not come yet */
	bool is_end_asked = false;      /* we asked for it; otherwise the job's time is over */
	/* bindings have failed for so long that the allocation is given back */
	bool is_unbindable = false;
	std::vector<JobId> surplus; /* other live jobs of the same pods */
	/* The job to submit, with the next attempt number; or the waiting job with its changes. */
	const Result<JobSpec> *spec = nullptr;
	JobChange change; /* for a pending job */

	/* So long before now that it is the age which its pods gained in the queue by jobs that
	 * were given back before they ran, seconds since the epoch; 0: there was none. */
	std::int64_t aged_since = 0;

	/* ---- before a job is submitted ---- */
	/* the ranks are known, and enough pods exist to submit a job for them */
	bool is_complete = false;
	/* what must happen in Kubernetes first, or which pause must pass */
	std::optional<Condition> waits_for;
	/* false: slurmctld has not answered earlier requests, and a pause must pass */
	bool submit_due = true;
	/* false: jobs have ended before a pod ran, and a pause must pass */
	bool next_job_due = true;
	bool may_retry = true;            /* the back-off after a failed action is over */
	std::optional<Condition> trouble; /* why the last submission failed */
	std::string excess; /* what the job has beyond its pods' requests; empty: nothing */

	/* ---- a pending job, or an allocation that is held ---- */
	bool is_outgrown = false; /* the owner wants another number of pods */
	/* The allocation must be given back: its pods have waited too long for their nodes, or a
	 * running pod needs it. */
	bool gives_way = false;
	/* another: an external job has a hybrid node, where no slurmd made a cpuset for it */
	bool is_wrong_kind = false;
	bool is_prolog_late = false; /* one reason of gives_way: the end of Prolog does not come */
	/* an allocation that is too small for its pods may be given back */
	bool may_give_back = false;
	/* Nothing has run, and ranks have been empty, for longer than limits.gang_wait_seconds. */
	bool late_long = false;

	/* ---- no pod lives ---- */
	/* too many jobs are without pods to believe that the pods are gone */
	bool is_held = false;
	/* This agent has never seen a pod of it, and the API server has not said that none
	 * exists. */
	bool is_unseen = false;
	/* no pod has lived for longer than we wait for a successor */
	bool absent_long = false;
	/* No watch has reported the end of the pods: the marker of the job will say so. */
	bool for_absence = false;
	bool owner_done = false; /* the owner makes no more pods: finished, suspended or gone */
	/* The owner reports success, whatever became of single pods. */
	bool owner_succeeded = false;

	/* ---- the job has ended, or is lost ---- */
	/* slurmctld created the job, could not answer us and therefore killed it. Nobody wanted
	 * that end. */
	bool answer_lost = false;
	/* by an agent, because it had no pods: pods that wait need a new job */
	bool ended_by_us = false;
	/* bound pods have had no job for longer than k_missing_job_us */
	bool missing_long = false;
	std::string pinned; /* nodes of the bound pods, comma separated */
	/* Further nodes of the lost job, as its pods tell them, that are in service. */
	std::vector<std::string> other_nodes;
	std::int64_t start_limit_us = 0; /* for the text of the condition */

	InFlight busy;

	/* ---- of several components ---- */
	std::string component; /* for texts: "component 1 (worker)" */
	ComponentSize size;
	/* Its first pod may come at any moment and request more than its template. */
	bool is_awaited = false;
	/* when the workload last gave its nodes back, this component had none */
	bool goes_first = false;
	/* its pods and its job end when the job of another component has ended */
	bool ends_together = true;
	/* its owner exists and wants pods of it, as far as it has answered */
	bool is_wanted = true;
	/* the same for the next job, as owners and pods say it */
	bool next_ends_together = true;
	/* Since when its job has had nodes and none of its pods was bound, as this agent saw it;
	 * monotonic microseconds; 0: not the case. */
	std::int64_t held_since_us = 0;
	std::int64_t end_seen_us = 0; /* of its own job, as OthersFacts::end_seen_us */
	OthersFacts others;
};

/* The pod waits in a rank of its own, but the allocation has no place for that rank. */
bool is_misfit(const RankFacts &rank);
/* The pod waits in a rank of its own, but the node of that rank cannot take it at present. */
bool is_crowded_out(const RankFacts &rank);
/* The pod still has to be deleted, because a job had ended that Slurm may have forgotten. */
bool is_evicted(const RankFacts &rank);
/* Bound by us; see RankFacts::is_ours. */
bool is_bound(const RankFacts &rank);
/* Whether a pod was created after a job had ended. The API server and Slurm tell both times in
 * seconds, by clocks that may differ. So a pod is also new if this agent saw it clearly later than
 * that end. Within the same second, what this agent saw first came first. end_seen_us: 0: the job
 * had ended before this agent saw it. */
bool is_made_after(const RankFacts &rank, const SlurmJob &ended, std::int64_t end_seen_us);

/* Whether the end of the job also deletes pods that wait. It does if somebody wanted that end
 * (is_wish()), except for a time limit under which nothing has run: the time passed while the nodes
 * were held. */
bool takes_waiting_along(const ComponentFacts &facts);
/* The pods reached their own activeDeadlineSeconds, which Slurm reports as TIMEOUT, too. */
bool ended_by_own_deadline(const ComponentFacts &facts);

/* All ranks have succeeded, and none of their pods is expected again. */
bool has_succeeded(const ComponentFacts &facts);
bool has_own_live(const ComponentFacts &facts);
bool has_own_bound(const ComponentFacts &facts);
/* Also true for live pods of other components: the pods of this one may come only when those
 * run. */
bool has_live(const ComponentFacts &facts);
/* Whether a job is needed: a pod waits, or will come when pods of other components run. */
bool has_waiting(const ComponentFacts &facts);
/* No pod runs or has run under the present job, and none is being bound. */
bool is_untouched(const ComponentFacts &facts);
/* The allocation is wrong and no pod is bound in it. It is given back as soon as the API server
 * confirms that no pod is bound. */
bool lets_go(const ComponentFacts &facts);
/* The allocation has no place for one of the pods, and is given back for that. */
bool is_too_small(const ComponentFacts &facts);
/* Its job ends although pods wait, which may be bound without this agent having seen that. */
bool is_to_be_ended(const ComponentFacts &facts);
/* The pods may exist without being visible: a wrong scheduler_name in the agent's configuration
 * hides them from the watch, and so does a missing RBAC permission. */
bool is_doubtful(const ComponentFacts &facts);

} // namespace slurmkube::core

#endif
