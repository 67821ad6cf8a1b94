/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * systemd_units.h - limits of cgroups that systemd manages, which are those of its units. What is
 * written into such a cgroup only, systemd takes back when it reads its units again
 * (systemctl daemon-reload).
 *
 * Source: org.freedesktop.systemd1(5), SetUnitProperties.
 */
#ifndef SLURMKUBE_NODE_SYSTEMD_UNITS_H
#define SLURMKUBE_NODE_SYSTEMD_UNITS_H

#include "src/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace slurmkube::node
{

/* The unit of a cgroup; none: it is not a slice. Pure. */
std::optional<std::string> slice_of(const std::string &cgroup);

/* Sets MemoryMax= of the unit until the next boot. Blocks for a second at most, also if the bus
 * does not answer. */
Result<Ok> limit_memory_of_unit(const std::string &unit, std::int64_t limit);

} // namespace slurmkube::node

#endif
