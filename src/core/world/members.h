/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * members.h - the pods of a gang as one look finds them. Pointers are valid until pods or members
 * change, so nothing of this is kept beyond the look.
 */
#ifndef SLURMKUBE_CORE_WORLD_MEMBERS_H
#define SLURMKUBE_CORE_WORLD_MEMBERS_H

#include "src/core/world/component.h"

#include <unordered_map>
#include <unordered_set>

namespace slurmkube::core
{

struct Member {
	const PodUid *uid;
	const PodEntry *entry;
	std::optional<std::uint32_t> rank;
	PodSide side;
};
using Members = std::vector<Member>;

using RankHolders = std::unordered_map<std::uint32_t, const PodUid *>;
struct RankLayout {
	/* for ranks whose pods wait; an empty name: the allocation has no place for the rank */
	std::unordered_map<std::uint32_t, std::string> node_of_rank;
	/* ranks of these that are on another node than their task */
	std::unordered_set<std::uint32_t> moved;
	RankHolders holders;
};

/* The pod whose constraints stand for a role: its member with the lowest rank, or its template
 * while no member has come. */
struct RolePod {
	std::string name;
	const Pod *pod;
};
using RolePods = std::vector<RolePod>;

} // namespace slurmkube::core

#endif
