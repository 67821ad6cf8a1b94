/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/node_devices.h"

#include "src/core/policy/gres.h"

namespace slurmkube::core
{

namespace
{

/* CPUs are no GRES, so the node can be made and resized without their list. */
std::string first_trouble(const DeviceRules &rules, const std::vector<DeviceList> &lists)
{
	for (std::size_t i = 0; i < rules.size(); i++) {
		if (!rules[i].is_cores && !lists[i].trouble.empty())
			return lists[i].trouble;
	}
	return {};
}

/* The list of the rule in the record is there, and another one than list. */
bool replaces(const DeviceRule &rule, const DeviceList &list, const std::string &extra,
	const std::string &node)
{
	const std::vector<DeviceId> before = frozen_devices(extra, rule, node);
	if (before.empty() || !list.trouble.empty())
		return false;
	std::vector<DeviceId> after;
	for (const ListedDevice &device : list.devices)
		after.push_back(device.id);
	return before != after;
}

} // namespace

NodeDevices node_devices(const DeviceRules &rules, const std::vector<DeviceList> &lists,
	const std::string &node, const SlurmNode *slurm)
{
	NodeDevices out;
	out.has_rules = !rules.empty();
	out.trouble = first_trouble(rules, lists);
	if (!out.trouble.empty()) {
		out.gres = slurm ? without_places(slurm->gres) : "";
		out.is_whole_gres = true;
		return out;
	}
	for (std::size_t i = 0; i < rules.size(); i++) {
		const std::string gres = gres_of_list(rules[i], lists[i]);
		if (gres.empty())
			continue;
		out.gres += (out.gres.empty() ? "" : ",") + gres;
		out.names.insert(rules[i].gres);
	}
	if (!slurm || !slurm->extra)
		return out;
	std::string text = frozen_text(*slurm->extra, rules, lists, node);
	if (text == *slurm->extra)
		return out;
	for (std::size_t i = 0; i < rules.size(); i++)
		out.replaces_list =
			out.replaces_list || replaces(rules[i], lists[i], *slurm->extra, node);
	out.extra = std::move(text);
	return out;
}

bool is_without_devices(const DeviceRule &rule, const DeviceList &list, const std::string &node,
	const SlurmNode *slurm)
{
	return slurm && slurm->extra && list.trouble.empty() && list.devices.empty() &&
		!frozen_devices(*slurm->extra, rule, node).empty();
}

} // namespace slurmkube::core
