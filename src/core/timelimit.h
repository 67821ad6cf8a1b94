/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timelimit.h - Slurm's time limit texts (sbatch(1), --time): M, M:S, H:M:S, D-H, D-H:M, D-H:M:S, UNLIMITED.
 */
#ifndef SLURMKUBE_CORE_TIMELIMIT_H
#define SLURMKUBE_CORE_TIMELIMIT_H

#include "src/base/result.h"

#include <cstdint>
#include <string_view>

namespace slurmkube::core
{

inline constexpr std::uint32_t k_unlimited_minutes = 0xffffffffU; /* INFINITE of slurm.h */

/* Minutes, seconds rounded up; at least 1. invalid: anything else, also 0 and what does not fit. */
Result<std::uint32_t> parse_time_limit(std::string_view text);

} // namespace slurmkube::core

#endif
