/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that knows what is so of a gang, and acts. Who is in it: world_seats.cc; its job's shape: world_gang_spec.cc; what to do: reconcile_gang.cc. */
#include "src/core/names.h"
#include "src/core/outcome.h"
#include "src/core/placement.h"
#include "src/core/world.h"
#include "src/core/world_parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_owner_fresh_us = 2'000'000;
/* A look goes over all members, each of which has several events in its life: those of large gangs are looked at together. */
constexpr std::int64_t k_pause_us = 50; /* for a member; some twenty times what a look takes */
constexpr std::size_t k_small_gang = 64;

/* Both times are in seconds. Within one of them what we saw first came first. */
bool is_after_end(const Group &member, const Group &lead, const SlurmJob &job)
{
	const bool was_seen_before = lead.job_ended_us > 0 && member.first_seen_us > 0 && member.first_seen_us < lead.job_ended_us;
	return member.pod->created > job.end_time || (member.pod->created == job.end_time && !was_seen_before);
}

} // namespace

/* ---- shared with world_seats.cc ---- */

bool is_live_side(PodSide side)
{
	return side == PodSide::gated || side == PodSide::waiting || side == PodSide::running || side == PodSide::stopping;
}

const std::string &bound_node_of(const Group &group)
{
	return group.pod->node_name.empty() ? group.assumed_node : group.pod->node_name;
}

PodSide side_of(const Group &group)
{
	return group.pod ? pod_side(&*group.pod, bound_node_of(group)) : PodSide::absent;
}

bool is_live_job_side(JobSide side)
{
	return side == JobSide::pending || side == JobSide::allocated;
}

bool is_bound_side(PodSide side)
{
	return side == PodSide::running || side == PodSide::stopping;
}

/* ---- looking ---- */

const Group &World::lead_of(const Group &group) const
{
	const auto lead = group.gang ? groups_.find(*group.gang) : groups_.end();
	return lead == groups_.end() ? group : lead->second;
}

const Gang *World::gang_of(const Group &group) const
{
	const auto found = group.gang ? gangs_.find(*group.gang) : gangs_.end();
	return found == gangs_.end() ? nullptr : &found->second;
}

const SlurmJob *World::job_of(const Group &group) const
{
	return current_job(lead_of(group));
}

bool World::has_live_job(const PodUid &lead) const
{
	const auto group = groups_.find(lead);
	const SlurmJob *job = group == groups_.end() ? nullptr : current_job(group->second);
	return job && is_live(*job);
}

bool World::is_over(const PodUid &lead, bool is_so, std::int64_t &since_us, std::int64_t limit_us, Now now)
{
	if (!is_so || limit_us == 0) {
		since_us = 0;
		return false;
	}
	if (since_us == 0)
		since_us = now.mono_us;
	if (now.mono_us - since_us < limit_us) {
		look_later(lead, since_us + limit_us);
		return false;
	}
	return true;
}

/* In the order of their seats. */
World::Members World::members_of(const Gang &gang)
{
	Members members;
	members.reserve(gang.members.size());
	for (const auto &[uid, seat] : gang.members) {
		Group &group = groups_.at(uid);
		members.push_back({&uid, &group, seat, side_of(group)});
	}
	std::ranges::stable_sort(members, {}, [](const Member &m) { return m.seat.value_or(0); });
	return members;
}

/* Who sits in each seat: one that is bound, else the first of those that live. Where the tasks are: bound pods have theirs there. */
World::Seating World::seating_of(const Gang &gang, const Members &members, const SlurmJob &job) const
{
	Seating seating;
	std::map<std::uint32_t, std::string> fixed;
	for (const Member &m : members) {
		if (!m.seat || !is_live_side(m.side))
			continue;
		if (!is_bound_side(m.side)) {
			seating.holders.try_emplace(*m.seat, m.uid);
			continue;
		}
		seating.holders.insert_or_assign(*m.seat, m.uid);
		if (*m.seat < gang.shape.task_of_seat.size())
			fixed[gang.shape.task_of_seat[*m.seat]] = bound_node_of(*m.group);
	}
	seating.node_of_task = nodes_of_tasks(gang.shape, job.nodes, fixed, gang.per_node.value_or(0));
	return seating;
}

MemberFacts World::facts_of_member(const Gang &gang, const Group &lead, const Member &member, const Seating &seating, const SlurmJob *job, Now now)
{
	const Group &group = *member.group;
	MemberFacts m;
	m.uid = *member.uid;
	m.pod = &*group.pod;
	m.side = member.side;
	m.is_ours = is_bound_side(m.side) && is_bound_member(group);
	m.busy = group.busy;
	m.busy.remove = m.busy.remove || now.mono_us < group.remove_quiet_until_us;
	m.may_retry = now.mono_us >= group.retry_at_us;
	m.seat = member.seat.value_or(0);
	m.is_seated = member.seat.has_value();
	if (job_side(job) == JobSide::ended) {
		m.is_after_end = is_after_end(group, lead, *job);
		m.is_about = is_about_pod(*m.pod, lead, *job);
	}
	if (m.side == PodSide::waiting && member.seat && job_side(job) == JobSide::allocated)
		choose_node(gang, member, seating, m, now);
	return m;
}

void World::choose_node(const Gang &gang, const Member &member, const Seating &seating, MemberFacts &m, Now now)
{
	const PodUid &uid = *member.uid;
	Group &group = *member.group;
	const auto holder = seating.holders.find(*member.seat);
	m.has_seat = holder != seating.holders.end() && *holder->second == uid;
	if (*member.seat < gang.shape.task_of_seat.size())
		m.node = seating.node_of_task[gang.shape.task_of_seat[*member.seat]];
	m.cpus = gang.shape.cpus_per_task;
	const auto node = kube_nodes_.find(m.node);
	m.node_usable = node != kube_nodes_.end() && node->second.ready;
	m.has_room = m.node_usable && (group.held_node == node->first || occupancy_.has_room(node->first, room_on(node->second), m.pod->requests));
	if (!m.node_usable)
		return;
	GroupFacts checked;
	checked.has_room = m.has_room;
	check_place(uid, group, node->second, checked);
	m.has_room = checked.has_room;
	if (m.has_room && checked.forbidden.empty())
		check_claims(uid, group, node->second, checked, now);
	m.claim_step = std::move(checked.claim_step);
	m.claim_wait = std::move(checked.claim_wait);
	m.forbidden = std::move(checked.forbidden);
}

/*
 * Slurm's word counts: what it has on a node is not given out twice, whatever the shape that was worked out for it, which another agent may have seen otherwise. Pods of a
 * PodGroup that find no place run alone.
 */
void World::fit_allocation(Gang &gang, GangFacts &f)
{
	const bool is_any_waiting = std::ranges::find(f.members, PodSide::waiting, &MemberFacts::side) != f.members.end();
	if (job_side(f.job) != JobSide::allocated || f.job->nodes.empty() || !is_any_waiting)
		return;
	std::unordered_map<std::string_view, const NodeAllocation *> shares;
	for (const NodeAllocation &share : f.job->nodes)
		shares.emplace(share.node, &share);
	std::unordered_map<std::string, Resources> used;
	const auto take = [&](const std::string &node, const Pod &pod) {
		used[node].milli_cpu += pod.requests.milli_cpu;
		used[node].memory_bytes += pod.requests.memory_bytes;
	};
	for (const MemberFacts &m : f.members) {
		if (is_bound_side(m.side))
			take(bound_node_of(groups_.at(m.uid)), *m.pod);
	}
	for (MemberFacts &m : f.members) {
		if (m.side != PodSide::waiting || !m.has_seat)
			continue;
		const auto found = shares.find(m.node);
		const NodeAllocation *share = found == shares.end() ? nullptr : found->second;
		const Resources &there = used[m.node];
		const bool fits = share && there.milli_cpu + m.pod->requests.milli_cpu <= std::int64_t{share->cpus} * settings_.policy.cpu_unit &&
				  (share->memory_mib == 0 || (there.memory_bytes + m.pod->requests.memory_bytes) >> 20 <= static_cast<std::int64_t>(share->memory_mib));
		if (fits)
			take(m.node, *m.pod);
		else
			m.node.clear();
		if (!fits && gang.minimum > 0)
			leave(gang, m.uid);
	}
	std::erase_if(f.members, [&](const MemberFacts &m) { return !gang.members.contains(m.uid); });
}

void World::note_gang_times(const PodUid &lead, Gang &gang, const Members &members, GangFacts &f, Now now)
{
	const auto has = [&](auto test) { return std::ranges::any_of(f.members, [&](const MemberFacts &m) { return test(m.side); }); };
	const JobSide job = job_side(f.job);
	const bool is_empty = is_live_job_side(job) && !has(is_live_side), is_absent = is_empty && !is_anybody_unplaced(gang.id.name_space);
	f.absent_long = is_over(lead, is_absent, gang.absent_since_us, settings_.gang_hold_us, now);
	if (is_absent && !gang.owner.kind.empty()) { /* has its owner said that no more pods come? */
		ask_for(gang.owner, std::max(gang.absent_since_us, now.mono_us - k_owner_fresh_us));
		const OwnerAnswer owner = owner_of(gang.owner);
		const auto entry = owners_.find(gang.owner);
		const bool is_new = entry != owners_.end() && entry->second.answered_us >= gang.absent_since_us;
		f.owner_succeeded = owner && is_new && *owner && (*owner)->has_succeeded;
		f.owner_done = owner && is_new && (!*owner || (*owner)->is_finished || !lead.text.starts_with((*owner)->uid));
	}
	if (is_empty)
		look_later(lead, now.mono_us + k_owner_fresh_us);
	std::vector<bool> taken(gang.seats.size());
	const auto take = [&](std::uint32_t seat) {
		if (seat < taken.size())
			taken[seat] = true;
	};
	for (const Member &m : members) {
		if (m.side != PodSide::gated) /* nobody knows when it comes */
			take(m.seat.value_or(0));
	}
	for (const auto &[seat, end] : gang.ends)
		take(seat);
	const bool is_late = job == JobSide::allocated && gang.minimum == 0 && std::ranges::find(taken, false) != taken.end();
	f.late_long = is_over(lead, is_late, gang.late_since_us, settings_.gang_wait_us, now);
	const bool is_missing = job == JobSide::none && std::ranges::any_of(f.members, &MemberFacts::is_ours);
	f.missing_long = is_over(lead, is_missing, gang.missing_since_us, k_missing_job_us, now);
}

GangFacts World::facts_of_gang(const PodUid &lead, Gang &gang, Group &group, Now now, std::optional<Result<JobSpec>> &spec)
{
	GangFacts f;
	f.known = is_known();
	f.job = current_job(group);
	if (job_side(f.job) == JobSide::ended && std::ranges::find(group.given_up, f.job->id) != group.given_up.end())
		f.job = nullptr;
	f.answer_lost = f.job && is_answer_lost(group, *f.job);
	/* by an agent before this one; root may as well be somebody who meant it */
	f.ended_by_us = f.job && f.job->ended_by.value_or(0) != 0 && f.job->ended_by == settings_.own_uid;
	f.surplus = surplus_of(group, f.job);
	f.busy = group.busy;
	f.busy.slurm = f.busy.slurm || now.mono_us < group.slurm_quiet_until_us;
	f.may_retry = now.mono_us >= group.retry_at_us;
	f.trouble = group.trouble;
	f.seats = static_cast<std::uint32_t>(gang.seats.size());
	const std::uint32_t first_attempt = gang.first_attempt ? gang.first_attempt : f.job ? f.job->marker.attempt : 0;
	for (const auto &[seat, end] : gang.ends) {
		if (end.attempt < first_attempt)
			continue;
		f.ended_seats++;
		/* pods that were stopped because another had failed do not hide that one */
		if (f.result == 0 || (f.result == k_status_cancelled && end.status != 0))
			f.result = end.status;
	}
	if (!gang.per_node)
		plan(gang, first_of_roles(gang));
	f.excess = gang.shape.excess;
	const Members members = members_of(gang);
	if (!is_live_job_side(job_side(f.job)))
		pin_nodes(members, f);
	const bool is_any_waiting = std::ranges::find(members, PodSide::waiting, &Member::side) != members.end();
	const Seating seating = is_any_waiting && job_side(f.job) == JobSide::allocated ? seating_of(gang, members, *f.job) : Seating{};
	f.members.reserve(members.size());
	for (const Member &m : members) {
		if (m.group->pod)
			f.members.push_back(facts_of_member(gang, group, m, seating, f.job, now));
	}
	fit_allocation(gang, f);
	/* what ended had nothing to do with the pods that run: it is as if there were none */
	const auto goes_on = [](const MemberFacts &m) { return m.side == PodSide::running && m.is_ours && !m.is_about; };
	if (job_side(f.job) == JobSide::ended && std::ranges::any_of(f.members, goes_on))
		f.job = nullptr;
	note_gang_times(lead, gang, members, f, now);
	if (job_side(f.job) == JobSide::ended && group.job_ended_us > 0) {
		const std::int64_t next = group.job_ended_us + pause_before(next_attempt(group));
		f.next_job_due = now.mono_us >= next;
		if (!f.next_job_due)
			look_later(lead, next);
	}
	f.is_complete = !gang.seats.empty();
	if (!f.is_complete)
		f.waits_for = Condition{names::k_reason_pending, gang.id.kind + " " + gang.id.name + " has " + std::to_string(pods_of(gang, lead)) + " of at least " +
									 std::to_string(gang.minimum) + " pods"};
	const auto held_back = std::ranges::count_if(f.members, [](const MemberFacts &m) { return m.is_seated && m.side == PodSide::gated; });
	if (held_back > 0 && f.pinned.empty())
		f.waits_for = Condition{names::k_reason_pending, std::to_string(held_back) + " pods of " + gang.id.kind + " " + gang.id.name + " have scheduling gates"};
	if (const std::string trouble = f.known && !is_live_job_side(job_side(f.job)) && f.pinned.empty() ? claim_trouble_of_gang(gang) : std::string(); !trouble.empty()) {
		f.waits_for = Condition{names::k_reason_volume, trouble};
		look_later(lead, now.mono_us + k_claim_look_us);
	}
	if (f.known && job_side(f.job) == JobSide::pending && !f.members.empty())
		note_gang_change(lead, gang, group, spec, f);
	if (f.known && !is_live_job_side(job_side(f.job)) && !f.members.empty()) {
		spec_of(lead, gang, group, spec);
		f.spec = spec ? &*spec : nullptr;
	}
	return f;
}

/* Each binding takes its room, which the next of the same round may need. */
bool World::take_back(const PodUid &lead, const Bind &bind, const PodUid &uid)
{
	const auto node = kube_nodes_.find(bind.node);
	if (groups_.at(uid).held_node == bind.node)
		return false; /* it is counted already */
	if (node != kube_nodes_.end() && occupancy_.has_room(bind.node, room_on(node->second), groups_.at(uid).pod->requests))
		return false;
	waiters_[bind.node].insert(lead);
	return true;
}

bool World::is_due(const PodUid &lead, Gang &gang, Now now)
{
	const std::size_t members = gang.members.size();
	const std::int64_t due = members < k_small_gang ? 0 : gang.looked_us + static_cast<std::int64_t>(members) * k_pause_us;
	if (now.mono_us < due) {
		look_later(lead, due);
		return false;
	}
	gang.looked_us = now.mono_us;
	return true;
}

void World::look_at_gang(const PodUid &lead, Now now, std::vector<PodAction> &out)
{
	Gang &gang = gangs_.at(lead);
	forget_provisional(lead, now);
	note_ends(gang, now);
	seat_newcomers(gang);
	seat_members(gang, lead);
	Group &group = groups_[lead];
	note_bound_members(gang, group);
	std::optional<Result<JobSpec>> spec;
	const GangFacts facts = facts_of_gang(lead, gang, group, now, spec);
	for (const MemberFacts &m : facts.members) {
		if (facts.known && m.side == PodSide::waiting && !m.node.empty() && (!m.has_room || !m.node_usable) && waiters_[m.node].insert(lead).second)
			counters_.gate_waits++;
	}
	if (facts.missing_long && gang.seats.empty()) { /* nobody can say any more what the job was like: each for itself */
		for (const MemberFacts &m : facts.members)
			leave(gang, m.uid);
		return drop_gang_if_empty(lead);
	}
	for (GangAction &next : reconcile_gang(facts)) {
		const PodUid uid = next.pod.text.empty() ? lead : next.pod;
		const auto *bind = std::get_if<Bind>(&next.action);
		if ((bind && take_back(lead, *bind, uid)) || !accept(uid, groups_.at(uid), next.action, now))
			continue;
		if (const auto *complete = std::get_if<Complete>(&next.action); complete && std::ranges::none_of(facts.members, [](const MemberFacts &m) { return is_live_side(m.side); }))
			group.given_up.push_back(complete->job);
		if (const auto *submit = std::get_if<Submit>(&next.action); submit && submit->spec.required_node.empty())
			gang.first_attempt = submit->spec.marker.attempt;
		out.push_back({uid, std::move(next.action)});
	}
	drop_gang_if_empty(lead);
}

} // namespace slurmkube::core
