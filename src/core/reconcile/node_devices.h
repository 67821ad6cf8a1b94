/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_devices.h - what the rules for devices say about the record of one node in Slurm.
 *
 * Pure. The list of devices in the record (`extra`) is what indices of jobs mean. So it changes
 * only while nothing uses the node, and a record is not changed at all while a list cannot be made.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_NODE_DEVICES_H
#define SLURMKUBE_CORE_RECONCILE_NODE_DEVICES_H

#include "src/core/device/inventory.h"
#include "src/core/model/node.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

struct NodeDevices {
	bool has_rules = false;
	/* Why the devices are not known at present; the record stays as it is, and a new one is
	 * not made. */
	std::string trouble;
	/* "gpu:a100:4,nic:2", and the names in it. With trouble the record's. */
	std::string gres;
	std::set<std::string> names;
	/* With trouble: gres is all that the record has, also what is not of devices. */
	bool is_whole_gres = false;
	/* What `extra` of the record should be. nullopt: it cannot be read or need not change. */
	std::optional<std::string> extra;
	/* extra replaces a list by another one, so that indices get another meaning */
	bool replaces_list = false;
	/* When to look again without a change, monotonic microseconds; 0: never. */
	std::int64_t again_us = 0;
};

/* lists: one for each rule. slurm: nullptr, there is no record. */
NodeDevices node_devices(const DeviceRules &rules, const std::vector<DeviceList> &lists,
	const std::string &node, const SlurmNode *slurm);

/* The devices of the rule are all gone, while the record has a list of them. A driver that restarts
 * looks like that. */
bool is_without_devices(const DeviceRule &rule, const DeviceList &list, const std::string &node,
	const SlurmNode *slurm);

} // namespace slurmkube::core

#endif
