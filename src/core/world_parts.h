/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world_parts.h - what the files of World share. Pure.
 */
#ifndef SLURMKUBE_CORE_WORLD_PARTS_H
#define SLURMKUBE_CORE_WORLD_PARTS_H

#include "src/core/world.h"

namespace slurmkube::core
{

/* The attempt whose job the pod was bound under; 0: none. */
std::uint32_t bound_attempt(const Pod &pod);

/* Between the end of one job and the submission of the next for the same work, microseconds. */
std::int64_t pause_before(std::uint32_t attempt);

/* Pods that wait for claims are looked at so often, also when nothing has told of a change. */
inline constexpr std::int64_t k_claim_look_us = 2'000'000;

/* Of members of gangs. */
bool is_live_side(PodSide side);
bool is_bound_side(PodSide side);
bool is_live_job_side(JobSide side);
const std::string &bound_node_of(const Group &group); /* of one that has a pod */
PodSide side_of(const Group &group);

/* A pod bound by us without a job: snapshots and deltas may cross our own submission for a moment, never so long. */
inline constexpr std::int64_t k_missing_job_us = 10'000'000;

} // namespace slurmkube::core

#endif
