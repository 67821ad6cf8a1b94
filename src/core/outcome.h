/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outcome.h - what a pod's end means to Slurm.
 *
 * slurm_complete_job takes a wait status (slurm.md 5, and src/slurmctld/job_mgr.c): 0 COMPLETED, code << 8 FAILED, a signal number FAILED,
 * 253 OUT_OF_MEMORY, NO_VAL CANCELLED.
 */
#ifndef SLURMKUBE_CORE_OUTCOME_H
#define SLURMKUBE_CORE_OUTCOME_H

#include "src/core/model.h"

namespace slurmkube::core
{

inline constexpr std::uint32_t k_status_completed = 0;
inline constexpr std::uint32_t k_status_out_of_memory = 253;
inline constexpr std::uint32_t k_status_given_back = 1U << 8U; /* exit code 1: its pod never ran and is queued again */
inline constexpr std::uint32_t k_status_cancelled = 0xfffffffeU;

inline bool is_terminal(const Pod &pod)
{
	return pod.phase == PodPhase::succeeded || pod.phase == PodPhase::failed;
}

/* Of a terminal pod. The phase decides success: a Succeeded pod may carry a container that ended OOMKilled. */
std::uint32_t wait_status_of(const Pod &pod);

} // namespace slurmkube::core

#endif
