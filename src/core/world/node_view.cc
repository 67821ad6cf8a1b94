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

bool is_on(const SlurmJob &job, const std::string &node)
{
	return std::ranges::find(job.nodes, node, &NodeAllocation::node) != job.nodes.end();
}

/* Our jobs on the node, by their numbers as in the pods' annotations. */
std::map<std::string, const SlurmJob *> jobs_on(const State &state, const std::string &name)
{
	std::map<std::string, const SlurmJob *> jobs;
	for (const auto &[id, job] : state.jobs) {
		if ((is_live(job) || job.completing) && is_on(job, name))
			jobs.emplace(std::to_string(id.number), &job);
	}
	return jobs;
}

/* With a wrong nodes.name_prefix, or without one, Slurm's record has another name than the node:
 * the pod runs on a node that its job does not have, and the record seems to be that of a node that
 * is gone. */
bool has_pod_without_record(const State &state, const std::string &name)
{
	const auto jobs = jobs_on(state, name);
	return !jobs.empty() && std::ranges::any_of(state.pods, [&](const auto &one) {
		const std::optional<Pod> &pod = one.second.pod;
		if (!pod || pod->node_name.empty() || is_terminal(*pod))
			return false;
		const auto named = pod->annotations.find(names::k_allocation_job_id);
		const auto job =
			named == pod->annotations.end() ? jobs.end() : jobs.find(named->second);
		return job != jobs.end() && !is_on(*job->second, pod->node_name);
	});
}

bool has_labels(const std::map<std::string, KubeNode> &nodes)
{
	return std::ranges::any_of(
		nodes, [](const auto &node) { return !label_of_slurm(node.second).empty(); });
}

/* Whether a record, or a node of a job, is that of another node now. */
bool is_any_renamed(const State &state, const NodeNames &before)
{
	const auto is_renamed = [&](const std::string &node) {
		return state.settings.nodes.names.in_kubernetes(before.in_slurm(node)) != node;
	};
	return std::ranges::any_of(state.slurm_nodes, [&](const auto &record) {
		return is_renamed(record.first);
	}) || std::ranges::any_of(state.jobs, [&](const auto &job) {
		return std::ranges::any_of(job.second.nodes, is_renamed, &NodeAllocation::node);
	});
}

IsHybrid hybrid_names(const State &state)
{
	std::set<std::string> all;
	for (const auto &[name, record] : state.slurm_nodes) {
		if (record.is_hybrid)
			all.insert(state.settings.nodes.names.in_slurm(name));
	}
	return [all = std::move(all)](const std::string &name) { return all.contains(name); };
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

/* The first time as soon as nodes are known, so that the first report of Slurm's nodes is read with
 * their names; then when all is known. */
bool World::take_names(Now now)
{
	NodeNamer &namer = nodes_.namer();
	const bool is_known = state_.is_known();
	const bool is_ready =
		is_known || (!namer.was_asked() && state_.sync.is_listed(Sync::List::nodes));
	if (!is_ready || !namer.is_due(now))
		return false;
	NodeNames &names = state_.settings.nodes.names;
	FoundNames found{{names.prefix}, {}};
	if (namer.has_named_pods() || names.by_label || has_labels(state_.kube_nodes))
		found = names_by_label(state_.kube_nodes, names.prefix, names_in_use(state_),
			is_known ? hybrid_names(state_) : IsHybrid());
	const NodeNames before = std::exchange(names, std::move(found.names));
	const bool must_report = !(before == names) && is_any_renamed(state_, before);
	namer.found(std::move(found.troubles), is_known, must_report, now);
	if (before == names)
		return false;
	state_.recordless_nodes.clear(); /* the names of before */
	for (const auto &[name, node] : state_.kube_nodes)
		nodes_.mark(name);
	return must_report;
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
