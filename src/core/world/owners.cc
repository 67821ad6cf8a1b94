/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that places pods: which owners are asked for, and who runs alone or with others. */
#include "src/core/model/names.h"
#include "src/core/world/world.h"
#include "src/core/world/parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_ask_again_us = 2'000'000;      /* after an error, or for an object that does not exist yet */
constexpr std::int64_t k_owner_fresh_us = 2'000'000;       /* an answer that was true so shortly before a pod came is true of it */
constexpr std::int64_t k_owner_forgotten_us = 300'000'000; /* since its answer, and nobody waits for it */
constexpr std::size_t k_owners_kept = 10'000;
/* Owners of pods that wait may be given other options; watching all owners there are would cost more than it is worth. */
constexpr std::int64_t k_owner_old_us = 30'000'000, k_look_again_us = 1'000'000;
constexpr std::size_t k_again_most = 4, k_groups_most = 2'000; /* in that second: questions, and groups looked at */

bool may_be_asked_again(const OwnerEntry &entry, Now now)
{
	return !entry.is_asked && (!entry.answer || (entry.answer->has_value() && now.mono_us - entry.answered_us >= k_owner_old_us));
}

} // namespace

OwnerAnswer World::owner_of(const OwnerId &id) const
{
	const auto found = owners_.find(id);
	return found != owners_.end() && found->second.answer ? &*found->second.answer : nullptr;
}

/*
 * For a pod that is being placed since then. What was said before may be about another object of that name, or about another size of it; without a uid nothing tells whether it is.
 */
OwnerAnswer World::owner_for(const OwnerId &id, const std::string &uid, std::int64_t since_us) const
{
	const OwnerAnswer answer = owner_of(id);
	if (!answer)
		return nullptr;
	const bool is_other = !*answer || uid.empty() || (*answer)->uid != uid;
	const std::int64_t least_us = is_other ? since_us : since_us - k_owner_fresh_us;
	return owners_.at(id).answered_us >= least_us ? answer : nullptr;
}

/* Unless there is an answer that came later than that. */
void World::ask_for(const OwnerId &id, std::int64_t newer_than_us)
{
	OwnerEntry &entry = owners_[id];
	if (entry.is_asked || (entry.answer && entry.answered_us >= newer_than_us))
		return;
	questions_.insert(id);
}

/* In turns, so that none is forgotten where many wait. */
void World::ask_owners_again(Now now)
{
	if (now.mono_us < owners_next_us_ || !is_known())
		return;
	owners_next_us_ = now.mono_us + k_look_again_us;
	std::size_t questions = 0;
	for (std::size_t i = std::min(groups_.size(), k_groups_most); i > 0 && questions < k_again_most; i--) {
		auto next = groups_.upper_bound(owners_last_);
		next = next == groups_.end() ? groups_.begin() : next;
		owners_last_ = next->first;
		if (next->second.owners.empty() || !next->second.is_placed || side_of(next->second) != PodSide::waiting)
			continue;
		for (const OwnerId &id : next->second.owners) {
			OwnerEntry &entry = owners_[id];
			if (!may_be_asked_again(entry, now) || !questions_.insert(id).second)
				continue;
			entry.is_again = true;
			questions++;
		}
	}
}

std::vector<OwnerId> World::take_questions(Now now)
{
	ask_owners_again(now);
	std::vector<OwnerId> out;
	for (auto it = questions_.begin(); it != questions_.end();) {
		OwnerEntry &entry = owners_[*it];
		if (entry.ask_at_us > now.mono_us) {
			it++;
			continue;
		}
		entry.is_asked = true;
		entry.asked_us = now.mono_us;
		out.push_back(*it);
		it = questions_.erase(it);
	}
	return out;
}

void World::owner_seen(const OwnerId &id, Result<std::optional<Owner>> answer, Now now)
{
	OwnerEntry &entry = owners_[id];
	entry.is_asked = false;
	entry.trouble = answer ? "" : answer.error().what;
	const bool is_known_before = entry.answer && *entry.answer;
	const auto says_else = [](const Owner &one, const Owner &other) {
		return one.annotations != other.annotations || one.deadline_seconds != other.deadline_seconds;
	};
	const bool is_change = answer && *answer && (is_known_before ? says_else(**entry.answer, **answer) : entry.is_again);
	entry.is_again = false;
	if (answer) {
		entry.answer = std::move(*answer);
		entry.answered_us = entry.asked_us;
	}
	entry.ask_at_us = answer && entry.answer->has_value() ? 0 : now.mono_us + k_ask_again_us;
	for (const PodUid &uid : std::exchange(entry.waiting, {})) {
		const auto group = groups_.find(uid);
		if (group != groups_.end() && group->second.pod && !group->second.is_placed)
			assign(uid, touch(uid), now);
	}
	if (is_change)
		owner_changed(id);
	if (entry.answer && *entry.answer)
		roles_changed(id, **entry.answer);
	if (owners_.size() > k_owners_kept)
		std::erase_if(owners_, [&](const auto &e) { return !e.second.is_asked && e.second.waiting.empty() && now.mono_us - e.second.answered_us > k_owner_forgotten_us; });
	for (const auto &[lead, gang] : gangs_) {
		if (gang.owner == id)
			dirty_.insert(lead);
	}
}

void World::stay_alone(Group &group, std::map<std::string, std::string> inherited)
{
	group.is_placed = true;
	inherit(group, std::move(inherited));
}

/* What the pod says itself stays. */
void World::inherit(Group &group, std::map<std::string, std::string> inherited)
{
	group.inherited = std::move(inherited);
	group.pod->active_deadline_seconds = earlier_deadline(group.own_deadline_seconds, group.deadline_seconds);
	for (const std::string &key : std::exchange(group.inherited_keys, {}))
		group.pod->annotations.erase(key);
	for (const auto &[key, value] : group.inherited) {
		if (group.pod->annotations.emplace(key, value).second)
			group.inherited_keys.insert(key);
	}
}

/* Who is in which gang stays as it is, and so do the options of pods whose owners are gone. */
void World::inherit_again(const PodUid &uid, Group &group)
{
	bool is_whole = true;
	Pod own = *group.pod;
	for (const std::string &key : group.inherited_keys)
		own.annotations.erase(key);
	auto grouping = group_of(own, [&](const OwnerId &id, const std::string &) {
		const OwnerAnswer answer = owner_of(id);
		is_whole = is_whole && answer && *answer;
		return answer;
	});
	if (!grouping || !is_whole || std::holds_alternative<NeedsOwner>(*grouping))
		return;
	auto *alone = std::get_if<Alone>(&*grouping);
	auto &inherited = alone ? alone->inherited : std::get<InGang>(*grouping).inherited;
	const std::int64_t deadline = alone ? alone->deadline_seconds : std::get<InGang>(*grouping).deadline_seconds;
	if (inherited == group.inherited && deadline == group.deadline_seconds)
		return;
	group.deadline_seconds = deadline;
	if (alone && group.gang && !is_bound_member(group) && !is_asked_for(*group.gang)) { /* its owner wants no gang any more */
		const PodUid lead = *group.gang;
		leave(gangs_.at(lead), uid);
		drop_gang_if_empty(lead);
	}
	inherit(group, std::move(inherited));
	dirty_.insert(uid);
	if (group.gang)
		dirty_.insert(*group.gang);
}

void World::owner_changed(const OwnerId &id)
{
	for (auto &[uid, group] : groups_) {
		if (group.is_placed && side_of(group) == PodSide::waiting && std::ranges::find(group.owners, id) != group.owners.end())
			inherit_again(uid, group);
	}
}

/* Its owner is asked for, or the API server gives no answer: it may be a member of any gang there. */
bool World::is_anybody_unplaced(const std::string &name_space) const
{
	return std::ranges::any_of(owners_, [&](const auto &one) {
		const OwnerEntry &entry = one.second;
		return one.first.name_space == name_space && !entry.waiting.empty() && (!entry.answer || !entry.trouble.empty());
	});
}

std::string World::wanted_owner(const PodUid &uid) const
{
	for (const auto &[id, entry] : owners_) {
		if (entry.waiting.contains(uid))
			return id.kind + " " + id.name + (entry.trouble.empty() ? ": it does not exist yet" : ": " + entry.trouble);
	}
	return {};
}

/* A pod whose owner does not answer says so. */
void World::report_unplaced(const PodUid &uid, Group &group, Now now, std::vector<PodAction> &out)
{
	if (!group.pod || pod_side(&*group.pod, group.pod->node_name) != PodSide::waiting)
		return;
	const std::string owner = wanted_owner(uid);
	if (owner.empty())
		return;
	Action report = Report{{names::k_reason_retrying, "waiting for " + owner}};
	if (accept(uid, group, report, now))
		out.push_back({uid, std::move(report)});
}

/* A pod with a job of its own keeps it, whatever its owners say by now. */
void World::assign(const PodUid &uid, Group &group, Now now)
{
	if (group.unplaced_since_us == 0)
		group.unplaced_since_us = now.mono_us;
	group.owners.clear();
	auto grouping = group_of(*group.pod, [&](const OwnerId &id, const std::string &owner_uid) {
		if (std::ranges::find(group.owners, id) == group.owners.end())
			group.owners.push_back(id);
		return owner_for(id, owner_uid, group.unplaced_since_us);
	});
	if (!grouping) {
		group.refusal = grouping.error();
		return stay_alone(group, {});
	}
	if (const auto *alone = std::get_if<Alone>(&*grouping))
		group.deadline_seconds = alone->deadline_seconds;
	if (const auto *in = std::get_if<InGang>(&*grouping))
		group.deadline_seconds = in->deadline_seconds;
	if (group.jobs.empty() && rejoin(uid, group, now)) {
		auto *alone = std::get_if<Alone>(&*grouping); /* the gang has lost its owner */
		auto *other = std::get_if<InGang>(&*grouping);
		if (alone || (other && other->gang.key != group.gang->text))
			return stay_alone(group, std::move(alone ? alone->inherited : other->inherited));
	}
	if (const auto *question = std::get_if<NeedsOwner>(&*grouping)) {
		owners_[question->id].waiting.insert(uid);
		ask_for(question->id, std::max(group.unplaced_since_us, now.mono_us - k_ask_again_us));
		look_later(uid, now.mono_us + k_ask_again_us);
		return;
	}
	if (auto *alone = std::get_if<Alone>(&*grouping))
		return stay_alone(group, std::move(alone->inherited));
	auto &in = std::get<InGang>(*grouping);
	if (!group.jobs.empty()) {
		if (in.minimum > 0)
			note_loose(PodUid{in.gang.key}, uid, group);
		return stay_alone(group, std::move(in.inherited));
	}
	join(uid, group, std::move(in), now);
}

} // namespace slurmkube::core
