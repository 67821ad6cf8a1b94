/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that says which pods are in a gang and in which rank: joining, ranks, leaving,
 * and how the pods of ranks ended. */
#include "src/core/model/names.h"
#include "src/core/model/natural_order.h"
#include "src/core/model/outcome.h"
#include "src/core/world/extended_resources.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>
#include <unordered_set>

namespace slurmkube::core
{

Gang &World::gang_at(const PodUid &key, const GangId &id, Now now)
{
	Component &component = touch_component(key);
	if (component.first_seen_us == 0)
		component.first_seen_us = now.mono_us;
	const auto found = state_.gangs.try_emplace(key).first;
	if (found->second.id.kind.empty()) { /* new, or known from an annotation only */
		found->second.id = id;
		if (const OwnerKind *kind = known_kind(id.kind))
			found->second.owner = {
				api_version_of(*kind), id.kind, id.name_space, id.name};
		if (!id.kind.empty())
			put_out_strangers(key, id.name_space);
	}
	return state_.gangs.at(key);
}

/* Removes pods of other namespaces. Their annotations said that they were bound as members before
 * the owner was known, but an owner has only pods of its own namespace. */
void World::put_out_strangers(const PodUid &key, const std::string &name_space)
{
	for (const PodUid &one : components_of_workload(state_, key)) {
		const auto found = state_.gangs.find(one);
		if (found == state_.gangs.end())
			continue;
		std::vector<PodUid> strangers;
		for (const auto &[uid, rank] : found->second.members) {
			if (namespace_of(state_.entry(uid)) != name_space)
				strangers.push_back(uid);
		}
		for (const PodUid &uid : strangers)
			leave(found->second, uid);
		found->second.id.name_space = name_space;
		queue_.mark(one);
	}
}

void World::shape_again(Gang &gang, const PodUid &key, std::vector<Rank> ranks)
{
	if (gang.ranks == ranks)
		return;
	gang.ranks = std::move(ranks);
	gang.standalone.clear();
	gang.per_node.reset();
	queue_.mark(key);
}

/* A rank is free if its pod has ended or is being deleted, because its successor comes before it is
 * gone. */
std::vector<bool> World::taken_ranks(const Gang &gang) const
{
	std::vector<bool> taken(gang.ranks.size());
	for (const auto &[uid, rank] : gang.members) {
		if (!rank || *rank >= taken.size())
			continue;
		const PodSide side = side_of(state_.pods.at(uid));
		taken[*rank] = taken[*rank] || side == PodSide::gated || side == PodSide::waiting ||
			side == PodSide::running;
	}
	return taken;
}

/* A pending job can be replaced by one of another size; an allocation stays as it is. */
bool World::may_take_roles(const PodUid &key, const Gang &gang) const
{
	const Component *component = state_.component(key);
	if (gang.ranks.empty() || !component)
		return true;
	const bool is_any_bound = std::ranges::any_of(gang.members,
		[&](const auto &m) { return is_bound_side(side_of(state_.pods.at(m.first))); });
	return !component->busy.slurm && !is_any_bound &&
		job_side(state_.current_job(key)) != JobSide::allocated;
}

/* Members keep role and index. A pod beyond the new size runs alone until its controller deletes
 * it. */
void World::take_roles(const PodUid &key, Gang &gang, const std::vector<Role> &roles)
{
	if (roles == gang.roles)
		return;
	const std::vector<Rank> before = gang.ranks;
	shape_again(gang, key, ranks_of(roles));
	gang.roles = roles;
	note_roles(gang);
	if (before.empty() || before == gang.ranks)
		return;
	gang.ends.clear();
	if (const SlurmJob *job = state_.current_job(key); job_side(job) == JobSide::pending)
		gang.outgrown = job->id;
	std::vector<PodUid> beyond;
	for (auto &[uid, rank] : gang.members) {
		if (!rank || *rank >= before.size())
			continue;
		rank = rank_at(gang.ranks, before[*rank].role, before[*rank].index);
		if (!rank)
			beyond.push_back(uid);
	}
	for (const PodUid &uid : beyond)
		leave(gang, uid);
}

/* For example an elastic Job, or a RayCluster whose replicas were changed. */
void World::roles_changed(const OwnerId &id, const Owner &owner)
{
	for (auto &[key, gang] : state_.gangs) {
		if (gang.owner == id && gang.minimum == 0 && !gang.roles.empty() &&
			!owner.is_finished && owner.starts_together &&
			key.text.starts_with(owner.uid))
			take_component(key, gang,
				components_of(roles_of_stage(owner, gang.roles.front().stage,
					state_.settings.policy.scheduler_names)));
	}
}

void World::join(const PodUid &uid, PodEntry &entry, InGang in, Now now)
{
	if (const auto kept = component_that_runs(in); kept && kept->text != in.gang.key) {
		in.gang.key = kept->text;
		in.components.clear(); /* the components stay as they are */
	}
	const PodUid key{in.gang.key};
	entry.component = key;
	entry.grouping_known = true;
	inherit(entry, std::move(in.inherited));
	join_components(in, entry, now);
	Gang &gang = gang_at(key, in.gang, now);
	gang.owner = in.owner;
	gang.minimum = in.minimum;
	entry.ends_together = in.ends_together;
	const auto annotated = rank_annotation(*entry.pod);
	std::optional<std::uint32_t> rank =
		annotated ? rank_in_component(gang, *annotated) : std::nullopt;
	if (!rank && in.index)
		rank = rank_at(gang.ranks, in.role, *in.index);
	gang.members[uid] = rank;
	gang.was_seen = true;
	gang.has_newcomers = gang.has_newcomers || may_begin_run(gang, *entry.pod);
	if (has_live_job(state_, key)) /* webhooks may have changed the pod against its template */
		reviews_.add(key);
	if (!rank && !in.index) {
		gang.unranked[uid] = std::move(in.role);
	} else if (!rank && gang.minimum == 0) { /* its owner has grown: a job of its own */
		leave(gang, uid);
		drop_gang_if_empty(key);
	}
	queue_.mark(key);
}

/* Gives pods without an index the free ranks of their roles, in the order of their names. For all
 * such pods at once, because the search takes O(size of the gang). */
void World::assign_free_ranks(Gang &gang)
{
	if (gang.unranked.empty())
		return;
	std::vector<std::pair<const Pod *, std::string>> pods;
	for (auto &[uid, role] : std::exchange(gang.unranked, {})) {
		const auto member = gang.members.find(uid);
		if (member != gang.members.end() && !member->second && state_.pods.at(uid).pod)
			pods.emplace_back(&*state_.pods.at(uid).pod, std::move(role));
	}
	std::ranges::sort(pods, [](const auto &a, const auto &b) {
		return natural_less(a.first->name, b.first->name);
	});
	const std::vector<bool> taken = taken_ranks(gang);
	std::map<std::string, std::uint32_t> next;
	for (const auto &[pod, role] : pods) {
		std::uint32_t &at = next[role];
		while (at < gang.ranks.size() && (taken[at] || gang.ranks[at].role != role))
			at++;
		if (at < gang.ranks.size())
			gang.members[pod->uid] = at++;
		else if (gang.minimum == 0) /* its owner has grown: a job of its own */
			leave(gang, pod->uid);
	}
}

/* Bound pods keep their ranks; the others fill the free ones, in the order of their names. If pods
 * are bound, their annotations tell how many ranks the job has. */
void World::assign_ranks_anew(Gang &gang, const PodUid &key, const std::vector<const Pod *> &pods)
{
	std::size_t size = 0;
	for (const Pod *pod : pods)
		size = std::max<std::size_t>(size,
			std::min(rank_annotation(*pod)
					? number_in(*pod, names::k_allocation_size).value_or(0)
					: 0,
				k_gang_pods_max));
	std::vector<const Pod *> in_rank(size > 0 ? size : pods.size());
	for (const Pod *pod : pods) {
		const auto rank = rank_annotation(*pod);
		gang.members[pod->uid] = rank;
		if (rank && *rank < in_rank.size())
			in_rank[*rank] = pod;
	}
	std::uint32_t next = 0;
	for (const Pod *pod : pods) {
		while (next < in_rank.size() && in_rank[next])
			next++;
		if (gang.members[pod->uid] || next == in_rank.size())
			continue;
		gang.members[pod->uid] = next;
		in_rank[next] = pod;
	}
	std::vector<Rank> ranks;
	for (const Pod *pod : in_rank)
		ranks.push_back({"", static_cast<std::uint32_t>(ranks.size()),
			(pod ? pod : pods.front())->requests});
	shape_again(gang, key, std::move(ranks));
}

/*
 * A PodGroup has no templates: its ranks are the pods that exist when there are enough of them.
 * Pods that come later run alone.
 */
void World::assign_ranks(Gang &gang, const PodUid &key)
{
	if (gang.minimum == 0)
		return;
	std::vector<const Pod *> pods;
	for (const auto &[uid, rank] : gang.members) {
		const PodEntry &entry = state_.pods.at(uid);
		if (entry.grouping_known && entry.pod && is_live_side(side_of(entry)) &&
			side_of(entry) != PodSide::gated)
			pods.push_back(&*entry.pod);
	}
	for (const Pod *pod : pods) { /* bound by another scheduler */
		if (!pod->node_name.empty() && !is_bound_member(state_.pods.at(pod->uid)))
			leave(gang, pod->uid);
	}
	std::erase_if(pods, [&](const Pod *pod) { return !gang.members.contains(pod->uid); });
	std::ranges::sort(
		pods, [](const Pod *a, const Pod *b) { return natural_less(a->name, b->name); });
	const bool is_running =
		std::ranges::any_of(pods, [](const Pod *pod) { return !pod->node_name.empty(); });
	if (pods.empty() ||
		(pods_of(state_, gang, key) < gang.minimum && !has_live_job(state_, key) &&
			!is_running))
		return;
	if (gang.ranks.empty() || (!is_asked_for(key) && !is_running))
		assign_ranks_anew(gang, key, pods);
	std::erase_if(pods, [&](const Pod *pod) { return gang.members[pod->uid].has_value(); });
	std::vector<bool> taken = pods.empty() ? std::vector<bool>() : taken_ranks(gang);
	for (const Pod *pod : pods) {
		std::optional<std::uint32_t> &rank = gang.members[pod->uid];
		for (std::uint32_t i = 0; i < gang.ranks.size() && !rank; i++) {
			if (!taken[i] && gang.ranks[i].requests == pod->requests)
				rank = i;
		}
		if (rank)
			taken[*rank] = true;
		else
			leave(gang, pod->uid);
	}
}

void World::drop_gang_if_empty(const PodUid &key)
{
	const auto gang = state_.gangs.find(key);
	const Component *component = state_.component(key);
	if (gang == state_.gangs.end() || !gang->second.members.empty() || has_pods_of_others(key))
		return;
	if (component &&
		(!component->jobs.empty() || !component->unheard_of.empty() ||
			component->busy.slurm))
		return;
	const bool is_component = gang->second.components > 1;
	holdings_.held.erase(workload_key(key.text));
	holdings_.tries.erase(workload_key(key.text));
	forget_backed_roles(state_, gang->second);
	state_.gangs.erase(gang);
	unanswered_.forget(key);
	clocks_.forget(key);
	state_.resource_claims.forget(key);
	if (is_component)
		wake_components(key);
	state_.components.erase(key);
}

/* Notes by what the component's jobs are recognized as those of its bound pods: nodes and
 * attempt. */
void World::note_bound_members(const PodUid &key, const Gang &gang)
{
	Component &component = state_.components[key];
	component.bound_nodes.clear();
	component.bound_names.clear();
	component.bound_attempt = 0;
	/* pods are many, and labels few */
	const bool are_plain =
		state_.settings.nodes.names.are_the_same() && !nodes_.namer().has_named_pods();
	std::unordered_set<std::string_view> nodes;
	for (const auto &[uid, rank] : gang.members) {
		const PodEntry &member = state_.pods.at(uid);
		if (!rank || !member.pod || member.pod->node_name.empty() ||
			is_terminal(*member.pod) || member.pod_attempt == 0)
			continue;
		nodes.insert(member.pod->node_name);
		if (!are_plain)
			component.bound_names.insert(name_at_binding(state_, *member.pod));
		component.bound_attempt = std::max(component.bound_attempt, member.pod_attempt);
	}
	component.bound_nodes.insert(nodes.begin(), nodes.end());
	note_strays(key);
}

} // namespace slurmkube::core
