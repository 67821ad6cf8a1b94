/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answers.h - how actions ended. World counts an action as under way until it receives the answer.
 */
#ifndef SLURMKUBE_CORE_WORLD_ANSWERS_H
#define SLURMKUBE_CORE_WORLD_ANSWERS_H

#include "src/base/result.h"
#include "src/core/model/job.h"
#include "src/core/model/pod.h"
#include "src/core/world/node_planner.h"

#include <variant>

namespace slurmkube::core
{

/* The answer of slurm_allocate_resources(). */
struct Submitted {
	JobId job;
	std::string node; /* empty: the job is pending */
	std::uint32_t cpus = 0;
	std::string partition = {}, account = {};
	std::uint32_t user_id = 0; /* as whom the job was submitted */
};

/* What a GET of the API server said about a pod. absent: also if the name belongs to a pod with
 * another uid. For a gang, bound means that a pod of it was found. */
enum class PodLookup { absent, unbound, bound };

struct SubmitAnswered {
	PodUid pod;
	Result<Submitted> answer;
};
struct UpdateAnswered {
	PodUid pod;
	std::string mark; /* digest of the options that were sent (core/options/change.h) */
	JobId job;
	Status answer;
};
struct CompleteAnswered {
	PodUid pod;
	Status answer;
	bool was_cancel;
};
struct BindAnswered {
	PodUid pod;
	Status answer;
};
struct WriteClaimAnswered {
	PodUid pod;
	Status answer;
};
struct DeletePodAnswered {
	PodUid pod;
	Status answer;
	std::optional<Eviction> cause = {}; /* of the action; nullopt: no pod was deleted */
};
struct ReportAnswered {
	PodUid pod;
	Status answer;
};
struct LookUpAnswered {
	PodUid pod;
	Result<PodLookup> sight;
};
struct NodeChangeAnswered {
	std::string name;
	Status answer;
};
struct DrainReportAnswered {
	std::string node;
	Status answer;
};
struct NodeLookUpAnswered {
	std::string name;
	Result<NodeLookup> sight;
};

using Answer = std::variant<SubmitAnswered, UpdateAnswered, CompleteAnswered, BindAnswered,
	WriteClaimAnswered, DeletePodAnswered, ReportAnswered, LookUpAnswered, NodeChangeAnswered,
	NodeLookUpAnswered, DrainReportAnswered>;

} // namespace slurmkube::core

#endif
