/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taints that are not in the slices. */
#include "src/core/device/inventory.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

namespace
{

/* As k8s.io/dynamic-resource-allocation/resourceslice/tracker of 1.37 does (applyPatches). */
bool concerns(const DeviceTaintRule &rule, const PoolId &pool)
{
	return rule.has_selector && (!rule.driver || *rule.driver == pool.driver) &&
		(!rule.pool || *rule.pool == pool.name);
}

/* More rules than these for one device are one more taint, which only a toleration of everything
 * tolerates. */
constexpr std::size_t k_rule_taints_most = 16;
constexpr const char *k_too_many_rules = "slurm-kube.io/too-many-taint-rules";

std::vector<Taint> taints_of(
	const std::vector<const DeviceTaintRule *> &rules, const std::string &device)
{
	std::vector<Taint> taints;
	for (const DeviceTaintRule *rule : rules) {
		if (rule->device && *rule->device != device)
			continue;
		if (taints.size() == k_rule_taints_most) {
			taints.push_back({k_too_many_rules, "", "NoSchedule"});
			break;
		}
		taints.push_back(rule->taint);
	}
	return taints;
}

} // namespace

/* Return whether the taints of a device have changed. */
bool Inventory::taint(ResourceSlice &slice) const
{
	std::vector<const DeviceTaintRule *> rules;
	for (const auto &[name, rule] : taint_rules_) {
		if (concerns(rule, slice.pool))
			rules.push_back(&rule);
	}
	bool is_changed = false;
	for (SliceDevice &device : slice.devices) {
		std::vector<Taint> taints = taints_of(rules, device.name);
		is_changed = is_changed || taints != device.rule_taints;
		device.rule_taints = std::move(taints);
	}
	return is_changed;
}

/* Looks only at the slices that one of the rules concerns. */
std::set<std::string> Inventory::taint_again(const std::vector<DeviceTaintRule> &changed)
{
	std::set<std::string> nodes;
	for (auto &[name, slice] : slices_) {
		const bool is_concerned = std::ranges::any_of(changed,
			[&pool = slice.pool](const auto &rule) { return concerns(rule, pool); });
		if (is_concerned && taint(slice) && !slice.node.empty())
			nodes.insert(slice.node);
	}
	return nodes;
}

std::set<std::string> Inventory::seen(DeviceTaintRule rule)
{
	DeviceTaintRule &stored = taint_rules_[rule.name];
	if (stored == rule)
		return {};
	const DeviceTaintRule before = std::exchange(stored, std::move(rule));
	return taint_again({before, stored});
}

std::set<std::string> Inventory::rule_gone(const std::string &name)
{
	const auto found = taint_rules_.find(name);
	if (found == taint_rules_.end())
		return {};
	const DeviceTaintRule before = std::move(found->second);
	taint_rules_.erase(found);
	return taint_again({before});
}

std::set<std::string> Inventory::rules_listed(const std::set<std::string> &live_uids)
{
	std::vector<DeviceTaintRule> dead;
	std::erase_if(taint_rules_, [&](const auto &entry) {
		const bool is_dead = !live_uids.contains(entry.second.uid);
		if (is_dead)
			dead.push_back(entry.second);
		return is_dead;
	});
	return taint_again(dead);
}

} // namespace slurmkube::core
