/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rule.h - which devices of a driver are which generic resource (GRES) of Slurm, and in which
 * order: section "devices" of slurmkubed.yaml.
 */
#ifndef SLURMKUBE_CORE_DEVICE_RULE_H
#define SLURMKUBE_CORE_DEVICE_RULE_H

#include "src/core/cel/selector.h"

#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

/* What decides the index of a device in Slurm. */
enum class DeviceOrder {
	number, /* at the end of the device's name */
	name,   /* natural order of the names */
};

/* What stands for the GRES where the devices are the node's CPUs. */
inline constexpr char k_cores[] = "cores";

struct DeviceRule {
	std::string driver;
	std::string gres = "gpu"; /* in Slurm's GresTypes; k_cores with is_cores */
	/* Which of the driver's devices; nullopt: all. */
	std::optional<cel::Selector> only;
	/* Attribute whose value is the type of the GRES, DOMAIN/ID or ID; empty: no type. */
	std::string type_attribute;
	DeviceOrder order = DeviceOrder::number;
	/* Each device is a CPU of the node and no GRES: its index is the number of Slurm's core.
	 * The order is that of sockets, cores, and CPUs. */
	bool is_cores = false;

	bool operator==(const DeviceRule &other) const
	{
		const bool is_same_filter = only.has_value() == other.only.has_value() &&
			(!only || only->text() == other.only->text());
		return is_same_filter && driver == other.driver && gres == other.gres &&
			type_attribute == other.type_attribute && order == other.order &&
			is_cores == other.is_cores;
	}
};

/* At most one rule for each driver and GRES, and one for cores. */
using DeviceRules = std::vector<DeviceRule>;

} // namespace slurmkube::core

#endif
