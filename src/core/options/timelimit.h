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
 * 19 years. Slurm's search for when a job may start doubles a window, an int of seconds, until it
 * reaches the end of the next running job: ends 2^31 s apart keep slurmctld in it, locked, for
 * ever.
 */
inline constexpr std::uint32_t k_limit_minutes_max = 10'000'000;

/* Minutes, seconds rounded up; at least 1. invalid: anything else, also 0 and what does not fit. */
Result<std::uint32_t> parse_time_limit(std::string_view text);
/* Of a deadline, rounded up; unlimited beyond k_limit_minutes_max: Kubernetes ends the pod by
 * itself. */
std::uint32_t time_limit_of(std::int64_t deadline_seconds);

/* The time limit that a deadline means; 0: none */
std::uint32_t minutes_of_deadline(std::int64_t seconds);

} // namespace slurmkube::core

#endif
