/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/given.h"

#include "src/core/model/index_list.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

bool is_by_rule(const DeviceRules &rules, const std::string &gres)
{
	return std::ranges::any_of(
		rules, [&](const DeviceRule &rule) { return !rule.is_cores && rule.gres == gres; });
}

/* The devices of the GRES by index; on one node, they are those of one rule. */
std::vector<DeviceId> devices_of(const std::string &gres, const std::string &node,
	const std::string &extra, const DeviceRules &rules)
{
	for (const DeviceRule &rule : rules) {
		std::vector<DeviceId> found;
		if (!rule.is_cores && rule.gres == gres)
			found = frozen_devices(extra, rule, node);
		if (!found.empty())
			return found;
	}
	return {};
}

/* Adds the devices of one GRES of the job. */
Status take_given(const Gres &gres, const std::string &node, const std::string &extra,
	const DeviceRules &rules, std::vector<DeviceId> &out)
{
	const auto indices = indices_of(gres.indices);
	if (!indices || indices->size() != gres.count)
		return Error{Errc::invalid,
			"Slurm names no indices of GRES " + gres.name + " on node " + node +
				": gres.conf needs a line with File= for it"};
	const std::vector<DeviceId> by_index = devices_of(gres.name, node, extra, rules);
	if (by_index.empty())
		return Error{Errc::again,
			"the devices of node " + node + " are not in its record in Slurm yet"};
	for (const std::uint32_t index : *indices) {
		if (index >= by_index.size())
			return Error{Errc::invalid,
				"Slurm gave index " + std::to_string(index) + " of GRES " +
					gres.name + ", and its record of node " + node + " names " +
					std::to_string(by_index.size()) + " devices"};
		out.push_back(by_index[index]);
	}
	return Ok{};
}

} // namespace

Result<std::vector<DeviceId>> given_to(
	const NodeAllocation &slot, const std::string &extra, const DeviceRules &rules)
{
	std::vector<DeviceId> out;
	for (const Gres &gres : slot.gres) {
		if (!is_by_rule(rules, gres.name))
			continue;
		if (const Status taken = take_given(gres, slot.node, extra, rules, out); !taken)
			return taken.error();
	}
	return out;
}

Result<std::vector<DeviceId>> published_to(const NodeAllocation &slot, const std::string &extra,
	const DeviceRules &rules, const Inventory &inventory)
{
	auto out = given_to(slot, extra, rules);
	if (!out)
		return out;
	for (const DeviceId &device : *out) {
		if (inventory.find(device))
			continue;
		if (std::string why = inventory.trouble_on(slot.node, device.pool.driver);
			!why.empty())
			return Error{Errc::again, std::move(why)};
	}
	return out;
}

} // namespace slurmkube::core
