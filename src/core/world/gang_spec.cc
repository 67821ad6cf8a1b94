/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the job that a gang asks for: its shape, and where it may run. gang_room.cc says
 * whether the nodes have that much at all. */
#include "src/core/model/amounts.h"
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/placement/placement.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_devices.h"
#include "src/core/world/shared_claims.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* " component 1 of 2: worker" */
std::string component_text(const PodUid &key, const Gang &gang)
{
	if (gang.components < 2)
		return {};
	std::string roles;
	for (const Role &role : gang.roles)
		roles += (roles.empty() ? "" : ",") + role.name;
	return " component " + std::to_string(component_of_key(key.text)) + " of " +
		std::to_string(gang.components) + ": " + roles;
}

/* Turns the job of the first pod, whose options it has, into that of the gang. */
void take_gang(
	JobSpec &spec, const PodUid &key, const Gang &gang, const GangPlan &plan, const Pod &first)
{
	spec.marker.kind = gang.id.kind;
	spec.marker.name = gang.id.name;
	spec.marker.uid = key.text;
	if (spec.name == first.name)
		spec.name = gang.id.name;
	if (spec.comment == gang.id.name_space + "/" + first.name)
		spec.comment = gang.id.name_space + "/" + gang.id.name + component_text(key, gang);
	spec.tasks = plan.shape.tasks;
	spec.cpus = plan.shape.cpus_per_task;
	spec.memory_mib = plan.shape.memory_mib_per_task;
	spec.tasks_per_node = plan.per_node;
}

/* Slurm cannot tell the devices of claims from those that the option asks for. */
Status check_claimed(const GangShape &shape, const std::string &option)
{
	for (const auto &[resource, amount] : shape.extended_per_task) {
		const std::string name = resource.substr(1, resource.find(':') - 1);
		if (is_claimed_resource(resource) && lists_gres(option, name))
			return Error{Errc::invalid,
				"the resource claims and option gres='" + option +
					"' both ask for GRES " + name + ": leave one of them out"};
	}
	return Ok{};
}

std::set<std::string> backed_by(const Pod &pod)
{
	std::set<std::string> out;
	for (const auto &[resource, one] : pod.backed)
		out.insert(resource);
	return out;
}

/* Templates request what their pods get as devices, and what add_claimed() adds. */
void drop_backed(const std::set<std::string> &backed, Resources &requests)
{
	for (const std::string &resource : backed)
		requests.extended.erase(resource);
}

/* For a rank whose role has no pods yet. */
void take_devices_of_template(const State &state, const Gang &gang, Rank &rank)
{
	const auto found = gang.backed_roles.find(rank.role);
	if (found == gang.backed_roles.end())
		return;
	drop_backed(backed_by(*found->second), rank.requests);
	add_claimed(state, *found->second, rank.requests);
}

} // namespace

/* What decides, besides the ranks, where in an allocation the pods go. */
GangPlan FactsReader::plan_of(const Gang &gang, const Pod &first) const
{
	const auto spec = translate(first, state_.settings.policy, 1, Pods::gang);
	GangPlan plan{.per_node = spec ? spec->options.pods_per_node.value_or(0) : 0,
		.shape = {},
		.gres_on_node = {}};
	const RolePods roles = pods_of_roles(gang);
	for (const RolePod &role : roles) {
		const std::uint32_t most =
			are_in_conflict(*role.pod, *role.pod) ? 1 : most_on_a_node(*role.pod);
		plan.per_node = most == 0
			? plan.per_node
			: std::min(plan.per_node == 0 ? most : plan.per_node, most);
	}
	std::set<std::string> excluded;
	for (const RolePod &role : roles) {
		if (!role.pod->node_name.empty())
			continue; /* a bound pod excludes all other nodes, which its gang may use */
		const std::vector<std::string> &of_role =
			filter_.exclusions_for(state_, *role.pod).excluded;
		excluded.insert(of_role.begin(), of_role.end());
	}
	const Packing packing = plan.per_node > 0 ? Packing::one_per_task : Packing::shared;
	std::vector<Rank> ranks = ranks_as_seen(gang);
	plan.gres_on_node = gres_on_node(state_, gang, ranks);
	plan.shape = shape_of(ranks, state_.settings.policy.least_memory_mib, packing,
		state_.settings.policy.cpu_unit, node_sizes(excluded));
	const Resources &requests = first.requests;
	/* the options may ask for more than the pods request */
	if (spec && spec->cpus != cpus_of(requests, state_.settings.policy.cpu_unit))
		plan.shape.cpus_per_task = std::max(plan.shape.cpus_per_task, spec->cpus);
	if (spec &&
		spec->memory_mib !=
			memory_mib_of(requests, state_.settings.policy.least_memory_mib))
		plan.shape.memory_mib_per_task =
			std::max(plan.shape.memory_mib_per_task, spec->memory_mib);
	return plan;
}

/* Sizes of the nodes that are not excluded, as if they were empty, with the number of nodes of each
 * size. Empty while no node is known. */
NodeSizes FactsReader::node_sizes(const std::set<std::string> &excluded) const
{
	NodeSizes sizes;
	for (const auto &[name, node] : state_.slurm_nodes) {
		const auto kube = state_.kube_nodes.find(name);
		if (kube != state_.kube_nodes.end() && !excluded.contains(name))
			sizes[{node.cpus, node.memory_mib, kube->second.allocatable.pods,
				node.gres}]++;
	}
	return sizes;
}

/*
 * Pods may request more than their template: a LimitRange sets defaults, webhooks add sidecars, a
 * RuntimeClass has an overhead. So each rank has the maximum of its template and the existing pods
 * of its role. The ranks of a PodGroup are its pods.
 */
std::vector<Rank> FactsReader::ranks_as_seen(const Gang &gang) const
{
	std::vector<Rank> ranks = gang.ranks;
	struct Seen {
		Resources requests;
		std::set<std::string> backed;
	};
	std::map<std::string_view, Seen> seen;
	for (const auto &[uid, rank] : gang.members) {
		const PodEntry &entry = state_.pods.at(uid);
		if (!rank || *rank >= ranks.size() || !entry.pod)
			continue;
		if (gang.minimum > 0) {
			/* a pod that has ended and its successor have the same rank */
			Resources claimed;
			add_claimed(state_, *entry.pod, claimed);
			drop_backed(backed_by(*entry.pod), ranks[*rank].requests);
			raise(ranks[*rank].requests, claimed);
			continue;
		}
		Seen &of_role = seen[gang.ranks[*rank].role];
		of_role.backed.merge(backed_by(*entry.pod));
		Resources requests = entry.pod->requests;
		add_claimed(state_, *entry.pod, requests);
		raise(of_role.requests, requests);
	}
	for (Rank &rank : ranks) {
		const auto found = seen.find(rank.role);
		if (found == seen.end()) {
			take_devices_of_template(state_, gang, rank);
			continue;
		}
		/* pods of before may have had the resource of a plugin */
		drop_backed(found->second.backed, found->second.requests);
		drop_backed(found->second.backed, rank.requests);
		raise(rank.requests, found->second.requests);
	}
	return ranks;
}

/* The job as the options of the first pod ask for it, before it becomes that of the gang. */
Result<JobSpec> FactsReader::spec_of_first(
	const PodUid &key, const Gang &gang, const Pod &first, const RolePods &roles) const
{
	std::uint32_t attempt = next_attempt(state_, key);
	Pod of_all = first;
	of_all.active_deadline_seconds = deadline_of(roles);
	const auto wait_for = [&](const Pod &pod) {
		of_all.termination_grace_seconds =
			std::max(of_all.termination_grace_seconds, pod.termination_grace_seconds);
	};
	for (const RolePod &role : roles)
		wait_for(*role.pod);
	for (const auto &[uid, rank] : gang.members) {
		const PodEntry &entry = state_.pods.at(uid);
		if (!entry.pod)
			continue;
		attempt = std::max(attempt, bound_attempt(*entry.pod) + 1);
		wait_for(*entry.pod);
	}
	Result<JobSpec> spec = translate(of_all, state_.settings.policy, attempt, Pods::gang);
	if (!spec) {
		/* the text is read on pods of other roles */
		if (&first == gang.stand_in.get())
			return in_context("role '" + roles.front().name + "' of " + gang.id.kind +
					" " + gang.id.name,
				spec.error());
		return spec;
	}
	if (gang.components > 1 && spec->options.dependency.find("singleton") != std::string::npos)
		return Error{Errc::invalid,
			"dependency=singleton cannot be used: each of the jobs of " + gang.id.kind +
				" " + gang.id.name +
				" would wait for the others, which have the same name; remove it"};
	return spec;
}

void FactsReader::spec_of(
	const PodUid &key, const Gang &gang, std::optional<Result<JobSpec>> &spec) const
{
	const Pod *first = first_member(gang);
	spec.reset();
	if (!first)
		return;
	const RolePods roles = pods_of_roles(gang);
	spec = spec_of_first(key, gang, *first, roles);
	if (!*spec)
		return;
	if (const Status fine = check_roles(gang, roles); !fine) {
		*spec = fine.error();
		return;
	}
	/* The annotations may have changed since the last attempt. */
	const GangPlan &plan = found_.plan.emplace(plan_of(gang, *first));
	if (auto gres = gres_of_pod({.milli_cpu = 0,
					    .memory_bytes = 0,
					    .pods = 0,
					    .extended = plan.shape.extended_per_task},
		    state_.settings.policy.gres))
		(*spec)->gres_of_task = std::move(*gres);
	if (const Status fine = check_claimed(plan.shape, (*spec)->options.gres); !fine) {
		*spec = fine.error();
		return;
	}
	take_gang(spec->value(), key, gang, plan, *first);
	const Status on_one_node = plan.gres_on_node
		? ask_for_one_node(state_, key, gang, *plan.gres_on_node, spec->value())
		: Status(Ok{});
	if (!on_one_node) {
		*spec = on_one_node.error();
		return;
	}
	exclude_for_roles(key, gang, roles, plan.per_node, spec);
	check_room(plan, spec);
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

/* Kubernetes can run pods there, and Slurm can start jobs there. */
bool FactsReader::is_in_service(const std::string &node) const
{
	const auto kube = state_.kube_nodes.find(node);
	const auto slurm = state_.slurm_nodes.find(node);
	return kube != state_.kube_nodes.end() && kube->second.ready &&
		!kube->second.unschedulable && slurm != state_.slurm_nodes.end() &&
		slurm->second.base != NodeBase::down && !slurm->second.drain;
}

/*
 * The nodes on which members run. The job has the same number of tasks as before, and Slurm (24.11)
 * allocates no nodes in addition to the required ones. So the nodes of members that have ended are
 * required as well, and the other nodes of the job according to its pods' annotations. Otherwise,
 * the new job of a gang that was bound in part would never start. A node that is out of service is
 * left out, because the job would not start with it either.
 */
void FactsReader::pin_nodes(const Members &members, ComponentFacts &f) const
{
	std::set<std::string> running, of_job;
	for (const Member &m : members) {
		if (!m.entry->pod || !is_bound_member(*m.entry))
			continue;
		if (!is_bound_side(m.side)) {
			if (is_terminal(*m.entry->pod))
				of_job.insert(m.entry->pod->node_name);
			continue;
		}
		running.insert(bound_node_of(*m.entry));
		const auto noted = m.entry->pod->annotations.find(names::k_allocation_nodes);
		if (noted != m.entry->pod->annotations.end())
			add_names(noted->second, of_job);
	}
	if (running.empty())
		return;
	for (const std::string &node : running)
		f.pinned.append(f.pinned.empty() ? "" : ",").append(node);
	for (const std::string &node : of_job) {
		if (!running.contains(node) && is_in_service(node))
			f.other_nodes.push_back(node);
	}
}

} // namespace slurmkube::core
