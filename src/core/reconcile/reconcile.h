/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile.h - what to do about one pod and its external job, from what is observed now.
 *
 * Pure and total: every pair of sides has a row (testsuite/unit/test_reconcile.cc). Called whenever something of the group changed, and again after every
 * action; each action may be repeated, because whoever carries it out may die at any moment.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_RECONCILE_H
#define SLURMKUBE_CORE_RECONCILE_RECONCILE_H

#include "src/base/result.h"
#include "src/core/placement/claims.h"
#include "src/core/model/spec.h"

#include <variant>

namespace slurmkube::core
{

enum class PodSide {
	absent,    /* no such pod, or no longer */
	gated,     /* scheduling gates: not ours yet */
	waiting,   /* wants a node */
	withdrawn, /* deleted before it was bound; a finalizer holds the object */
	running,   /* bound and not terminal, started or not */
	stopping,  /* as running, with deletionTimestamp */
	ended,     /* phase Succeeded or Failed */
};

enum class JobSide {
	none,
	pending,
	allocated, /* running, suspended, configuring */
	ended,     /* Slurm has finished with it, whoever ended it */
};

/* What has been started and not answered. While it is set the same kind is not started again. */
struct Busy {
	bool slurm = false;  /* submit, complete or cancel */
	bool bind = false;
	bool remove = false; /* deleting the pod */
	bool report = false; /* writing a condition */
	bool look = false;   /* asking the API server for the pod */
	bool claim = false;  /* writing for a volume claim of it */
	bool operator==(const Busy &) const = default;
};

struct GroupFacts {
	bool known = false;             /* all lists are complete and the plugin's snapshot is merged */
	const Pod *pod = nullptr;       /* nullptr: absent */
	const Pod *last_pod = nullptr;  /* of an absent pod: how it was seen last, if ever */
	bool surely_gone = false;       /* of an absent pod: it was seen to go, or the API server says so */
	bool saw_deletion = false;      /* the same: a watch has told of it */
	bool is_held = false;           /* the same: too many are absent at once to be believed */
	std::optional<std::uint32_t> end_status; /* wait status, as of the pod's first sight as a terminal one */
	std::string bound_node;         /* from the pod, or from a binding of ours that no watch has shown yet */
	const SlurmJob *job = nullptr;  /* the one that counts, see current_job() in world.cc */
	std::vector<JobId> surplus;     /* other live jobs of the same pod */
	bool job_surely_missing = false; /* a running pod of ours has had no job for long enough */
	bool has_room = false;          /* the binding gate, for the job's node */
	std::string room_holder = {};   /* who is in the way, or empty */
	bool gives_way = false;         /* it has waited too long for the node, or for other pods to leave it, or: the room is held by a running pod whose job Slurm has lost, and which needs it */
	bool surely_unbound = false;    /* the API server has just said so of the waiting pod */
	bool node_usable = false;       /* that node exists and is Ready */
	bool is_native = false;         /* it does not, and is none of Kubernetes' in Slurm either */
	std::string forbidden = {};     /* why Kubernetes forbids the waiting pod that node, or empty; see placement.h */
	std::optional<Condition> waits_for = {}; /* of a pod that is not submitted yet: what it waits for in Kubernetes */
	std::optional<ClaimStep> claim_step = {}; /* of a pod with an allocation: to be written before the binding */
	std::string claim_wait = {};             /* the same: a volume claim that is not ready for it, or empty */
	bool may_retry = true;          /* back-off after a failed action is over */
	bool submit_due = true;         /* the same after submissions and changes that slurmctld has not answered */
	bool answer_lost = false;       /* slurmctld made the job, could not tell us and killed it: nobody wanted its end */
	bool next_job_due = true;       /* the pause after jobs that ended before the pod ran is over */
	bool start_expired = false;       /* bound, and nothing of it has run for longer than is allowed */
	std::int64_t start_limit_us = 0;  /* for the text */
	bool is_deletion_slow = false;    /* it is being deleted, and says that it may take longer than is allowed */
	std::optional<Condition> trouble; /* why the last submission failed */
	bool options_changed = false;           /* the waiting job was given others; spec is set */
	bool places_changed = false;            /* nodes that it must not have are others by now; spec is set */
	std::string told_mark;                  /* of those */
	std::string options_trouble;            /* why Slurm did not take the present ones */
	const Result<JobSpec> *spec = nullptr; /* of a waiting or running pod, with the attempt to use next */
	Busy busy;
};

struct Submit {
	JobSpec spec;
};
struct Update { /* of a waiting job, to the options that its pod has now */
	JobId job;
	JobSpec spec;
	std::vector<std::string> given, removed; /* names of options */
};
struct Cancel {
	JobId job;
	bool for_absence = false; /* no watch has said that the pod is gone: the marker tells why */
};
struct Complete {
	JobId job;
	std::uint32_t wait_status = 0;
	bool for_absence = false; /* the same; with k_status_cancelled only */
};
struct Bind {
	JobId job;
	std::string node;
	std::uint32_t cpus = 0, attempt = 1;
	std::optional<std::uint32_t> rank; /* of a gang's member */
	std::string remark = {};           /* for people, in the event */
};
struct Provide { /* a claim of the pod must be bound before the pod is */
	JobId job;
	ClaimStep step;
};
struct LookUp { /* is there such a pod, and is it bound? No watch has said so, or something depends on it */
	std::string name_space, name; /* name empty: of a gang, whose pods nobody has seen */
};
struct Remove {
	Condition disruption; /* written as DisruptionTarget=True before the deletion */
	/* It never started: written as k_condition_start_limit instead, and only while the pod is still as we know it. */
	bool not_started = false;
};
struct Report {
	Condition not_scheduled; /* wanted text of PodScheduled=False; the caller writes it on change and not too often */
};
using Action = std::variant<Submit, Update, Cancel, Complete, Bind, Provide, LookUp, Remove, Report>;

/* What has become of a job that waits, since it was submitted. */
struct JobChange {
	bool options = false, places = false;
	std::string told_mark, trouble;
};
/* Update, or the Report that it waits, and why it stays as it is. spec: set where something has changed. */
Action change_of(const SlurmJob &job, const JobChange &change, const Result<JobSpec> *spec);

PodSide pod_side(const Pod *pod, const std::string &bound_node);
JobSide job_side(const SlurmJob *job);

/*
 * Before PrologSlurmctld was over. A script that fails ends the job, which is no batch job, as root
 * (prep_prolog_slurmctld_callback() in Slurm's prep_slurmctld.c): no wish of anybody.
 */
bool ended_with_prolog(const SlurmJob &job);
bool is_live(const SlurmJob &job);

std::vector<Action> reconcile(const GroupFacts &facts);

/* "cancelled", "timeout", ... for texts */
const char *state_text(JobState state);

} // namespace slurmkube::core

#endif
