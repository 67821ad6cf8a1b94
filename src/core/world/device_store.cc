/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/device_store.h"

#include "src/core/device/hybrid_list.h"
#include "src/core/policy/gres.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

std::set<std::string> DeviceStore::changed(std::set<std::string> nodes, Now now)
{
	for (const std::string &node : nodes) {
		changed_us_[node] = now.mono_us;
		lists_.erase(node);
		hybrid_lists_.erase(node);
	}
	return nodes;
}

std::set<std::string> DeviceStore::seen(ResourceSlice slice, Now now)
{
	return changed(inventory_.seen(std::move(slice)), now);
}

std::set<std::string> DeviceStore::gone(const std::string &slice, Now now)
{
	return changed(inventory_.gone(slice), now);
}

std::set<std::string> DeviceStore::listed(const std::set<std::string> &live_uids, Now now)
{
	if (!inventory_.is_listed()) {
		listed_us_ = now.mono_us;
		forget_lists(); /* of all nodes: they said that nothing is listed */
	}
	return changed(inventory_.listed(live_uids), now);
}

void DeviceStore::seen(DeviceClass device_class)
{
	std::string name = device_class.name;
	classes_.insert_or_assign(std::move(name), std::move(device_class));
}

void DeviceStore::classes_listed(const std::set<std::string> &live_uids)
{
	are_classes_listed_ = true;
	std::erase_if(
		classes_, [&](const auto &entry) { return !live_uids.contains(entry.second.uid); });
}

std::set<std::string> DeviceStore::taint_rules_listed(const std::set<std::string> &live_uids)
{
	are_taint_rules_listed_ = true;
	return inventory_.rules_listed(live_uids);
}

const DeviceClass *DeviceStore::find_class(const std::string &name) const
{
	const auto found = classes_.find(name);
	return found == classes_.end() ? nullptr : &found->second;
}

const std::vector<DeviceList> &DeviceStore::lists_on(
	const std::string &node, const DeviceRules &rules) const
{
	const auto known = lists_.find(node);
	if (known != lists_.end() && known->second.size() == rules.size())
		return known->second;
	return lists_.insert_or_assign(node, inventory_.lists_on(node, rules)).first->second;
}

const std::vector<DeviceList> &DeviceStore::hybrid_lists_on(
	const std::string &node, const DeviceRules &rules, const std::string &gres) const
{
	const auto known = hybrid_lists_.find(node);
	if (known != hybrid_lists_.end() && known->second.gres == gres &&
		known->second.lists.size() == rules.size())
		return known->second.lists;
	HybridLists made{gres, hybrid_lists(rules, lists_on(node, rules), gres_from_text(gres))};
	return hybrid_lists_.insert_or_assign(node, std::move(made)).first->second.lists;
}

std::int64_t DeviceStore::absent_until_us(const std::string &node) const
{
	const auto since = changed_us_.find(node);
	return std::max(listed_us_, since == changed_us_.end() ? 0 : since->second) + k_absence_us;
}

NodeDevices DeviceStore::on_node(const std::string &node, const DeviceRules &rules,
	const SlurmNode *slurm, std::int64_t now_us) const
{
	if (rules.empty())
		return {};
	const std::vector<DeviceList> &lists = lists_on(node, rules);
	if (now_us >= absent_until_us(node))
		return node_devices(rules, lists, node, slurm);
	std::vector<DeviceList> left = lists;
	bool is_any_away = false;
	for (std::size_t i = 0; i < rules.size(); i++) {
		if (!is_without_devices(rules[i], lists[i], node, slurm))
			continue;
		is_any_away = true;
		left[i].trouble = "driver " + rules[i].driver +
			" publishes no devices there any more; the node keeps its GRES for 10 "
			"minutes, because the driver may only restart";
	}
	NodeDevices kept = node_devices(rules, left, node, slurm);
	kept.again_us = is_any_away ? absent_until_us(node) : 0;
	return kept;
}

} // namespace slurmkube::core
