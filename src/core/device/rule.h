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

struct DeviceRule {
	std::string driver;
	std::string gres = "gpu"; /* in Slurm's GresTypes */
	/* Which of the driver's devices; nullopt: all. */
	std::optional<cel::Selector> only;
	/* Attribute whose value is the type of the GRES, DOMAIN/ID or ID; empty: no type. */
	std::string type_attribute;
	DeviceOrder order = DeviceOrder::number;

	bool operator==(const DeviceRule &other) const
	{
		const bool is_same_filter = only.has_value() == other.only.has_value() &&
			(!only || only->text() == other.only->text());
		return is_same_filter && driver == other.driver && gres == other.gres &&
			type_attribute == other.type_attribute && order == other.order;
	}
};

/* At most one rule for each driver and GRES. */
using DeviceRules = std::vector<DeviceRule>;

} // namespace slurmkube::core

#endif
