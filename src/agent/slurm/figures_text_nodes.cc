/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/figures_text.h"
#include "src/agent/slurm/figures_text_jobs.h"
#include "src/codec/metrics_text.h"

#include <algorithm>
#include <functional>
#include <span>

namespace slurmkube::slurm::figures
{

namespace
{

using codec::MetricKind;
using codec::MetricsText;

template <class Figures> struct Family {
	const char *name;
	Figure Figures::*value;
	const char *help;
};

constexpr Family<NodeFigures> k_node_families[] = {
	{"slurm_node_cpus", &NodeFigures::cpus, "Total number of cpus in the node"},
	{"slurm_node_cpus_alloc", &NodeFigures::cpus_alloc, "Allocated cpus in the node"},
	{"slurm_node_cpus_effective", &NodeFigures::cpus_effective,
		"CPUs allocatable to jobs not reserved for system usage"},
	{"slurm_node_cpus_idle", &NodeFigures::cpus_idle, "Idle cpus in the node"},
	{"slurm_node_gpus", &NodeFigures::gpus, "Total number of GPUs in the node"},
	{"slurm_node_gpus_alloc", &NodeFigures::gpus_alloc,
		"Number of GPUs currently allocated by jobs on the node"},
	{"slurm_node_memory_alloc_bytes", &NodeFigures::memory_alloc,
		"Bytes allocated to jobs in the node"},
	{"slurm_node_memory_effective_bytes", &NodeFigures::memory_effective,
		"Memory allocatable to jobs not reserved for system usage"},
	{"slurm_node_memory_free_bytes", &NodeFigures::memory_free,
		"Free memory in bytes of the node"},
	{"slurm_node_memory_bytes", &NodeFigures::memory, "Total memory in bytes of the node"},
};

constexpr char k_draining[] =
	"Number of nodes in draining condition (Drain state with active jobs)";

constexpr Family<NodeStates> k_state_families[] = {
	{"slurm_nodes_alloc", &NodeStates::alloc, "Number of nodes in Allocated state"},
	{"slurm_nodes_blocked", &NodeStates::blocked, "Number of nodes in Blocked state"},
	{"slurm_nodes_completing", &NodeStates::completing, "Number of nodes with Completing flag"},
	{"slurm_nodes_cloud", &NodeStates::cloud, "Number of Cloud nodes"},
	{"slurm_nodes_down", &NodeStates::down, "Number of nodes in Down state"},
	{"slurm_nodes_drain", &NodeStates::drain, "Number of nodes with Drain flag"},
	{"slurm_nodes_drained", &NodeStates::drained, "Number of drained nodes"},
	{"slurm_nodes_draining", &NodeStates::draining, k_draining},
	{"slurm_nodes_dyn_future", &NodeStates::dyn_future, "Number of future dynamic nodes"},
	{"slurm_nodes_dyn_normal", &NodeStates::dyn_normal, "Number of dynamic nodes"},
	{"slurm_nodes_external", &NodeStates::external, "Number of external nodes"},
	{"slurm_nodes_fail", &NodeStates::fail, "Number of nodes with Fail flag"},
	{"slurm_nodes_future", &NodeStates::future, "Number of nodes in Future state"},
	{"slurm_nodes_idle", &NodeStates::idle, "Number of nodes in Idle state"},
	{"slurm_nodes_invalid_reg", &NodeStates::invalid_reg,
		"Number of nodes with Invalid Registration flag"},
	{"slurm_nodes_maint", &NodeStates::maint, "Number of nodes with Maintenance flag"},
	{"slurm_nodes_mixed", &NodeStates::mixed, "Number of nodes in Mixed state"},
	{"slurm_nodes_noresp", &NodeStates::noresp, "Number of nodes with Not Responding flag"},
	{"slurm_nodes_planned", &NodeStates::planned, "Number of nodes with Planned flag"},
	{"slurm_nodes_power_down", &NodeStates::power_down,
		"Number of nodes marked to be powered down"},
	{"slurm_nodes_power_up", &NodeStates::power_up, "Number of nodes marked to be powered up"},
	{"slurm_nodes_powered_down", &NodeStates::powered_down, "Number of nodes powered down"},
	{"slurm_nodes_powering_up", &NodeStates::powering_up, "Number of nodes powering up"},
	{"slurm_nodes_reboot_issued", &NodeStates::reboot_issued,
		"Number of nodes with Reboot Issued flag"},
	{"slurm_nodes_reboot_req", &NodeStates::reboot_req,
		"Number of nodes with Reboot Requested flag"},
	{"slurm_nodes_resv", &NodeStates::resv, "Number of nodes with Reserved flag"},
	{"slurm_nodes_unknown", &NodeStates::unknown, "Number of nodes in Unknown state"},
};

/* In slurmctld's table there are gaps. */
bool is_there(const Node &node)
{
	return !node.name.empty();
}

} // namespace

std::string nodes_text(const Nodes &nodes, const Limits &limits)
{
	MetricsText out;
	NodeStates states;
	std::vector<const Node *> shown;
	std::size_t count = 0;
	for (const Node &node : nodes) {
		if (!is_there(node))
			continue;
		count_state(states, node.state);
		if (++count <= limits.nodes)
			shown.push_back(&node);
	}
	for (const auto &family : k_node_families) {
		out.family(family.name, MetricKind::gauge, family.help);
		for (const Node *node : shown)
			out.sample({{"node", node->name}},
				static_cast<double>(node->figures.*family.value));
	}
	out.family("slurm_nodes", MetricKind::gauge, "Total number of nodes");
	out.sample(static_cast<double>(count));
	for (const auto &family : k_state_families) {
		out.family(family.name, MetricKind::gauge, family.help);
		out.sample(static_cast<double>(states.*family.value));
	}
	out.family(k_left_out, MetricKind::gauge, k_left_out_help);
	out.sample({{"label", "node"}}, static_cast<double>(count - shown.size()));
	return out.take_text();
}

} // namespace slurmkube::slurm::figures
