/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outcome.h - the status that Slurm gets for the end of a pod.
 *
 * slurm_complete_job() takes a wait status (src/slurmctld/job_mgr.c of Slurm): 0 means COMPLETED,
 * code << 8 FAILED, a signal number FAILED, 253 OUT_OF_MEMORY, NO_VAL CANCELLED.
 */
#ifndef SLURMKUBE_CORE_MODEL_OUTCOME_H
#define SLURMKUBE_CORE_MODEL_OUTCOME_H

#include "src/core/model/pod.h"

namespace slurmkube::core
{

inline constexpr std::uint32_t k_status_completed = 0;
inline constexpr std::uint32_t k_status_out_of_memory = 253;
/* exit code 1: the job's pod never ran and is queued again */
inline constexpr std::uint32_t k_status_given_back = 1U << 8U;
/* The pod reached its own deadline, which Slurm shows as TIMEOUT. This is not a wait status:
 * agent/slurm ends such jobs in another way. */
inline constexpr std::uint32_t k_status_deadline = 0xfffffffdU;
/* FAILED 125:0: docker and podman use exit code 125 for a container that could not be started */
inline constexpr std::uint32_t k_status_not_started = 125U << 8;
inline constexpr std::uint32_t k_status_cancelled = 0xfffffffeU;

inline bool is_terminal(const Pod &pod)
{
	return pod.phase == PodPhase::succeeded || pod.phase == PodPhase::failed;
}

/* For a terminal pod. The phase decides about success, because a Succeeded pod may contain a
 * container that ended with OOMKilled. */
std::uint32_t wait_status_of(const Pod &pod);
/* For a pod that is gone. last: the pod as last observed; nullptr: never observed. */
std::uint32_t wait_status_of_gone(const Pod *last);

/* For a bound pod: none of its containers runs yet. Images are being pulled, volumes are being
 * attached, or nothing happens at all. */
inline bool is_starting(const Pod &pod)
{
	return pod.phase == PodPhase::pending && !pod.container_runs;
}

} // namespace slurmkube::core

#endif
