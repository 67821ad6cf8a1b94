/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that groups pods: which owners are asked for, and which pods run alone or with
 * others. */
#include "src/core/model/names.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Pause between turns. Owners of waiting pods may get other options; watching all owners would cost
 * more than it is worth. */
constexpr std::int64_t k_owner_turn_us = 1'000'000;
/* Per turn: questions, and pods looked at. */
constexpr std::size_t k_again_most = 4, k_pods_most = 2'000;

} // namespace

/* In turns, so that no owner is left out if many pods wait. */
void World::ask_owners_again(Now now)
{
	if (now.mono_us < owner_turn_.next_us || !state_.is_known())
		return;
	owner_turn_.next_us = now.mono_us + k_owner_turn_us;
	std::size_t questions = 0;
	for (std::size_t i = std::min(state_.pods.size(), k_pods_most);
		i > 0 && questions < k_again_most; i--) {
		auto next = state_.pods.upper_bound(owner_turn_.last);
		next = next == state_.pods.end() ? state_.pods.begin() : next;
		if (questions > 0 && questions + next->second.owners.size() > k_again_most)
			return; /* all owners of a pod in the same turn */
		owner_turn_.last = next->first;
		if (next->second.owners.empty() || !next->second.grouping_known ||
			side_of(next->second) != PodSide::waiting)
			continue;
		for (const OwnerId &id : next->second.owners)
			questions += state_.owners.ask_again(id, now) ? 1U : 0U;
	}
}

std::vector<OwnerId> World::take_questions(Now now)
{
	ask_owners_again(now);
	return state_.owners.take_questions(now);
}

void World::owner_seen(const OwnerId &id, Result<std::optional<Owner>> answer, Now now)
{
	const OwnerStore::Change change = state_.owners.seen(id, std::move(answer), now);
	const std::optional<Owner> owner =
		change.owner ? std::optional(*change.owner) : std::nullopt;
	for (const PodUid &uid : change.waiting) {
		const auto entry = state_.pods.find(uid);
		if (entry != state_.pods.end() && entry->second.pod &&
			!entry->second.grouping_known)
			assign(uid, touch_pod(uid), now);
	}
	if (change.is_other)
		owner_changed(id);
	if (owner)
		roles_changed(id, *owner);
	for (const auto &[key, gang] : state_.gangs) {
		if (gang.owner == id)
			queue_.mark(key);
	}
}

void World::stay_alone(PodEntry &entry, std::map<std::string, std::string> inherited)
{
	entry.grouping_known = true;
	inherit(entry, std::move(inherited));
}

/* Adds the owners' options. What the pod sets itself takes precedence. */
void World::inherit(PodEntry &entry, std::map<std::string, std::string> inherited)
{
	entry.inherited = std::move(inherited);
	entry.pod->active_deadline_seconds =
		earlier_deadline(entry.own_deadline_seconds, entry.deadline_seconds);
	for (const std::string &key : std::exchange(entry.inherited_keys, {}))
		entry.pod->annotations.erase(key);
	for (const auto &[key, value] : entry.inherited) {
		if (entry.pod->annotations.emplace(key, value).second)
			entry.inherited_keys.insert(key);
	}
}

/* Renews the inherited options. Gangs keep their members, and pods whose owners are gone keep their
 * options. */
void World::inherit_again(const PodUid &uid, PodEntry &entry)
{
	bool is_whole = true;
	Pod own = *entry.pod;
	for (const std::string &name : entry.inherited_keys)
		own.annotations.erase(name);
	const auto &names = state_.settings.policy.scheduler_names;
	auto grouping = group_of(own, names, [&](const OwnerId &id, const std::string &) {
		const OwnerAnswer answer = state_.owners.answer_of(id);
		is_whole = is_whole && answer && *answer;
		return answer;
	});
	if (!grouping || !is_whole || std::holds_alternative<NeedsOwner>(*grouping))
		return;
	auto *alone = std::get_if<Alone>(&*grouping);
	auto &inherited = alone ? alone->inherited : std::get<InGang>(*grouping).inherited;
	const std::int64_t deadline =
		alone ? alone->deadline_seconds : std::get<InGang>(*grouping).deadline_seconds;
	if (!alone && entry.component)
		entry.ends_together = std::get<InGang>(*grouping).ends_together;
	if (inherited == entry.inherited && deadline == entry.deadline_seconds)
		return;
	entry.deadline_seconds = deadline;
	/* the owner does not want a gang */
	if (alone && entry.component && !is_bound_member(entry) &&
		!is_asked_for(*entry.component)) {
		const PodUid key = *entry.component;
		leave(state_.gangs.at(key), uid);
		drop_gang_if_empty(key);
	}
	inherit(entry, std::move(inherited));
	queue_.mark(uid);
	if (entry.component)
		queue_.mark(*entry.component);
}

void World::owner_changed(const OwnerId &id)
{
	for (auto &[uid, entry] : state_.pods) {
		if (entry.grouping_known && side_of(entry) == PodSide::waiting &&
			std::ranges::find(entry.owners, id) != entry.owners.end())
			inherit_again(uid, entry);
	}
}

std::string World::wanted_owner(const PodUid &uid) const
{
	return state_.owners.wanted_by(uid);
}

/* Reports that the pod's owner has not answered. */
void World::report_ungrouped(
	const PodUid &uid, PodEntry &entry, Now now, std::vector<PodAction> &out)
{
	if (!entry.pod || pod_side(&*entry.pod, entry.pod->node_name) != PodSide::waiting)
		return;
	const std::string owner = wanted_owner(uid);
	if (owner.empty())
		return;
	Action report = Report{waiting_for_owner(owner)};
	if (accept(uid, report, now))
		out.push_back({uid, std::move(report)});
}

/* For a pod that is bound as a member of a gang which has lost its owner, or whose owner makes
 * another gang of it: the pod stays where it is. Returns whether that is so. */
bool World::has_other_owner(PodEntry &entry, Grouping &grouping)
{
	auto *alone = std::get_if<Alone>(&grouping);
	auto *other = std::get_if<InGang>(&grouping);
	const bool is_other = other && other->gang.key != entry.component->text;
	if (is_other && workload_key(other->gang.key) == workload_key(entry.component->text))
		keep_role(*entry.component, *other);
	if (alone || is_other)
		stay_alone(entry, std::move(alone ? alone->inherited : other->inherited));
	return alone || is_other;
}

/* Notes which owners were asked for. */
Result<Grouping> World::grouping_of(PodEntry &entry) const
{
	entry.owners.clear();
	const auto &names = state_.settings.policy.scheduler_names;
	return group_of(*entry.pod, names, [&](const OwnerId &id, const std::string &owner_uid) {
		if (std::ranges::find(entry.owners, id) == entry.owners.end())
			entry.owners.push_back(id);
		return state_.owners.answer_for(id, owner_uid, entry.ungrouped_since_us);
	});
}

/* A pod with a job of its own keeps it, whatever its owners say. */
void World::assign(const PodUid &uid, PodEntry &entry, Now now)
{
	const Component *own = state_.component(uid);
	const bool has_no_jobs = !own || own->jobs.empty();
	if (entry.ungrouped_since_us == 0)
		entry.ungrouped_since_us = now.mono_us;
	auto grouping = grouping_of(entry);
	if (!grouping) {
		entry.refusal = grouping.error();
		return stay_alone(entry, {});
	}
	if (const auto *alone = std::get_if<Alone>(&*grouping))
		entry.deadline_seconds = alone->deadline_seconds;
	if (const auto *in = std::get_if<InGang>(&*grouping))
		entry.deadline_seconds = in->deadline_seconds;
	if (has_no_jobs && rejoin(uid, entry, now) && has_other_owner(entry, *grouping))
		return;
	if (const auto *question = std::get_if<NeedsOwner>(&*grouping)) {
		state_.owners.ask_for(uid, question->id,
			std::max(entry.ungrouped_since_us, now.mono_us - k_owner_again_us));
		look_later(uid, now.mono_us + k_owner_again_us);
		return;
	}
	if (auto *alone = std::get_if<Alone>(&*grouping))
		return stay_alone(entry, std::move(alone->inherited));
	auto &in = std::get<InGang>(*grouping);
	/* by us, or by another scheduler, which gives no rank: it needs a job of its own */
	const bool was_bound_alone = !entry.pod->node_name.empty() && !entry.pod_rank;
	if (!has_no_jobs || was_bound_alone) {
		/* with several components, the index says nothing about the rank in one */
		if (in.components.size() < 2)
			note_standalone(PodUid{in.gang.key}, uid, entry, in.index);
		return stay_alone(entry, std::move(in.inherited));
	}
	join(uid, entry, std::move(in), now);
}

} // namespace slurmkube::core
