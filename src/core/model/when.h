/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * when.h - points in time as sbatch(1) reads them for --begin and --deadline:
 *
 *	now[+N[seconds|minutes|hours|days|weeks]]     units may be cut to their first letters;
 *	                                              plain N is seconds
 *	today, tomorrow, midnight, noon, elevenses (11:00), fika (15:00), teatime (16:00)
 *	HH:MM[:SS]                                    the next time that a clock shows this
 *	YYYY-MM-DD[THH:MM[:SS]][Z|+HH:MM|-HH:MM]      zones are an addition of slurm-kube; without
 *	                                              one the time is local
 */
#ifndef SLURMKUBE_CORE_MODEL_WHEN_H
#define SLURMKUBE_CORE_MODEL_WHEN_H

#include "src/base/result.h"

#include <cstdint>
#include <string_view>

namespace slurmkube::core
{

/* Offset of the local time zone from UTC at that moment, in seconds, positive to the east. nullptr
 * stands for UTC. */
using ZoneOffset = std::int64_t (*)(std::int64_t utc_seconds);

/* Seconds since the epoch. now: the time that "now" in the text means. invalid: any other text, and
 * times before the epoch; the error lists the forms. */
Result<std::int64_t> parse_when(std::string_view text, std::int64_t now, ZoneOffset zone);

} // namespace slurmkube::core

#endif
