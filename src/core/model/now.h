/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * now.h - the time of a call. Callers pass it, because nothing in src/core reads a clock.
 */
#ifndef SLURMKUBE_CORE_MODEL_NOW_H
#define SLURMKUBE_CORE_MODEL_NOW_H

#include <cstdint>

namespace slurmkube::core
{

struct Now {
	std::int64_t mono_us = 0; /* monotonic */
	std::int64_t wall_s = 0;  /* since the epoch */
};

} // namespace slurmkube::core

#endif
