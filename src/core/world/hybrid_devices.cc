/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/hybrid_devices.h"

#include "src/core/device/hybrid_list.h"
#include "src/core/policy/gres.h"
#include "src/core/world/pod_devices.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

bool has_gres_named(const std::vector<Gres> &list, const std::string &name)
{
	return std::ranges::any_of(
		list, [&](const Gres &one) { return one.name == name && one.count > 0; });
}

/* asked: what counts of the node's GRES. */
std::string trouble_among(
	const State &state, const SlurmNode &record, const std::vector<Gres> &asked)
{
	const std::vector<DeviceList> &lists = hybrid_device_lists(state, record);
	for (std::size_t i = 0; i < lists.size(); i++) {
		if (!lists[i].trouble.empty() &&
			has_gres_named(asked, state.settings.devices[i].gres))
			return "is hybrid, and its devices are not those of gres.conf: " +
				lists[i].trouble;
	}
	return {};
}

} // namespace

const std::vector<DeviceList> &hybrid_device_lists(const State &state, const SlurmNode &record)
{
	return state.devices.hybrid_lists_on(record.name, state.settings.devices, record.gres);
}

std::string hybrid_device_trouble(
	const State &state, const std::string &node, const DeviceDemand *demand)
{
	const SlurmNode *record = state.slurm_node(node);
	if (!is_hybrid(record))
		return {};
	return trouble_among(state, *record, demand ? demand->gres : gres_from_text(record->gres));
}

NodeAllocation claimed_part(const State &state, const NodeAllocation &slot,
	const std::vector<const ResourceClaim *> &claims)
{
	NodeAllocation part = slot;
	const Result<DeviceDemand> &demand =
		state.resource_claims.demand_of(claims, device_sources(state));
	if (demand && demand->may_ask)
		std::erase_if(part.gres,
			[&](const Gres &one) { return !demand->may_ask->contains(one.name); });
	return part;
}

Result<std::string> device_record(const State &state, const NodeAllocation &slot)
{
	const SlurmNode *record = state.slurm_node(slot.node);
	if (!is_hybrid(record))
		return record ? record->extra.value_or("") : "";
	if (const std::string why = trouble_among(state, *record, slot.gres); !why.empty())
		return Error{Errc::again, "node " + slot.node + " " + why};
	const std::vector<DeviceList> &lists = hybrid_device_lists(state, *record);
	if (const Status same = have_types_of(slot, state.settings.devices, lists); !same)
		return same.error();
	return frozen_text("", state.settings.devices, lists, slot.node);
}

} // namespace slurmkube::core
