/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eviction.h - why the agent deletes a pod: its Slurm job, or one of another component of its
 * workload, has ended, or the pod did not start in time. There are no other causes.
 */
#ifndef SLURMKUBE_CORE_MODEL_EVICTION_H
#define SLURMKUBE_CORE_MODEL_EVICTION_H

#include "src/core/model/job.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace slurmkube::core
{

enum class Eviction {
	cancelled,
	completed,
	failed,
	timeout,
	node_fail,
	preempted,
	boot_fail,
	deadline,
	out_of_memory,
	unknown, /* a state of a later Slurm */
	start_limit,
};
inline constexpr std::size_t k_eviction_causes = 11;

/* The pods of a job that has ended in this state. */
Eviction eviction_of(JobState state);
/* As the label of the metric has it. */
const char *name_of(Eviction cause);

using Evictions = std::array<std::uint64_t, k_eviction_causes>; /* by cause */

} // namespace slurmkube::core

#endif
