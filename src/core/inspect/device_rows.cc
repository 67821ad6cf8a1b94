/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/inspect/device_rows.h"

#include "src/core/model/index_list.h"
#include "src/core/model/outcome.h"
#include "src/core/world/hybrid_devices.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace slurmkube::core
{

namespace
{

using JobsOfDevices =
	std::map<std::tuple<std::string, std::string, std::uint32_t>, const SlurmJob *>;

void note_holder(const SlurmJob &job, const std::string &node, const std::string &gres,
	const std::string &indices, JobsOfDevices &out)
{
	const auto numbers = indices_of(indices);
	if (!numbers)
		return;
	for (const std::uint32_t index : *numbers)
		out[{node, gres, index}] = &job;
}

/* By node, GRES or k_cores, and index. */
JobsOfDevices holders_of(const State &state)
{
	JobsOfDevices holders;
	for (const auto &[id, job] : state.jobs) {
		if (job.state != JobState::running && !job.completing)
			continue;
		for (const NodeAllocation &node : job.nodes) {
			for (const Gres &gres : node.gres)
				note_holder(job, node.node, gres.name, gres.indices, holders);
			note_holder(job, node.node, k_cores, node.core_ids, holders);
		}
	}
	return holders;
}

/* The type of a device that is no longer in the list is not known. */
std::string type_in(const DeviceList &list, const DeviceId &id)
{
	const auto found = std::ranges::find(list.devices, id, &ListedDevice::id);
	return found == list.devices.end() ? "" : found->type;
}

bool keeps_off(const Taint &taint)
{
	return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

class Reporter
{
      public:
	Reporter(const State &state, std::int64_t now_us)
	    : state_(state), now_us_(now_us), holders_(holders_of(state))
	{
	}

	void add_node(const std::string &node)
	{
		const DeviceRules &rules = state_.settings.devices;
		const SlurmNode *slurm = state_.slurm_node(node);
		if (is_hybrid(slurm))
			return add_hybrid(*slurm);
		const std::vector<DeviceList> &lists = state_.devices.lists_on(node, rules);
		for (std::size_t i = 0; i < rules.size(); i++)
			add_rule(node, rules[i], lists[i],
				slurm && slurm->extra
					? frozen_devices(*slurm->extra, rules[i], node)
					: std::vector<DeviceId>());
		const std::string why = state_.devices.on_node(node, rules, slurm, now_us_).trouble;
		for (std::size_t i = 0; i < rules.size() && !why.empty(); i++) {
			const DeviceRule &rule = rules[i];
			if (rule.is_cores || !is_without_devices(rule, lists[i], node, slurm))
				continue;
			report_.troubles.push_back({node, rule.gres, rule.driver, why});
			break;
		}
	}

	[[nodiscard]] DeviceReport take() { return std::move(report_); }

      private:
	/* The devices of a list with trouble have no indices. */
	void add_hybrid(const SlurmNode &record)
	{
		const DeviceRules &rules = state_.settings.devices;
		const std::vector<DeviceList> &found = state_.devices.lists_on(record.name, rules),
					      by_index = hybrid_device_lists(state_, record);
		for (std::size_t i = 0; i < rules.size(); i++) {
			if (rules[i].is_cores)
				continue; /* not given to claims there */
			DeviceList list = found[i];
			list.trouble = by_index[i].trouble;
			std::vector<DeviceId> recorded;
			for (const ListedDevice &one : by_index[i].devices)
				recorded.push_back(one.id);
			add_rule(record.name, rules[i], list, recorded);
		}
	}

	/* recorded: by index */
	void add_rule(const std::string &node, const DeviceRule &rule, const DeviceList &list,
		const std::vector<DeviceId> &recorded)
	{
		if (!list.trouble.empty())
			report_.troubles.push_back({node, rule.gres, rule.driver, list.trouble});
		for (std::uint32_t index = 0; index < recorded.size(); index++)
			add_recorded(node, rule, list, recorded[index], index);
		for (const ListedDevice &one : list.devices) {
			if (std::ranges::find(recorded, one.id) == recorded.end())
				report_.rows.push_back({.node = node,
					.gres = rule.gres,
					.type = one.type,
					.index = std::nullopt,
					.device = one.id,
					.is_published = true});
		}
	}

	void add_recorded(const std::string &node, const DeviceRule &rule, const DeviceList &list,
		const DeviceId &id, std::uint32_t index)
	{
		const SliceDevice *device = state_.devices.inventory().find(id);
		const auto holder = holders_.find({node, rule.gres, index});
		report_.rows.push_back({.node = node,
			.gres = rule.gres,
			.type = type_in(list, id),
			.index = index,
			.device = id,
			.is_published = device != nullptr,
			.is_tainted = device &&
				(std::ranges::any_of(device->taints, keeps_off) ||
					std::ranges::any_of(device->rule_taints, keeps_off)),
			.job = holder == holders_.end() ? nullptr : holder->second});
	}

	const State &state_;
	std::int64_t now_us_;
	JobsOfDevices holders_;
	DeviceReport report_;
};

} // namespace

DeviceReport report_devices(const State &state, std::int64_t now_us)
{
	Reporter reporter(state, now_us);
	if (state.settings.devices.empty())
		return {};
	std::set<std::string> nodes;
	for (const auto &[name, node] : state.kube_nodes)
		nodes.insert(name);
	for (const auto &[name, node] : state.slurm_nodes)
		nodes.insert(name);
	for (const std::string &node : nodes)
		reporter.add_node(node);
	return reporter.take();
}

} // namespace slurmkube::core
