/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/drain_report.h"

#include "src/base/text.h"

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_message_bytes_max = 1024;

/* No part of a character stays at the end: it would be printed as '?'. */
std::string message_of(std::string reason)
{
	if (reason.size() > k_message_bytes_max) {
		std::size_t end = k_message_bytes_max;
		while (end > 0 && (static_cast<unsigned char>(reason[end]) & 0xc0) == 0x80)
			end--;
		reason.resize(end);
	}
	return reason.empty() ? "Slurm has no reason for it" : printable(std::move(reason));
}

/* Where the agent creates records, one that is missing is about to come. */
std::optional<DrainCondition> without_record(
	const KubeNode &node, const PluginHello &plugin, const NodePolicy &policy)
{
	if (!node.slurm_drain || (policy.manage && has_dynamic_nodes(plugin)))
		return std::nullopt;
	return DrainCondition{"Unknown", "NotInSlurm", "Slurm has no such node"};
}

} // namespace

std::optional<DrainCondition> drain_condition(const SlurmNode &node)
{
	if (node.base == NodeBase::down)
		return DrainCondition{"True", "Down", message_of(node.reason)};
	if (node.drain)
		return DrainCondition{
			"True", is_busy(node) ? "Draining" : "Drained", message_of(node.reason)};
	if (node.base == NodeBase::idle || is_busy(node))
		return DrainCondition{"False", "InService", "Slurm uses the node"};
	if (node.base == NodeBase::unknown) /* for a moment, as slurmctld starts */
		return std::nullopt;
	return DrainCondition{"Unknown", "NotInService", message_of(node.reason)};
}

std::optional<ReportDrain> report_drain(const KubeNode &node, const SlurmNode *slurm,
	const PluginHello &plugin, const NodePolicy &policy)
{
	if (!policy.report_drains || !is_managed(node, policy))
		return std::nullopt;
	const auto wanted = slurm ? drain_condition(*slurm) : without_record(node, plugin, policy);
	if (!wanted || node.slurm_drain == wanted)
		return std::nullopt;
	const bool changes_status = !node.slurm_drain || node.slurm_drain->status != wanted->status;
	return ReportDrain{node.name, node.uid, *wanted, changes_status};
}

} // namespace slurmkube::core
