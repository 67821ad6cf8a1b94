/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * when.h - points in time as sbatch(1) reads them for --begin and --deadline:
 *
 *	now[+N[seconds|minutes|hours|days|weeks]]     minutes, hours and so on also singular or as
 *	                                              their first letters; plain N is seconds
 *	today, tomorrow, midnight, noon, elevenses (11:00), fika (15:00), teatime (16:00)
 *	HH:MM[:SS]                                    the next time that it is so late
 *	YYYY-MM-DD[THH:MM[:SS]][Z|+HH:MM|-HH:MM]      a zone is our addition; without one the time
 *	                                              is local
 */
#ifndef SLURMKUBE_CORE_MODEL_WHEN_H
#define SLURMKUBE_CORE_MODEL_WHEN_H

#include "src/base/result.h"

#include <cstdint>
#include <string_view>

namespace slurmkube::core
{

/* Seconds east of Greenwich at that moment. nullptr stands for UTC. */
using ZoneOffset = std::int64_t (*)(std::int64_t utc_seconds);

/* Seconds since the epoch. now: what the text's "now" means. invalid: anything else, with the forms
 * there are. */
Result<std::int64_t> parse_when(std::string_view text, std::int64_t now, ZoneOffset zone);

} // namespace slurmkube::core

#endif
