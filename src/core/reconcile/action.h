/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * action.h - what can be done for a pod and its job. Every action may be repeated, because the
 * agent may die at any moment while it carries one out.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_ACTION_H
#define SLURMKUBE_CORE_RECONCILE_ACTION_H

#include "src/core/model/eviction.h"
#include "src/core/model/native_job.h"
#include "src/core/model/spec.h"
#include "src/core/placement/claims.h"

#include <optional>
#include <variant>

namespace slurmkube::core
{

struct Submit {
	JobSpec spec;
};
struct Update { /* change a waiting job to the options that its pod has at present */
	JobId job;
	JobSpec spec;
	std::vector<std::string> given, removed; /* names of options, as in core/options/table.cc */
};
struct Cancel {
	JobId job;
	/* no watch has reported that the pod is gone; the agent notes that in the job's marker */
	bool for_absence = false;
};
struct Complete {
	JobId job;
	std::uint32_t wait_status = 0;
	bool for_absence = false; /* as in Cancel; only with k_status_cancelled */
};
struct Bind {
	JobId job;
	std::string node;
	std::uint32_t cpus = 0, attempt = 1;
	std::optional<std::uint32_t> rank; /* set for a member of a gang */
	std::string remark = {};           /* for users: a part of the event's text */
	std::uint64_t memory_mib = 0;      /* its share on a hybrid node; 0: not to be written */
	/* within which native job; then the pod has no job of its own */
	std::optional<NativeMark> native = {};
};
/* Write to a claim of the pod, for volumes or devices, before the pod is bound. */
struct WriteClaim {
	JobId job; /* 0: the pod has none any more, and its devices are given back */
	ClaimStep step;
};
/* Ask the API server whether the pod exists and is bound: no watch has reported that, or a decision
 * depends on it. */
struct LookUp {
	/* name empty: look for the pods of a gang of which no watch has shown any */
	std::string name_space, name;
};
struct DeletePod {
	Condition disruption; /* written as DisruptionTarget=True before the deletion */
	/* The pod never started: the condition is written as k_condition_start_limit instead, and
	 * the pod is deleted only if it has not changed since this agent saw it, because it may run
	 * by then. */
	bool not_started = false;
	/* nullopt: the pod is being deleted already, only not fast enough */
	std::optional<Eviction> cause = {};
	JobId ended_job = {}; /* the job whose end is the cause; 0: none */
	/* the job of the pod's own component at that time, live or ended; 0: none */
	JobId own_job = {};
};
struct Report {
	/* The condition PodScheduled=False that the pod should have. World drops the action if the
	 * pod has that condition already, or had another one written too recently. */
	Condition not_scheduled;
};
using Action =
	std::variant<Submit, Update, Cancel, Complete, Bind, WriteClaim, LookUp, DeletePod, Report>;

/* The kinds of action that have been started and not answered. While a flag is set, no action of
 * that kind is started again. */
struct InFlight {
	bool slurm = false; /* submit, complete or cancel */
	bool bind = false;
	bool remove = false; /* deleting the pod */
	bool report = false; /* writing a condition */
	bool look = false;   /* asking the API server for the pod */
	bool claim = false;  /* writing to a volume claim of the pod, or to a volume */
	bool operator==(const InFlight &) const = default;
};

} // namespace slurmkube::core

#endif
