/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/hybrid_nodes.h"

#include "src/core/policy/gres.h"
#include "src/core/reconcile/node_sync.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* The device plugin chooses devices without knowing those of native jobs. With all of them, there
 * is nothing to choose. */
std::optional<Refusal> plugin_devices_refuse(
	const State &state, const Pod &pod, const SlurmNode &record)
{
	for (const auto &[resource, amount] : pod.requests.extended) {
		const GresRule *rule =
			amount > 0 ? gres_rule(resource, state.settings.policy.gres) : nullptr;
		if (!rule)
			continue;
		const std::uint64_t all =
			gres_count(gres_from_text(record.gres), {rule->name, "", 0, ""});
		if (static_cast<std::uint64_t>(amount) < all)
			return Refusal{Cause::device,
				"is hybrid, and a device plugin that does not know the devices of "
				"native jobs gives out " +
					resource + ": ask for all " + std::to_string(all) +
					" of the node, or for devices by a ResourceClaim"};
	}
	return std::nullopt;
}

} // namespace

std::optional<Refusal> hybrid_refuses(
	const State &state, const Pod &pod, const KubeNode *node, const SlurmNode &record)
{
	if (!record.is_hybrid)
		return std::nullopt;
	const NodePolicy &policy = state.settings.nodes;
	if (std::string why = hybrid_trouble(node, record, state.sync.plugin(), policy);
		!why.empty())
		return Refusal{Cause::unschedulable, std::move(why)};
	if (auto refusal = cordon_refuses(pod, *node))
		return refusal;
	if (auto refusal = taint_refuses(pod, node->taints, ignored_taints(policy)))
		return refusal;
	return plugin_devices_refuse(state, pod, record);
}

std::uint64_t memory_share(const State &state, const SlurmJob &job, const std::string &node)
{
	const SlurmNode *record = state.slurm_node(node);
	const auto share = std::ranges::find(job.nodes, node, &NodeAllocation::node);
	if (!record || !record->is_hybrid || share == job.nodes.end())
		return 0;
	return share->memory_mib;
}

} // namespace slurmkube::core
