/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that plans for nodes, and that gives them their names in Slurm. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>
#include <set>
#include <utility>

namespace slurmkube::core
{

namespace
{

/* Numbers of our jobs on the node, as in the pods' annotations. */
std::set<std::string> jobs_on(const State &state, const std::string &name)
{
	std::set<std::string> numbers;
	for (const auto &[id, job] : state.jobs) {
		if ((is_live(job) || job.completing) &&
			std::ranges::find(job.nodes, name, &NodeAllocation::node) !=
				job.nodes.end())
			numbers.insert(std::to_string(id.number));
	}
	return numbers;
}

/* With a wrong nodes.name_prefix, or without one, Slurm's record has another name than the node:
 * the pod runs, and the record seems to be that of a node that is gone. */
bool has_pod_without_record(const State &state, const std::string &name)
{
	const std::set<std::string> numbers = jobs_on(state, name);
	return !numbers.empty() && std::ranges::any_of(state.pods, [&](const auto &one) {
		const std::optional<Pod> &pod = one.second.pod;
		if (!pod || pod->node_name.empty() || is_terminal(*pod) ||
			state.slurm_nodes.contains(pod->node_name))
			return false;
		const auto job = pod->annotations.find(names::k_allocation_job_id);
		return job != pod->annotations.end() && numbers.contains(job->second);
	});
}

} // namespace

NodeView World::node_view() const
{
	return {.kube = state_.kube_nodes,
		.slurm = state_.slurm_nodes,
		.plugin = state_.sync.plugin(),
		.policy = state_.settings.nodes,
		.tolerated = state_.taints.all(),
		.report_interval_us = state_.settings.report_interval_us,
		.devices =
			[this](const std::string &name, Now now) {
				return state_.devices.on_node(name, state_.settings.devices,
					state_.slurm_node(name), now.mono_us);
			},
		.as_left = [this](const KubeNode &node) { return filter_.as_left(state_, node); },
		.holds_pods =
			[this](const std::string &name) {
				return state_.occupancy.pods_on(name) > 0;
			},
		.has_job =
			[this](const std::string &name) { return !jobs_on(state_, name).empty(); },
		.has_pod_without_record =
			[this](const std::string &name) {
				return has_pod_without_record(state_, name);
			}};
}

namespace
{

/* Slurm has jobs for pods there, under the name that the node has now. Pods alone prove nothing:
 * they may be there since the node had another name. Those in native jobs have no job of ours. */
bool needs_name(const State &state, const std::string &name)
{
	return !jobs_on(state, name).empty() ||
		(is_hybrid(state.slurm_node(name)) && state.occupancy.pods_on(name) > 0);
}

} // namespace

/* The first time as soon as nodes are known, so that the first report of Slurm's nodes is read with
 * their names. Later only while all is known: a node with jobs keeps its name. */
std::optional<NodeNames> World::take_names(Now now)
{
	NodeNamer &namer = nodes_.namer();
	const bool is_ready = namer.begins()
		? state_.sync.is_listed(Sync::List::nodes) && state_.sync.is_fresh()
		: state_.is_known();
	if (!is_ready || !namer.is_due(now))
		return std::nullopt;
	const auto is_in_use = [this](const std::string &name) { return needs_name(state_, name); };
	FoundNames found = names_by_label(state_.kube_nodes, state_.settings.nodes.names,
		namer.begins() ? IsInUse() : is_in_use);
	namer.found(std::move(found.troubles), now);
	if (found.names == state_.settings.nodes.names)
		return std::nullopt;
	return state_.settings.nodes.names = std::move(found.names);
}

std::set<std::string> World::take_node_questions(Now now)
{
	return state_.is_known() ? nodes_.take_questions(node_view(), now)
				 : std::set<std::string>();
}

std::vector<NodeAction> World::take_node_actions(Now now)
{
	nodes_.tick(node_view(), now);
	return state_.is_known() ? nodes_.take_actions(node_view(), now)
				 : std::vector<NodeAction>();
}

} // namespace slurmkube::core
