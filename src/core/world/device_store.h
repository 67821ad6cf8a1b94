/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_store.h - devices and device classes as the API server reports them.
 *
 * Nothing is reported unless there are rules for devices. This store knows no other store: calls
 * that change something return the nodes that must be looked at again.
 */
#ifndef SLURMKUBE_CORE_WORLD_DEVICE_STORE_H
#define SLURMKUBE_CORE_WORLD_DEVICE_STORE_H

#include "src/core/device/inventory.h"
#include "src/core/model/now.h"
#include "src/core/reconcile/node_devices.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

class DeviceStore
{
      public:
	/* How long a node keeps its GRES when a driver publishes no device there any more: a driver
	 * that restarts looks like that. */
	static constexpr std::int64_t k_absence_us = 600'000'000;

	/* ---- what the API server reports ---- */
	std::set<std::string> seen(ResourceSlice slice, Now now);
	std::set<std::string> gone(const std::string &slice, Now now);
	std::set<std::string> listed(const std::set<std::string> &live_uids, Now now);
	void seen(DeviceClass device_class);
	void class_gone(const std::string &name) { classes_.erase(name); }
	void classes_listed(const std::set<std::string> &live_uids);
	/* Return the nodes with devices whose taints have changed. */
	std::set<std::string> seen(DeviceTaintRule rule)
	{
		return inventory_.seen(std::move(rule));
	}
	std::set<std::string> taint_rule_gone(const std::string &name)
	{
		return inventory_.rule_gone(name);
	}
	std::set<std::string> taint_rules_listed(const std::set<std::string> &live_uids);
	/* why: text for users; empty: slices and classes can be read. */
	void set_unreadable(std::string why) { unreadable_ = std::move(why); }
	/* The rules have changed. */
	void forget_lists()
	{
		inventory_.forget_lists();
		lists_.clear();
		hybrid_lists_.clear();
	}

	/* ---- views ---- */
	[[nodiscard]] const Inventory &inventory() const { return inventory_; }
	[[nodiscard]] bool are_classes_listed() const { return are_classes_listed_; }
	[[nodiscard]] bool are_taint_rules_listed() const { return are_taint_rules_listed_; }
	/* nullptr: there is none of this name. */
	[[nodiscard]] const DeviceClass *find_class(const std::string &name) const;
	[[nodiscard]] const std::map<std::string, DeviceClass> &classes() const { return classes_; }
	[[nodiscard]] const std::string &unreadable() const { return unreadable_; }
	/* One list for each rule. Valid until the next change. */
	[[nodiscard]] const std::vector<DeviceList> &lists_on(
		const std::string &node, const DeviceRules &rules) const;
	/* The same by index, for a hybrid node whose record has this GRES (hybrid_list.h). */
	[[nodiscard]] const std::vector<DeviceList> &hybrid_lists_on(
		const std::string &node, const DeviceRules &rules, const std::string &gres) const;
	/* What follows for the record of the node in Slurm, nullptr: there is none. */
	[[nodiscard]] NodeDevices on_node(const std::string &node, const DeviceRules &rules,
		const SlurmNode *slurm, std::int64_t now_us) const;

      private:
	[[nodiscard]] std::int64_t absent_until_us(const std::string &node) const;
	std::set<std::string> changed(std::set<std::string> nodes, Now now);

	Inventory inventory_;
	std::map<std::string, DeviceClass> classes_; /* by name */
	bool are_classes_listed_ = false, are_taint_rules_listed_ = false;
	std::string unreadable_;
	/* when slices of the node changed last, monotonic microseconds */
	std::map<std::string, std::int64_t> changed_us_;
	std::int64_t listed_us_ = 0;
	mutable std::map<std::string, std::vector<DeviceList>> lists_; /* by node */
	struct HybridLists {
		std::string gres;
		std::vector<DeviceList> lists;
	};
	mutable std::map<std::string, HybridLists> hybrid_lists_; /* by node */
};

} // namespace slurmkube::core

#endif
