/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answers.h - how an action ended: World marks each as under way until it is told one of these.
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

/* What slurm_allocate_resources answered. */
struct Submitted {
	JobId job;
	std::string node; /* empty: pending */
	std::uint32_t cpus = 0;
	std::string partition = {}, account = {};
};

/* What a GET said of a pod. */
enum class PodLookup { absent, unbound, bound };

struct SubmitAnswered {
	PodUid pod;
	Result<Submitted> answer;
};
struct UpdateAnswered {
	PodUid pod;
	std::string mark; /* of the options that were sent */
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
struct BindVolumeAnswered {
	PodUid pod;
	Status answer;
};
struct DeletePodAnswered {
	PodUid pod;
	Status answer;
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
struct NodeLookUpAnswered {
	std::string name;
	Result<NodeLookup> sight;
};

using Answer = std::variant<SubmitAnswered, UpdateAnswered, CompleteAnswered, BindAnswered,
	BindVolumeAnswered, DeletePodAnswered, ReportAnswered, LookUpAnswered, NodeChangeAnswered,
	NodeLookUpAnswered>;

} // namespace slurmkube::core

#endif
