/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of NodeFilter for what a job itself requests: nodes of a size, and nodes that its
 * options name. */
#include "src/core/model/amounts.h"
#include "src/core/model/host_list.h"
#include "src/core/world/node_filter.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

namespace
{

/* The first name of the list that is not in nodes; empty: none. */
std::string unknown_of(const std::string &list, const std::map<std::string, SlurmNode> &nodes)
{
	const auto names = list.empty()
		? Result<std::vector<std::string>>(std::vector<std::string>{})
		: expand_hosts(list);
	if (!names)
		return list;
	const auto unknown = std::ranges::find_if(
		*names, [&](const std::string &name) { return !nodes.contains(name); });
	return unknown == names->end() ? "" : *unknown;
}

std::string request_text(std::uint32_t cpus, std::uint64_t memory_mib, const std::string &gres,
	std::uint32_t cpu_unit)
{
	return cpus_text(cpus, cpu_unit) + ", " + std::to_string(memory_mib) + " MiB" +
		(gres.empty() ? "" : " and " + gres);
}

std::set<std::string> names_in(const std::string &hosts)
{
	const auto names = hosts.empty()
		? Result<std::vector<std::string>>(std::vector<std::string>{})
		: expand_hosts(hosts);
	return names ? std::set<std::string>(names->begin(), names->end())
		     : std::set<std::string>();
}

} // namespace

/*
 * If a pod is too large for every node, Slurm creates a job for it, refuses the job and keeps the
 * record of a failure, at each try. So we say it before, judging nodes as if they were empty. GRES
 * that no node has are left to Slurm, which knows whether they exist.
 */
std::string NodeFilter::too_large(
	const State &state, const JobSpec &spec, const NodeExclusions &exclusions) const
{
	const SlurmNode *largest = nullptr;
	const std::string known = gres_among(spec.options.gres, state.slurm_nodes);
	const std::set<std::string> wanted = names_in(spec.options.required_nodes),
				    unwanted = names_in(spec.options.excluded_nodes);
	bool is_any_left_out = false;
	for (const auto &[name, node] : state.slurm_nodes) {
		if (node.cpus == 0 || !state.kube_nodes.contains(name) ||
			std::ranges::binary_search(exclusions.excluded, name))
			continue;
		if (unwanted.contains(name) || (!wanted.empty() && !wanted.contains(name))) {
			is_any_left_out = true;
			continue;
		}
		if (spec.cpus <= node.cpus && spec.memory_mib <= node.memory_mib &&
			has_gres(node.gres, known))
			return {};
		if (!largest ||
			std::tie(node.cpus, node.memory_mib) >
				std::tie(largest->cpus, largest->memory_mib))
			largest = &node;
	}
	if (!largest)
		return is_any_left_out ? "options required-nodes and excluded-nodes leave none of "
					 "the nodes that may take the pod; change or remove them"
				       : "";
	const std::uint32_t unit = state.settings.policy.cpu_unit;
	return "no node is large enough: the pod asks for " +
		request_text(spec.cpus, spec.memory_mib, known, unit) +
		"; the largest that it may use, " + largest->name + ", has " +
		request_text(largest->cpus, largest->memory_mib, known.empty() ? "" : largest->gres,
			unit) +
		". Lower resources.requests, or ask an administrator for a larger node";
}

/* slurmctld would write a line to its log for each unknown name, and refuse the job in the end. */
Status NodeFilter::names_known_nodes(const State &state, const JobSpec &spec) const
{
	const std::string &list = spec.options.required_nodes;
	if (const std::string name = unknown_of(list, state.slurm_nodes); !name.empty())
		return Error{Errc::invalid,
			"option required-nodes='" + list.substr(0, 64) + "': Slurm has no node '" +
				name.substr(0, 64) + "' for pods; change or remove the option"};
	return Ok{};
}

void NodeFilter::exclude_unwanted(const State &state, JobSpec &spec) const
{
	const std::string list = std::exchange(spec.options.excluded_nodes, "");
	const auto names = expand_hosts(list);
	if (list.empty() || !names)
		return; /* not set, or refused by the table of options */
	std::set<std::string> all(spec.excluded_nodes.begin(), spec.excluded_nodes.end());
	for (const std::string &name : *names) {
		if (state.slurm_nodes.contains(name))
			all.insert(name);
	}
	spec.excluded_nodes.assign(all.begin(), all.end());
}

void NodeFilter::wish(const State &state, const Pod &pod, JobSpec &spec) const
{
	if (pod.constraints.preferences.empty() || state.settings.policy.features.empty() ||
		!spec.options.prefer.empty())
		return;
	std::set<std::string> known;
	for (const auto &[name, node] : state.slurm_nodes) {
		for (std::size_t begin = 0, end = 0; begin < node.features.size();
			begin = end + 1) {
			end = std::min(node.features.find(',', begin), node.features.size());
			known.insert(node.features.substr(begin, end - begin));
		}
	}
	spec.options.prefer =
		prefer_of(pod.constraints.preferences, state.settings.policy.features, known);
}

} // namespace slurmkube::core
