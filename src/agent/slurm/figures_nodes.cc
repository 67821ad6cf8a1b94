/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/errors.h"
#include "src/agent/slurm/figures.h"
#include "src/base/owned.h"

#include <cerrno>
#include <span>

namespace slurmkube::slurm::figures
{

namespace
{

using NodeTable = Owned<node_info_msg_t, slurm_free_node_info_msg>;
using PartitionTable = Owned<partition_info_msg_t, slurm_free_partition_info_msg>;
using Counter = Figure NodeStates::*;

constexpr Figure k_bytes_per_mib = Figure{1024} * 1024;

constexpr std::pair<std::uint32_t, Counter> k_base_states[] = {
	{NODE_STATE_FUTURE, &NodeStates::future},
	{NODE_STATE_DOWN, &NodeStates::down},
	{NODE_STATE_MIXED, &NodeStates::mixed},
	{NODE_STATE_ALLOCATED, &NodeStates::alloc},
	{NODE_STATE_IDLE, &NodeStates::idle},
	{NODE_STATE_UNKNOWN, &NodeStates::unknown},
};

constexpr std::pair<std::uint32_t, Counter> k_flags[] = {
	{NODE_STATE_COMPLETING, &NodeStates::completing},
	{compat::k_node_blocked, &NodeStates::blocked},
	{NODE_STATE_CLOUD, &NodeStates::cloud},
	{NODE_STATE_DYNAMIC_FUTURE, &NodeStates::dyn_future},
	{NODE_STATE_DYNAMIC_NORM, &NodeStates::dyn_normal},
	{compat::k_node_external, &NodeStates::external},
	{NODE_STATE_FAIL, &NodeStates::fail},
	{NODE_STATE_INVALID_REG, &NodeStates::invalid_reg},
	{NODE_STATE_MAINT, &NodeStates::maint},
	{NODE_STATE_NO_RESPOND, &NodeStates::noresp},
	{NODE_STATE_PLANNED, &NodeStates::planned},
	{NODE_STATE_POWER_DOWN, &NodeStates::power_down},
	{NODE_STATE_POWER_UP, &NodeStates::power_up},
	{NODE_STATE_POWERED_DOWN, &NodeStates::powered_down},
	{NODE_STATE_POWERING_DOWN, &NodeStates::powering_down},
	{NODE_STATE_POWERING_UP, &NodeStates::powering_up},
	{NODE_STATE_REBOOT_ISSUED, &NodeStates::reboot_issued},
	{NODE_STATE_REBOOT_REQUESTED, &NodeStates::reboot_req},
	{NODE_STATE_RES, &NodeStates::resv},
};

NodeFigures figures_of(const node_info_t &node)
{
	NodeFigures out;
	const compat::NodeUse use = compat::use_of(node);
	out.cpus = node.cpus;
	out.cpus_effective = node.cpus_efctv;
	out.cpus_alloc = use.cpus;
	out.cpus_idle = out.cpus_effective - std::min(out.cpus_effective, out.cpus_alloc);
	out.gpus = gpus_in(node.gres ? node.gres : "");
	out.gpus_alloc = gpus_in(node.gres_used ? node.gres_used : "");
	out.memory = node.real_memory * k_bytes_per_mib;
	out.memory_alloc = use.memory_mib * k_bytes_per_mib;
	out.memory_effective =
		(node.real_memory - std::min(node.real_memory, node.mem_spec_limit)) *
		k_bytes_per_mib;
	out.memory_free = node.free_mem == NO_VAL64 ? 0 : node.free_mem * k_bytes_per_mib;
	return out;
}

} // namespace

void count_state(NodeStates &states, std::uint32_t state)
{
	const std::uint32_t base = state & NODE_STATE_BASE;
	for (const auto &[value, counter] : k_base_states)
		states.*counter += base == value ? 1 : 0;
	for (const auto &[flag, counter] : k_flags)
		states.*counter += (state & flag) != 0 ? 1 : 0;
	if ((state & NODE_STATE_DRAIN) == 0)
		return;
	const bool has_jobs = base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED;
	states.draining += has_jobs ? 1 : 0;
	states.drain += has_jobs ? 0 : 1;
	states.drained += has_jobs ? 0 : 1;
}

Result<std::shared_ptr<const Nodes>> load_nodes()
{
	node_info_msg_t *raw = nullptr;
	/* the generic resources in use are a detail */
	if (slurm_load_node(0, &raw, SHOW_ALL | SHOW_DETAIL | SHOW_MIXED | SHOW_FUTURE) !=
		SLURM_SUCCESS)
		return error_of(errno);
	const NodeTable table(raw);
	Nodes out;
	for (const node_info_t &node : std::span(table->node_array, table->record_count)) {
		Node one;
		if (node.name && *node.name)
			one = {.name = node.name,
				.state = node.node_state,
				.figures = figures_of(node)};
		out.push_back(std::move(one));
	}
	return std::make_shared<const Nodes>(std::move(out));
}

Result<std::shared_ptr<const Partitions>> load_partitions()
{
	partition_info_msg_t *raw = nullptr;
	if (slurm_load_partitions(0, &raw, SHOW_ALL) != SLURM_SUCCESS)
		return error_of(errno);
	const PartitionTable table(raw);
	Partitions out;
	for (const partition_info_t &partition :
		std::span(table->partition_array, table->record_count)) {
		Partition one{.name = partition.name ? partition.name : "",
			.nodes = partition.total_nodes,
			.cpus = partition.total_cpus,
			.members = {}};
		/* pairs of first and last index, ended by -1 */
		for (const std::int32_t *pair = partition.node_inx;
			pair && pair[0] >= 0 && pair[1] >= pair[0]; pair += 2) {
			for (std::int32_t i = pair[0]; i <= pair[1]; i++)
				one.members.push_back(static_cast<std::size_t>(i));
		}
		out.push_back(std::move(one));
	}
	return std::make_shared<const Partitions>(std::move(out));
}

} // namespace slurmkube::slurm::figures
