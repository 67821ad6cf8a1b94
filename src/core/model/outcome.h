/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outcome.h - what a pod's end means to Slurm.
 *
 * slurm_complete_job takes a wait status (src/slurmctld/job_mgr.c of Slurm): 0 COMPLETED, code << 8
 * FAILED, a signal number FAILED, 253 OUT_OF_MEMORY, NO_VAL CANCELLED.
 */
#ifndef SLURMKUBE_CORE_MODEL_OUTCOME_H
#define SLURMKUBE_CORE_MODEL_OUTCOME_H

#include "src/core/model/pod.h"

namespace slurmkube::core
{

inline constexpr std::uint32_t k_status_completed = 0;
inline constexpr std::uint32_t k_status_out_of_memory = 253;
/* exit code 1: its pod never ran and is queued again */
inline constexpr std::uint32_t k_status_given_back = 1U << 8U;
/* The pod's own deadline: TIMEOUT. Not a wait status: agent/slurm does it another way. */
inline constexpr std::uint32_t k_status_deadline = 0xfffffffdU;
/* FAILED 125:0, as docker and podman say it of a container that could not be started */
inline constexpr std::uint32_t k_status_not_started = 125U << 8;
inline constexpr std::uint32_t k_status_cancelled = 0xfffffffeU;

inline bool is_terminal(const Pod &pod)
{
	return pod.phase == PodPhase::succeeded || pod.phase == PodPhase::failed;
}

/* Of a terminal pod. The phase decides success: a Succeeded pod may carry a container that ended
 * OOMKilled. */
std::uint32_t wait_status_of(const Pod &pod);
/* Of a pod that is gone, as it was seen last; nullptr: never. */
std::uint32_t wait_status_of_gone(const Pod *last);

/* Bound, and no container of it runs: the image is pulled, volumes are attached, or nothing
 * happens. */
inline bool is_starting(const Pod &pod)
{
	return pod.phase == PodPhase::pending && !pod.container_runs;
}

} // namespace slurmkube::core

#endif
