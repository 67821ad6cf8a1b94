/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that says how the pods of ranks ended, which of these ends are of the present
 * run of the workload, and how many ranks the owner still wants. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

namespace
{

/* Creation of the oldest of their pods that live, seconds since the epoch; 0: none does. */
std::int64_t first_live_created(const State &state, const std::vector<PodUid> &keys)
{
	std::int64_t first = 0;
	for (const PodUid &key : keys) {
		const auto gang = state.gangs.find(key);
		if (gang == state.gangs.end())
			continue;
		for (const auto &[uid, rank] : gang->second.members) {
			const PodEntry &member = state.pods.at(uid);
			if (member.pod && is_live_side(side_of(member)))
				first = first == 0 ? member.pod->created
						   : std::min(first, member.pod->created);
		}
	}
	return first;
}

/* The last pod of a rank counts. The removal of a pod that had ended already is not its end. */
void keep_end(RankEnd &known, RankEnd end)
{
	const auto order = [](const RankEnd &one) {
		return std::tie(one.restart, one.attempt, one.created);
	};
	if (order(end) < order(known))
		return;
	if (order(end) == order(known) && known.created > 0)
		end.was_deleted = end.was_deleted && known.was_deleted;
	known = end;
}

} // namespace

/* Only JobSets say on their pods that all of them were re-created. */
bool may_begin_run(const Gang &gang, const Pod &pod)
{
	return gang.components > 1 && pod.node_name.empty() && !is_terminal(pod) &&
		!pod.labels.contains(names::k_jobset_restart);
}

/* If pods have come while none is bound, the workload has started again. Judged once for all that
 * came since the last look, because it takes as long as the workload is large. */
void World::note_new_run(const PodUid &key, Gang &gang)
{
	if (!std::exchange(gang.has_newcomers, false))
		return;
	const std::vector<PodUid> keys = components_of_workload(state_, key);
	const auto is_bound_one = [&](const auto &member) {
		return is_bound_side(side_of(state_.pods.at(member.first)));
	};
	const auto is_any_bound = [&](const PodUid &one) {
		const auto found = state_.gangs.find(one);
		return found != state_.gangs.end() &&
			std::ranges::any_of(found->second.members, is_bound_one);
	};
	if (std::ranges::any_of(keys, is_any_bound))
		return;
	/* Pods of one run may come at different times. */
	const std::int64_t first = first_live_created(state_, keys);
	for (const PodUid &one : keys) {
		const auto found = state_.gangs.find(one);
		if (first > 0 && found != state_.gangs.end())
			found->second.run_since = std::max(found->second.run_since, first);
	}
}

/* Members that are gone leave the gang, as soon as they hold no share of a node. */
void World::note_ends(Gang &gang, Now now)
{
	std::vector<PodUid> gone;
	for (const auto &[uid, rank] : gang.members) {
		PodEntry &member = state_.pods[uid];
		settle_share(uid, member, now);
		gang.restart = std::max(gang.restart, member.restart);
		const Pod *pod = member.pod ? &*member.pod : member.last ? &*member.last : nullptr;
		const bool has_ended =
			pod && (!member.pod || is_terminal(*pod)) && bound_attempt(*pod) > 0;
		if (rank && has_ended) {
			RankEnd end{member.restart, bound_attempt(*pod), pod->created,
				pod->deleting, !member.pod,
				member.end_status.value_or(wait_status_of_gone(pod))};
			keep_end(gang.ends[*rank], end);
		}
		if (!member.pod && member.held_node.empty())
			gone.push_back(uid);
	}
	for (const PodUid &uid : gone) {
		gang.members.erase(uid);
		state_.pods[uid].component.reset();
		drop_if_empty(uid);
	}
}

std::uint32_t wanted_ranks(
	const State &state, const PodUid &key, const Gang &gang, const ComponentFacts &f)
{
	const OwnerAnswer answer = state.owners.answer_of(gang.owner);
	if (!answer || gang.roles.empty())
		return f.rank_count;
	std::uint32_t wanted = 0; /* 0 stays if the owner is gone, or another has its name */
	const bool is_there = *answer && key.text.starts_with((*answer)->uid);
	for (const Role &role : is_there ? (*answer)->roles : std::vector<Role>()) {
		if (std::ranges::find(gang.roles, role.name, &Role::name) != gang.roles.end())
			wanted += role.pods;
	}
	return std::min(wanted, f.rank_count);
}

} // namespace slurmkube::core
