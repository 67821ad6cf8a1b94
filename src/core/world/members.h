/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * members.h - the pods of a gang as one look finds them. Pointers are valid until entries or
 * members change: nothing of this is kept.
 */
#ifndef SLURMKUBE_CORE_WORLD_MEMBERS_H
#define SLURMKUBE_CORE_WORLD_MEMBERS_H

#include "src/core/world/component.h"

#include <unordered_map>

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
	/* of those who wait; empty: it has no place */
	std::unordered_map<std::uint32_t, std::string> node_of_rank;
	RankHolders holders;
};

/* What a role constraints: its member of the lowest rank, or its template while none has come. */
struct RolePod {
	std::string name;
	const Pod *pod;
};
using RolePods = std::vector<RolePod>;

} // namespace slurmkube::core

#endif
