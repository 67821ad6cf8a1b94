/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * action.h - what can be done for a pod and its job. Each may be repeated: whoever carries it out
 * may die at any moment.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_ACTION_H
#define SLURMKUBE_CORE_RECONCILE_ACTION_H

#include "src/core/model/spec.h"
#include "src/core/placement/claims.h"

#include <optional>
#include <variant>

namespace slurmkube::core
{

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
struct BindVolume { /* a claim of the pod must be bound before the pod is */
	JobId job;
	ClaimStep step;
};
/* is there such a pod, and is it bound? No watch has said so, or something depends on it */
struct LookUp {
	std::string name_space, name; /* name empty: of a gang, whose pods nobody has seen */
};
struct DeletePod {
	Condition disruption; /* written as DisruptionTarget=True before the deletion */
	/* It never started: written as k_condition_start_limit instead, and only while the pod is
	 * still as we know it. */
	bool not_started = false;
};
struct Report {
	/* wanted text of PodScheduled=False; the caller writes it on change and not too often */
	Condition not_scheduled;
};
using Action =
	std::variant<Submit, Update, Cancel, Complete, Bind, BindVolume, LookUp, DeletePod, Report>;

/* What has been started and not answered. While it is set the same kind is not started again. */
struct InFlight {
	bool slurm = false; /* submit, complete or cancel */
	bool bind = false;
	bool remove = false; /* deleting the pod */
	bool report = false; /* writing a condition */
	bool look = false;   /* asking the API server for the pod */
	bool claim = false;  /* writing for a volume claim of it */
	bool operator==(const InFlight &) const = default;
};

} // namespace slurmkube::core

#endif
