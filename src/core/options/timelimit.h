/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timelimit.h - Slurm's time limit texts (sbatch(1), --time): M, M:S, H:M:S, D-H, D-H:M, D-H:M:S,
 * UNLIMITED.
 */
#ifndef SLURMKUBE_CORE_OPTIONS_TIMELIMIT_H
#define SLURMKUBE_CORE_OPTIONS_TIMELIMIT_H

#include "src/base/result.h"

#include <cstdint>
#include <string_view>

namespace slurmkube::core
{

inline constexpr std::uint32_t k_unlimited_minutes = 0xffffffffU; /* INFINITE of slurm.h */
/*
 * 19 years. To find out when a job may start, slurmctld doubles a window, an int of seconds, until
 * it reaches the end of the next running job. If two ends are 2^31 s apart, slurmctld stays in that
 * loop for ever, with its locks held.
 */
inline constexpr std::uint32_t k_limit_minutes_max = 10'000'000;

/* In minutes, seconds rounded up; at least 1, or k_unlimited_minutes. invalid: any other text, 0,
 * and more than k_limit_minutes_max. */
Result<std::uint32_t> parse_time_limit(std::string_view text);
/* The time limit in minutes for a deadline of more than 0 seconds, rounded up. Beyond
 * k_limit_minutes_max it is unlimited, because Kubernetes ends the pod anyway. */
std::uint32_t time_limit_of(std::int64_t deadline_seconds);

/* The same for any number of seconds; 0 if there is no deadline. */
std::uint32_t minutes_of_deadline(std::int64_t seconds);

} // namespace slurmkube::core

#endif
