/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that says what job a gang asks for: its shape, where it may run, and whether that much is there at all. */
#include "src/core/names.h"
#include "src/core/placement.h"
#include "src/core/outcome.h"
#include "src/core/world.h"
#include "src/core/world_parts.h"

#include <algorithm>

namespace slurmkube::core
{

/* Of each role the member of the lowest rank that is there, in rank order. */
std::vector<const Group *> World::first_of_roles(const Gang &gang) const
{
	std::map<std::string_view, std::pair<std::uint32_t, const PodUid *>> firsts;
	for (const auto &[uid, seat] : gang.members) {
		if (!seat || *seat >= gang.seats.size() || !groups_.at(uid).pod)
			continue;
		auto &first = firsts.try_emplace(gang.seats[*seat].role, *seat, &uid).first->second;
		if (*seat < first.first)
			first = {*seat, &uid};
	}
	std::map<std::uint32_t, const Group *> by_seat;
	for (const auto &[role, first] : firsts)
		by_seat.emplace(first.first, &groups_.at(*first.second));
	std::vector<const Group *> out;
	for (const auto &[seat, group] : by_seat)
		out.push_back(group);
	return out;
}

namespace
{

/* The options are those of the first pod and of its owners. */
void take_gang(JobSpec &spec, const PodUid &lead, const Gang &gang, const Pod &first)
{
	spec.marker.kind = gang.id.kind;
	spec.marker.name = gang.id.name;
	spec.marker.uid = lead.text;
	if (spec.name == first.name)
		spec.name = gang.id.name;
	if (spec.comment == gang.id.name_space + "/" + first.name)
		spec.comment = gang.id.name_space + "/" + gang.id.name;
	spec.tasks = gang.shape.tasks;
	spec.cpus = gang.shape.cpus_per_task;
	spec.memory_mib = gang.shape.memory_mib_per_task;
	spec.tasks_per_node = gang.per_node.value_or(0);
}

/* Slurm gives them their nodes all at once, and cannot be told which of these go together. */
std::string trouble_among(const std::vector<const Group *> &firsts)
{
	for (const Group *one : firsts) {
		for (const Group *other : firsts) {
			if (std::string trouble = trouble_at_once(*one->pod, *other->pod); !trouble.empty())
				return trouble;
		}
	}
	return {};
}

} // namespace

/* What takes part in deciding where pods of an allocation go, besides their seats. */
void World::plan(Gang &gang, const std::vector<const Group *> &firsts)
{
	if (gang.per_node || firsts.empty())
		return;
	const auto spec = translate(*firsts.front()->pod, settings_.policy, 1, Pods::gang);
	gang.per_node = spec ? spec->options.pods_per_node.value_or(0) : 0;
	if (std::ranges::any_of(firsts, [](const Group *one) { return are_in_conflict(*one->pod, *one->pod); }))
		gang.per_node = 1;
	for (const Group *one : firsts) {
		const std::uint32_t most = most_on_a_node(*one->pod);
		gang.per_node = most == 0 ? *gang.per_node : std::min(*gang.per_node == 0 ? most : *gang.per_node, most);
	}
	gang.shape = shape_of(gang.seats, settings_.policy.least_memory_mib, *gang.per_node > 0 ? Packing::one_per_task : Packing::shared, settings_.policy.cpu_unit);
	const Resources &requests = firsts.front()->pod->requests;
	if (spec && spec->cpus != cpus_of(requests, settings_.policy.cpu_unit)) /* options ask for more */
		gang.shape.cpus_per_task = std::max(gang.shape.cpus_per_task, spec->cpus);
	if (spec && spec->memory_mib != memory_mib_of(requests, settings_.policy.least_memory_mib))
		gang.shape.memory_mib_per_task = std::max(gang.shape.memory_mib_per_task, spec->memory_mib);
}

/* Tasks that all nodes together hold when they are empty: Slurm leaves a job for more in the queue for ever. Nothing while no node is known. */
std::optional<std::uint64_t> World::places_for(const JobSpec &spec) const
{
	std::optional<std::uint64_t> places;
	for (const auto &[name, node] : slurm_nodes_) {
		if (!kube_nodes_.contains(name))
			continue;
		std::uint64_t here = std::min<std::uint64_t>(node.cpus / spec.cpus, spec.memory_mib > 0 ? node.memory_mib / spec.memory_mib : node.cpus);
		here = spec.tasks_per_node > 0 ? std::min<std::uint64_t>(here, spec.tasks_per_node) : here;
		places = places.value_or(0) + (std::ranges::binary_search(spec.excluded_nodes, name) ? 0 : here);
	}
	return places;
}

void World::spec_of(const PodUid &lead, Gang &gang, const Group &group, std::optional<Result<JobSpec>> &spec)
{
	const std::vector<const Group *> firsts = first_of_roles(gang);
	spec.reset();
	if (firsts.empty())
		return;
	std::uint32_t attempt = next_attempt(group);
	for (const auto &[uid, seat] : gang.members)
		attempt = std::max(attempt, groups_.at(uid).pod ? bound_attempt(*groups_.at(uid).pod) + 1 : 1);
	spec = translate(*firsts.front()->pod, settings_.policy, attempt, Pods::gang);
	if (!*spec)
		return;
	if (const std::string trouble = gang.seats.size() > 1 ? trouble_among(firsts) : std::string(); !trouble.empty()) {
		*spec = Error{Errc::invalid, trouble + " is not supported yet: remove it, or use another schedulerName"};
		return;
	}
	gang.per_node.reset(); /* annotations may have changed since the last attempt */
	plan(gang, firsts);
	if (auto gres = gres_of_pod({.milli_cpu = 0, .memory_bytes = 0, .pods = 0, .extended = gang.shape.extended_per_task}, settings_.policy.gres))
		(*spec)->gres_of_task = std::move(*gres);
	take_gang(spec->value(), lead, gang, *firsts.front()->pod);
	std::set<std::string> excluded;
	for (const Group *first : firsts) { /* a node has to do for all roles: nobody knows which will come to it */
		place(lead, *first->pod, spec, std::max(gang.per_node.value_or(0), 1U));
		if (!spec || !*spec)
			return;
		excluded.insert((*spec)->excluded_nodes.begin(), (*spec)->excluded_nodes.end());
	}
	exclude_for_claims(gang, excluded);
	(*spec)->excluded_nodes.assign(excluded.begin(), excluded.end());
	if (const auto places = places_for(**spec); places && *places < gang.shape.tasks) {
		nowhere_.insert(lead);
		*spec = Error{Errc::not_found, "the nodes together have " + std::to_string(*places) + " places of " + cpus_text((*spec)->cpus, settings_.policy.cpu_unit) + " and " +
						   std::to_string((*spec)->memory_mib) + " MiB where " + std::to_string(gang.shape.tasks) + " are needed at once" +
						   (gang.shape.excess.empty() ? "" : "; " + gang.shape.excess)};
	}
}

namespace
{

void add_names(const std::string &list, std::set<std::string> &names)
{
	for (std::size_t at = 0; at < list.size();) {
		const std::size_t comma = std::min(list.find(',', at), list.size());
		names.insert(list.substr(at, comma - at));
		at = comma + 1;
	}
}

} // namespace

/* Kubernetes can run pods there, and Slurm start jobs. */
bool World::is_in_service(const std::string &node) const
{
	const auto kube = kube_nodes_.find(node);
	const auto slurm = slurm_nodes_.find(node);
	return kube != kube_nodes_.end() && kube->second.ready && !kube->second.unschedulable && slurm != slurm_nodes_.end() && slurm->second.base != NodeBase::down &&
	       !slurm->second.drain;
}

/*
 * Where members run, and where those ran that have ended: the tasks are as many as ever, and Slurm (24.11) takes no nodes beside those that it must. So
 * what else the job had is wanted too, as its pods tell it: else the job of a gang of which a part was bound would never start.
 */
void World::pin_nodes(const Members &members, GangFacts &f) const
{
	std::set<std::string> running, ended, of_job;
	for (const Member &m : members) {
		if (!m.group->pod || !is_bound_member(*m.group))
			continue;
		if (!is_bound_side(m.side)) {
			if (is_terminal(*m.group->pod))
				ended.insert(m.group->pod->node_name);
			continue;
		}
		running.insert(bound_node_of(*m.group));
		const auto noted = m.group->pod->annotations.find(names::k_allocation_nodes);
		if (noted != m.group->pod->annotations.end())
			add_names(noted->second, of_job);
	}
	if (running.empty())
		return;
	running.merge(ended);
	for (const std::string &node : running)
		f.pinned.append(f.pinned.empty() ? "" : ",").append(node);
	for (const std::string &node : of_job) {
		if (!running.contains(node) && is_in_service(node))
			f.other_nodes.push_back(node);
	}
}

} // namespace slurmkube::core
