/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that knows what is so of a gang, and acts. Who is in it: world/seats.cc; its job's shape: world/gang_spec.cc; what to do: reconcile_gang.cc. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/placement/placement.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/pod_claims.h"
#include "src/core/world/world.h"
#include "src/core/world/parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* A look goes over all members, each of which has several events in its life: those of large gangs are looked at together. */
constexpr std::int64_t k_pause_us = 50; /* for a member; some twenty times what a look takes */
constexpr std::size_t k_small_gang = 64;
constexpr unsigned k_given_back_most = 3; /* allocations that were too small for pods of a gang, before these get jobs of their own */

/* Both times are in seconds. Within one of them what we saw first came first. */
bool is_after_end(const Group &member, const Group &lead, const SlurmJob &job)
{
	const bool was_seen_before = lead.job_ended_us > 0 && member.first_seen_us > 0 && member.first_seen_us < lead.job_ended_us;
	return member.pod->created > job.end_time || (member.pod->created == job.end_time && !was_seen_before);
}

/* What the pods that wait need on each node together. */
std::map<std::string, Occupancy> needs_of(const GangFacts &f)
{
	std::map<std::string, Occupancy> needs;
	for (const MemberFacts &m : f.members) {
		if (m.side == PodSide::waiting && m.has_seat && !m.node.empty())
			(void)needs[m.node].take(m.node, m.uid, m.pod->requests);
	}
	return needs;
}

} // namespace

/* ---- shared with world/seats.cc ---- */

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

bool World::has_live_job(const PodUid &lead) const
{
	const auto group = state_.groups.find(lead);
	const SlurmJob *job = group == state_.groups.end() ? nullptr : state_.current_job(group->second);
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
		Group &group = state_.groups.at(uid);
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
	const auto gres = gres_of_pod({.milli_cpu = 0, .memory_bytes = 0, .pods = 0, .extended = gang.shape.extended_per_task}, state_.settings.policy.gres);
	const auto node_of_task = nodes_of_tasks(gang.shape, job.nodes, fixed, gang.per_node.value_or(0), gres ? gres_from_text(*gres) : std::vector<Gres>());
	seat_holders(gang, members, job, node_of_task, seating);
	return seating;
}

/* Who waits and is first in its seat gets the node of its task, or another one of the allocation where the pod is larger than that. */
void World::seat_holders(const Gang &gang, const Members &members, const SlurmJob &job, const std::vector<std::string> &node_of_task, Seating &seating) const
{
	std::vector<Occupant> pods;
	std::vector<std::uint32_t> waiting;
	for (const Member &m : members) {
		if (is_bound_side(m.side))
			pods.push_back({&m.group->pod->requests, true, bound_node_of(*m.group)});
	}
	for (const Member &m : members) {
		if (m.side != PodSide::waiting || !m.seat || seating.holders.at(*m.seat) != m.uid)
			continue;
		const bool has_task = *m.seat < gang.shape.task_of_seat.size();
		pods.push_back({&m.group->pod->requests, false, has_task ? node_of_task[gang.shape.task_of_seat[*m.seat]] : ""});
		waiting.push_back(*m.seat);
	}
	fit_to_shares(pods, job.nodes, state_.settings.policy.cpu_unit, state_.settings.policy.gres);
	for (std::size_t i = 0, bound = pods.size() - waiting.size(); i < waiting.size(); i++)
		seating.node_of_seat[waiting[i]] = std::move(pods[bound + i].node);
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
	m.busy.look = m.busy.look || now.mono_us < group.look_quiet_until_us;
	m.may_retry = now.mono_us >= group.retry_at_us;
	m.seat = member.seat.value_or(0);
	m.rank = rank_of(gang, m.seat);
	m.first_seen_us = group.first_seen_us;
	m.is_seated = member.seat.has_value();
	if (job_side(job) == JobSide::ended) {
		m.is_after_end = is_after_end(group, lead, *job);
		m.is_deletion_slow = is_deletion_slow(*m.pod);
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
	if (const auto node = seating.node_of_seat.find(*member.seat); m.has_seat && node != seating.node_of_seat.end())
		m.node = node->second;
	m.cpus = gang.shape.cpus_per_task;
	const auto node = state_.kube_nodes.find(m.node);
	m.node_usable = node != state_.kube_nodes.end() && node->second.ready;
	const bool is_native = !m.node.empty() && node == state_.kube_nodes.end() && !state_.slurm_nodes.contains(m.node);
	if (is_native && is_surely_native(*group.gang, state_.groups.at(*group.gang), now))
		m.forbidden = k_native_node;
	m.has_room = m.node_usable && (group.held_node == node->first || state_.occupancy.has_room(node->first, filter_.room_on(state_, node->second), m.pod->requests));
	if (!m.node.empty() && is_lost(m.node))
		m.forbidden = k_not_managed;
	if (!m.node_usable)
		return;
	m.is_in_the_way = !m.has_room && state_.occupancy.has_room(node->first, filter_.room_on(state_, node->second), {}) && must_give_way(node->first);
	GroupFacts checked;
	checked.has_room = m.has_room;
	filter_.check(state_, uid, group, node->second, checked);
	m.has_room = checked.has_room;
	if (!m.has_room)
		m.room_holder = holder_text(m.node);
	if (m.has_room && checked.forbidden.empty())
		check_claims(uid, group, node->second, checked, now);
	m.claim_step = std::move(checked.claim_step);
	m.claim_wait = std::move(checked.claim_wait);
	m.forbidden = std::move(checked.forbidden);
}

/*
 * Pods may be larger than their templates say. While nothing runs the allocation is given back, and the next is asked for with what the pods really request;
 * where that is of no use, and for pods of a PodGroup, who finds no place gets a job of its own: it must not wait for ever.
 */
void World::note_misfits(Gang &gang, GangFacts &f)
{
	if (job_side(f.job) != JobSide::allocated || f.job->nodes.empty())
		return;
	f.may_give_back = gang.minimum == 0 && gang.given_back < k_given_back_most;
	if (f.may_give_back && is_untouched(f))
		return;
	for (const MemberFacts &m : f.members) {
		if (!is_misfit(m))
			continue;
		if (gang.minimum == 0)
			gang.standalone.insert(m.seat);
		leave(gang, m.uid);
	}
	std::erase_if(f.members, [&](const MemberFacts &m) { return !gang.members.contains(m.uid); });
}

void World::note_wrong_allocation(const PodUid &lead, Gang &gang, Group &group, GangFacts &f, Now now)
{
	const bool is_any_in_the_way = std::ranges::any_of(f.members, &MemberFacts::is_in_the_way);
	if (is_any_in_the_way || group.in_the_way_since_us > 0)
		f.gives_way = has_given_way_time(lead, group, is_any_in_the_way && group.given_back < k_give_back_most, now);
	/* each may have room where not all have: an earlier pod is still there */
	std::map<std::string, Occupancy> needs;
	if (is_untouched(f))
		needs = needs_of(f);
	for (const auto &[name, pods] : needs) {
		const auto node = state_.kube_nodes.find(name);
		const Resources need = pods.held(name);
		const Resources room = node == state_.kube_nodes.end() ? Resources{} : filter_.room_on(state_, node->second);
		const bool would_fit = Occupancy().has_room(name, room, need);
		if (!would_fit || state_.occupancy.has_room(name, room, need))
			continue;
		for (MemberFacts &m : f.members) {
			m.has_room = m.has_room && m.node != name;
			if (m.node == name && m.room_holder.empty())
				m.room_holder = holder_text(name);
		}
	}
	f.gives_way = is_gang_room_late(lead, group, f, now) || f.gives_way;
	note_placeless(lead, gang, f, now);
}

/* A node that Slurm does not know has no place to take up: it would refuse the job each time. */
bool World::are_nodes_known(const PodUid &lead, const Members &members)
{
	bool are_known = true;
	for (const Member &m : members) {
		if (!is_bound_side(m.side) || state_.slurm_node(bound_node_of(*m.group)))
			continue;
		waiters_[bound_node_of(*m.group)].insert(lead);
		are_known = false;
	}
	return are_known;
}

void World::note_gang_times(const PodUid &lead, Gang &gang, const Members &members, GangFacts &f, Now now)
{
	const auto has = [&](auto test) { return std::ranges::any_of(f.members, [&](const MemberFacts &m) { return test(m.side); }); };
	const JobSide job = job_side(f.job);
	const bool is_empty = is_live_job_side(job) && !has(is_live_side);
	const bool may_come = gang.components > 1 && f.ended_seats < f.seats && is_any_of_others(lead, is_live_side);
	const bool is_absent = is_empty && !may_come && !state_.owners.is_anybody_unplaced(gang.id.name_space);
	f.absent_long = is_over(lead, is_absent, gang.absent_since_us, state_.settings.gang_hold_us, now);
	f.is_unseen = f.absent_long && !gang.was_seen && !state_.groups.at(lead).is_gone;
	f.absent_long = f.absent_long && !f.is_unseen;
	if (is_absent && !gang.owner.kind.empty()) { /* has its owner said that no more pods come? */
		state_.owners.ask(gang.owner, std::max(gang.absent_since_us, now.mono_us - k_owner_fresh_us));
		const OwnerAnswer owner = state_.owners.answer_of(gang.owner);
		const bool is_new = state_.owners.is_answered_since(gang.owner, gang.absent_since_us);
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
	std::ranges::for_each(gang.standalone, take);
	/* who runs may be what the others wait for, as long as it takes: a leader loads its model first */
	f.empty_seats = static_cast<std::uint32_t>(std::ranges::count(taken, false));
	if (f.empty_seats == 0 && has(is_bound_side))
		gang.never_came = 0;
	const bool is_any_bound = has(is_bound_side) || (gang.components > 1 && is_any_of_others(lead, is_bound_side));
	const bool is_late = job == JobSide::allocated && gang.minimum == 0 && !is_any_bound && f.empty_seats > 0;
	f.late_long = is_over(lead, is_late, gang.late_since_us, state_.settings.gang_wait_us, now);
	const bool is_missing = job == JobSide::none && std::ranges::any_of(f.members, &MemberFacts::is_ours);
	const bool is_missing_long = is_over(lead, is_missing, gang.missing_since_us, k_missing_job_us, now);
	f.missing_long = is_missing_long && are_nodes_known(lead, members);
}

GangFacts World::facts_of_gang(const PodUid &lead, Gang &gang, Group &group, Now now, std::optional<Result<JobSpec>> &spec)
{
	GangFacts f;
	f.known = state_.is_known();
	f.job = state_.current_job(group);
	if (job_side(f.job) == JobSide::ended && is_given_up(group, *f.job))
		f.job = nullptr;
	f.is_held = is_held(f.job);
	f.is_outgrown = f.job && gang.outgrown == f.job->id;
	f.answer_lost = f.job && is_answer_lost(group, *f.job);
	/* by an agent before this one; root may as well be somebody who meant it */
	f.ended_by_us = f.job && f.job->ended_by.value_or(0) != 0 && f.job->ended_by == state_.settings.own_uid;
	f.surplus = surplus_of(group, f.job);
	f.busy = group.busy;
	f.busy.slurm = f.busy.slurm || now.mono_us < group.slurm_quiet_until_us;
	f.busy.look = f.busy.look || now.mono_us < group.look_quiet_until_us;
	f.name_space = gang.id.name_space;
	f.may_retry = now.mono_us >= group.retry_at_us;
	f.submit_due = is_submit_due(lead, group, now);
	f.trouble = group.trouble;
	f.seats = static_cast<std::uint32_t>(gang.seats.size() - static_cast<std::size_t>(std::ranges::count_if(gang.standalone, [&](std::uint32_t s) { return !gang.ends.contains(s); })));
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
		plan(gang);
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
	note_misfits(gang, f);
	/* what ended had nothing to do with the pods that run: it is as if there were none */
	const auto goes_on = [](const MemberFacts &m) { return m.side == PodSide::running && m.is_ours && !m.is_about; };
	if (job_side(f.job) == JobSide::ended && std::ranges::any_of(f.members, goes_on))
		f.job = nullptr;
	note_wrong_allocation(lead, gang, group, f, now);
	note_gang_times(lead, gang, members, f, now);
	if (job_side(f.job) == JobSide::ended && group.job_ended_us > 0) {
		const std::int64_t next = group.job_ended_us + pause_before(next_attempt(group));
		f.next_job_due = now.mono_us >= next;
		if (!f.next_job_due)
			look_later(lead, next);
	}
	f.is_complete = !gang.seats.empty();
	if (!f.is_complete)
		f.waits_for = waiting_for_pods(gang.id, pods_of(gang, lead), gang.minimum);
	const auto held_back = std::ranges::count_if(f.members, [](const MemberFacts &m) { return m.is_seated && m.side == PodSide::gated; });
	if (held_back > 0 && f.pinned.empty())
		f.waits_for = waiting_for_gates(gang.id, held_back);
	if (const std::string trouble = f.known && !is_live_job_side(job_side(f.job)) && f.pinned.empty() ? claim_trouble_of_gang(state_, gang) : std::string(); !trouble.empty()) {
		f.waits_for = waiting_for_claims(trouble);
		look_later(lead, now.mono_us + k_claim_look_us);
	}
	if (f.known && !is_live_job_side(job_side(f.job)))
		wait_after_vanishing(lead, group, f.waits_for, now);
	if (f.known && !is_live_job_side(job_side(f.job)) && f.pinned.empty())
		wait_after_never_came(lead, gang, f, now);
	if (f.known && job_side(f.job) == JobSide::pending && !f.members.empty())
		note_gang_change(lead, gang, group, spec, f);
	const bool may_ask_ahead = gang.components > 1 && gang.stand_in && !is_any_of_others(lead, is_bound_side);
	if (f.known && !is_live_job_side(job_side(f.job)) && (!f.members.empty() || may_ask_ahead)) {
		spec_of(lead, gang, group, spec);
		f.spec = spec ? &*spec : nullptr;
	}
	return f;
}

/* Each binding takes its room, which the next of the same round may need. */
bool World::take_back(const PodUid &lead, const Bind &bind, const PodUid &uid)
{
	const auto node = state_.kube_nodes.find(bind.node);
	if (state_.groups.at(uid).held_node == bind.node)
		return false; /* it is counted already */
	if (node != state_.kube_nodes.end() && state_.occupancy.has_room(bind.node, filter_.room_on(state_, node->second), state_.groups.at(uid).pod->requests))
		return false;
	waiters_[bind.node].insert(lead);
	return true;
}

bool World::is_due(const PodUid &lead, Now now)
{
	std::size_t members = 0;
	for (const PodUid &one : components_of_workload(lead))
		members += state_.gangs.at(one).members.size();
	Gang &gang = state_.gangs.at(lead);
	const std::int64_t due = members < k_small_gang ? 0 : gang.looked_us + static_cast<std::int64_t>(members) * k_pause_us;
	if (now.mono_us < due) {
		look_later(lead, due);
		return false;
	}
	gang.looked_us = now.mono_us;
	return true;
}

void World::act_on_gang(const PodUid &lead, const GangFacts &facts, Now now, std::vector<PodAction> &out)
{
	Gang &gang = state_.gangs.at(lead);
	Group &group = state_.groups.at(lead);
	for (const MemberFacts &m : facts.members) {
		if (facts.known && m.side == PodSide::waiting && !m.node.empty() && (!m.has_room || !m.node_usable) && waiters_[m.node].insert(lead).second)
			counters_.gate_waits++;
	}
	if (facts.missing_long && gang.seats.empty()) { /* nobody can say any more what the job was like: each for itself */
		for (const MemberFacts &m : facts.members)
			leave(gang, m.uid);
		return;
	}
	for (GangAction &next : reconcile_gang(facts)) {
		const PodUid uid = next.pod.text.empty() ? lead : next.pod;
		const auto *bind = std::get_if<Bind>(&next.action);
		if ((bind && take_back(lead, *bind, uid)) || !accept(uid, state_.groups.at(uid), next.action, now))
			continue;
		const auto *complete = std::get_if<Complete>(&next.action);
		if (complete && std::ranges::none_of(facts.members, [](const MemberFacts &m) { return is_live_side(m.side); }))
			group.given_up.push_back(complete->job);
		if (const auto *submit = std::get_if<Submit>(&next.action); submit && submit->spec.required_node.empty())
			gang.first_attempt = submit->spec.marker.attempt;
		if (complete && complete->wait_status == k_status_never_came)
			note_never_came(lead, gang, facts, now);
		if (complete && complete->wait_status == k_status_given_back)
			note_crowded(group, facts);
		if (complete && complete->wait_status == k_status_given_back && !facts.others.gives_back)
			gang.given_back++;
		else if (bind)
			gang.given_back = 0;
		if (bind)
			group.crowded.clear();
		out.push_back({uid, std::move(next.action)});
	}
}

} // namespace slurmkube::core
