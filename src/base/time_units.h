/* SPDX-License-Identifier: GPL-2.0-or-later */
/* time_units.h - how long a unit of time is in microseconds, the unit of Now and of all timers. */
#ifndef SLURMKUBE_BASE_TIME_UNITS_H
#define SLURMKUBE_BASE_TIME_UNITS_H

#include <cstdint>

namespace slurmkube
{

inline constexpr std::int64_t k_second_us = 1'000'000;

} // namespace slurmkube

#endif
