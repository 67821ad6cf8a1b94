/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_rows.h - the devices of all nodes by their indices in Slurm, for people.
 *
 * Pure.
 */
#ifndef SLURMKUBE_CORE_INSPECT_DEVICE_ROWS_H
#define SLURMKUBE_CORE_INSPECT_DEVICE_ROWS_H

#include "src/core/world/state.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

struct DeviceRow {
	std::string node, gres, type;
	/* nullopt: the record of the node in Slurm does not have the device */
	std::optional<std::uint32_t> index;
	DeviceId device;
	bool is_published = false; /* by its driver, in a complete pool */
	/* has a taint, of its slice or of a DeviceTaintRule, that a claim must tolerate */
	bool is_tainted = false;
	const SlurmJob *job = nullptr; /* that has the index; nullptr: none */
};

/* Why the devices of a rule on a node are not in the record of the node, or are not up to date. */
struct DeviceTrouble {
	std::string node, gres, driver, why;
};

struct DeviceReport {
	std::vector<DeviceRow> rows; /* by node, rule and index */
	std::vector<DeviceTrouble> troubles;
};

DeviceReport report_devices(const State &state, std::int64_t now_us);

} // namespace slurmkube::core

#endif
