/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/gang/components.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace slurmkube::core
{

namespace
{

/* The constraints and devices that decide which nodes suit a role. They are the same for all nodes
 * of a Slurm job. */
struct Wants {
	std::map<std::string, std::string> node_selector;
	std::optional<std::vector<NodeTerm>> node_terms;
	std::vector<Toleration> tolerations;
	std::map<std::string, std::int64_t> devices;
	std::vector<std::string> claims; /* for devices: templates, and "/" with names */
	bool operator==(const Wants &) const = default;
};

bool is_device(const std::string &resource)
{
	return resource != "ephemeral-storage" && !resource.starts_with("hugepages-");
}

Wants wants_of(const Role &role)
{
	Wants wants;
	for (const auto &[resource, amount] : role.each.extended) {
		if (amount > 0 && is_device(resource))
			wants.devices[resource] = amount;
	}
	if (!role.pod_template)
		return wants;
	const SchedulingConstraints &constraints = role.pod_template->constraints;
	wants.node_selector = constraints.node_selector;
	wants.node_terms = constraints.node_terms;
	wants.tolerations = constraints.tolerations;
	std::ranges::sort(wants.tolerations);
	for (const PodResourceClaim &one : role.pod_template->resource_claims)
		wants.claims.push_back(one.is_own ? one.made_of : '/' + one.claim);
	std::ranges::sort(wants.claims);
	return wants;
}

/* Roles that may share a job, and the constraints that they have in common. */
struct Set {
	Wants wants;
	std::vector<std::size_t> roles;
};

std::int64_t whole_cpus(std::int64_t milli_cpu)
{
	return std::max<std::int64_t>((milli_cpu + k_whole_cpu - 1) / k_whole_cpu, 1);
}

/* Size of a job of equal tasks, and what its pods request. is_packed: as many pods of a role share
 * a task as its CPUs hold; otherwise each pod has a task of its own. */
struct Estimate {
	double tasks = 0, cpus_wanted = 0, bytes_wanted = 0;
	std::int64_t milli_cpu = 1, memory_bytes = 1; /* of one task */
};

Estimate estimate(
	const std::vector<Role> &roles, const std::vector<std::size_t> &set, bool is_packed)
{
	Estimate e;
	for (const std::size_t at : set)
		e.milli_cpu =
			std::max(e.milli_cpu, whole_cpus(roles[at].each.milli_cpu) * k_whole_cpu);
	for (const std::size_t at : set) {
		const Resources &each = roles[at].each;
		const auto pods = static_cast<double>(roles[at].pods);
		const std::int64_t fit =
			is_packed ? e.milli_cpu / std::max<std::int64_t>(each.milli_cpu, 1) : 1;
		const std::int64_t together =
			std::clamp<std::int64_t>(fit, 1, std::max<std::int64_t>(roles[at].pods, 1));
		e.memory_bytes = std::max(e.memory_bytes, together * each.memory_bytes);
		e.tasks += pods / static_cast<double>(std::max<std::int64_t>(fit, 1));
		e.cpus_wanted += pods * static_cast<double>(each.milli_cpu);
		e.bytes_wanted += pods * static_cast<double>(each.memory_bytes);
	}
	e.tasks = std::ceil(e.tasks);
	return e;
}

/* Uses two estimates, because packing the pods exactly takes longer the larger the workload is. A
 * job is wasteful only if both estimates exceed the limit. */
bool is_wasteful(const std::vector<Role> &roles, const std::vector<std::size_t> &set)
{
	const auto wastes = [&](bool is_packed) {
		const Estimate e = estimate(roles, set, is_packed);
		const double most = 1 + k_waste_most_percent / 100.0;
		const double cpus = e.tasks * static_cast<double>(e.milli_cpu),
			     bytes = e.tasks * static_cast<double>(e.memory_bytes);
		return (e.cpus_wanted > 0 && cpus > e.cpus_wanted * most) ||
			(e.bytes_wanted > 0 && bytes > e.bytes_wanted * most);
	};
	return wastes(true) && wastes(false);
}

bool is_same_size(const Role &one, const Role &other)
{
	return one.each.milli_cpu == other.each.milli_cpu &&
		one.each.memory_bytes == other.each.memory_bytes;
}

std::vector<Set> by_wants(const std::vector<Role> &roles)
{
	std::vector<Set> sets;
	for (std::size_t at = 0; at < roles.size(); at++) {
		const Wants wants = wants_of(roles[at]);
		auto set = std::ranges::find(sets, wants, &Set::wants);
		if (set == sets.end() && sets.size() == k_components_most)
			/* role_conflict() judges later whether any node suits all roles of the last
			 * set */
			set = sets.end() - 1;
		else if (set == sets.end())
			set = sets.insert(sets.end(), {wants, {}});
		set->roles.push_back(at);
	}
	return sets;
}

std::vector<Set> by_size(const std::vector<Role> &roles, const Set &set)
{
	std::vector<Set> parts;
	for (const std::size_t at : set.roles) {
		const auto is_like = [&](const Set &part) {
			return is_same_size(roles[part.roles.front()], roles[at]);
		};
		auto part = std::ranges::find_if(parts, is_like);
		if (part == parts.end())
			part = parts.insert(parts.end(), {set.wants, {}});
		part->roles.push_back(at);
	}
	return parts;
}

/* Only pods of one job can share a claim for devices. */
bool may_share_claims(const Set &set)
{
	return std::ranges::any_of(
		set.wants.claims, [](const std::string &claim) { return claim.starts_with('/'); });
}

/* Splits a set by size if one job for it would be wasteful and the limit on components permits. */
std::vector<Set> sets_of(const std::vector<Role> &roles)
{
	const std::vector<Set> whole = by_wants(roles);
	std::vector<Set> sets;
	std::size_t left = whole.size();
	for (const Set &set : whole) {
		left--;
		std::vector<Set> parts = !may_share_claims(set) && is_wasteful(roles, set.roles)
			? by_size(roles, set)
			: std::vector<Set>{set};
		if (sets.size() + parts.size() + left > k_components_most)
			parts = {set};
		std::ranges::move(parts, std::back_inserter(sets));
	}
	std::ranges::sort(sets, {}, [](const Set &set) { return set.roles.front(); });
	return sets;
}

} // namespace

std::vector<ComponentRoles> components_of(const std::vector<Role> &roles)
{
	std::vector<ComponentRoles> components;
	std::vector<std::size_t> component_of(roles.size());
	for (const Set &set : sets_of(roles)) {
		for (const std::size_t at : set.roles)
			component_of[at] = components.size();
		components.emplace_back();
	}
	std::uint32_t rank = 0;
	for (std::size_t at = 0; at < roles.size(); at++) {
		ComponentRoles &component = components[component_of[at]];
		component.roles.push_back(roles[at]);
		for (std::uint32_t i = 0;
			components.size() > 1 && i < roles[at].pods && rank < k_gang_pods_max; i++)
			component.workload_ranks.push_back(rank++);
	}
	return components;
}

std::string component_key(const std::string &workload, std::size_t component)
{
	return component == 0 ? workload : workload + k_component_mark + std::to_string(component);
}

std::size_t component_of_key(const std::string &key)
{
	const std::size_t mark = key.find(k_component_mark);
	std::size_t component = 0;
	if (mark != std::string::npos)
		(void)std::from_chars(key.data() + mark + 1, key.data() + key.size(), component);
	return component;
}

bool is_component_key(const std::string &key)
{
	const std::size_t component = component_of_key(key);
	return !workload_key(key).empty() && component < k_components_most &&
		component_key(workload_key(key), component) == key;
}

std::string workload_key(const std::string &component)
{
	return component.substr(0, component.find(k_component_mark));
}

} // namespace slurmkube::core
