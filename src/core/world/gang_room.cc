/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the nodes that a gang may use have that much at all. */
#include "src/core/model/amounts.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/facts_reader.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

std::string size_text(std::uint32_t cpus, std::uint64_t memory_mib, const std::string &gres,
	std::uint32_t cpu_unit)
{
	return cpus_text(cpus, cpu_unit) + (gres.empty() ? " and " : ", ") +
		std::to_string(memory_mib) + " MiB" + (gres.empty() ? "" : " and " + gres);
}

/* What a task needs and no node has, as text for users. */
std::string missing_text(const JobSpec &spec, const NodeSizes &nodes, std::uint32_t cpu_unit)
{
	std::string text;
	const auto add = [&](const std::string &part) {
		text += (text.empty() ? "; no node has " : ", none ") + part;
	};
	const auto has = [&](auto holds) {
		return std::ranges::any_of(
			nodes, [&](const auto &node) { return holds(node.first); });
	};
	if (!has([&](const NodeSize &node) { return node.cpus >= spec.cpus; }))
		add(cpus_text(spec.cpus, cpu_unit));
	if (!has([&](const NodeSize &node) { return node.memory_mib >= spec.memory_mib; }))
		add(std::to_string(spec.memory_mib) + " MiB");
	for (const Gres &one : gres_from_text(spec.gres_of_task)) {
		if (!has([&](const NodeSize &node) {
			    return gres_count(gres_from_text(node.gres), one) >= one.count;
		    }))
			add(one.name + (one.type.empty() ? "" : ":" + one.type) + ":" +
				std::to_string(one.count));
	}
	return text;
}

/* The number of tasks that all nodes hold, or the one that holds most. */
std::uint64_t places_on(const NodeSizes &nodes, const JobSpec &spec, bool is_on_one_node)
{
	std::uint64_t all = 0, most = 0;
	for (const auto &[node, count] : nodes) {
		if (is_on_one_node && !has_gres(node.gres, spec.options.gres))
			continue;
		std::uint64_t here = tasks_on(node, spec.cpus, spec.memory_mib, spec.gres_of_task);
		if (spec.tasks_per_node > 0)
			here = std::min<std::uint64_t>(here, spec.tasks_per_node);
		all += count * here;
		most = std::max(most, here);
	}
	return is_on_one_node ? most : all;
}

/* Slurm would leave a job that needs more than all empty nodes have in the queue for ever. */
std::string trouble_with_room(
	const JobSpec &spec, const NodeSizes &nodes, std::uint32_t cpu_unit, bool is_on_one_node)
{
	const std::uint64_t places = places_on(nodes, spec, is_on_one_node);
	if (places >= spec.tasks)
		return {};
	std::string text = "the gang needs " + std::to_string(spec.tasks) +
		(spec.tasks == 1 ? " task of " : " tasks of ") +
		size_text(spec.cpus, spec.memory_mib, spec.gres_of_task, cpu_unit) + " at once" +
		(is_on_one_node ? on_one_node(spec.options.gres) : "") + ", ";
	if (nodes.empty())
		return text + "and no node may take pods of all its roles";
	const NodeSize &largest = nodes.rbegin()->first;
	text += std::string("and ") +
		(is_on_one_node ? "each node that its pods may use holds at most "
				: "all nodes that its pods may use hold ") +
		(places == 0 ? "none" : std::to_string(places)) +
		missing_text(spec, nodes, cpu_unit);
	return text + "; the largest node has " +
		size_text(largest.cpus, largest.memory_mib, largest.gres, cpu_unit);
}

} // namespace

/* Replaces the spec by an error if all nodes that the gang may use are too small together. */
void FactsReader::check_room(const GangPlan &plan, std::optional<Result<JobSpec>> &spec) const
{
	if (!spec || !*spec || node_sizes({}).empty())
		return;
	const std::set<std::string> excluded(
		(*spec)->excluded_nodes.begin(), (*spec)->excluded_nodes.end());
	if (std::string trouble = trouble_with_room(**spec, node_sizes(excluded),
		    state_.settings.policy.cpu_unit, plan.gres_on_node.has_value());
		!trouble.empty()) {
		found_.placing = Placing::unschedulable;
		*spec = Error{Errc::not_found,
			trouble + (plan.shape.excess.empty() ? "" : "; " + plan.shape.excess)};
	}
}

} // namespace slurmkube::core
