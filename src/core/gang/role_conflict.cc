/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/gang/role_conflict.h"

#include <algorithm>
#include <iterator>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_compared_most = 32; /* roles that are compared in pairs */
constexpr std::size_t k_named_most = 4;

using Names = std::vector<std::string>;

Names joined(const Names &one, const Names &other)
{
	Names out;
	std::ranges::set_union(one, other, std::back_inserter(out));
	return out;
}

/* The first two roles without a common node; all roles if there are no such two. */
std::vector<const RoleNodes *> opponents(
	const std::vector<RoleNodes> &roles, std::size_t candidates)
{
	const std::size_t compared = std::min(roles.size(), k_compared_most);
	for (std::size_t i = 0; i < compared; i++) {
		for (std::size_t k = i + 1; k < compared; k++) {
			if (joined(roles[i].excluded, roles[k].excluded).size() >= candidates)
				return {&roles[i], &roles[k]};
		}
	}
	std::vector<const RoleNodes *> all;
	for (const RoleNodes &role : roles)
		all.push_back(&role);
	return all;
}

std::string names_of(const std::vector<const RoleNodes *> &roles)
{
	std::string out;
	for (std::size_t i = 0; i < std::min(roles.size(), k_named_most); i++)
		out += (i == 0 ? "" : " and ") + roles[i]->role + " (" + roles[i]->why + ")";
	return out + (roles.size() > k_named_most ? " and others" : "");
}

} // namespace

std::string role_conflict(
	const std::vector<RoleNodes> &roles, std::size_t candidates, const std::string &owner)
{
	Names excluded;
	for (const RoleNodes &role : roles) {
		if (role.excluded.size() >= candidates)
			return {};
		excluded = joined(excluded, role.excluded);
	}
	if (candidates == 0 || excluded.size() < candidates)
		return {};
	return "no node suits both " + names_of(opponents(roles, candidates)) + ": the pods of " +
		owner +
		" share one Slurm job, each node of which must suit every role; to run each pod in "
		"a job of its own, set the annotation slurm-kube.io/gang: \"false\" on " +
		owner;
}

} // namespace slurmkube::core
