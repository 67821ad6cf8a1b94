/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World for gangs: members take seats, the lead has the job. What to do is decided in reconcile_gang.cc. */
#include "src/core/names.h"
#include "src/core/natural_order.h"
#include "src/core/outcome.h"
#include "src/core/placement.h"
#include "src/core/world.h"
#include "src/core/world_parts.h"

#include <algorithm>
#include <charconv>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_owner_fresh_us = 2'000'000;

std::optional<std::uint32_t> rank_annotation(const Pod &pod)
{
	const auto found = pod.annotations.find(names::k_allocation_rank);
	std::uint32_t rank = 0;
	if (found == pod.annotations.end() || std::from_chars(found->second.data(), found->second.data() + found->second.size(), rank).ec != std::errc())
		return std::nullopt;
	return rank;
}

bool is_live_side(PodSide side)
{
	return side == PodSide::gated || side == PodSide::waiting || side == PodSide::running || side == PodSide::stopping;
}

std::string bound_node_of(const Group &group)
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

} // namespace

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

Gang &World::gang_at(const PodUid &lead, const GangId &id, Now now)
{
	Group &group = touch(lead);
	if (group.first_seen_us == 0)
		group.first_seen_us = now.mono_us;
	const auto [found, is_new] = gangs_.try_emplace(lead);
	if (is_new) {
		found->second.id = id;
		if (const OwnerKind *kind = known_kind(id.kind))
			found->second.owner = {api_version_of(*kind), id.kind, id.name_space, id.name};
	}
	return found->second;
}

void World::shape_again(Gang &gang, const PodUid &lead, std::vector<Seat> seats)
{
	if (gang.seats == seats)
		return;
	gang.seats = std::move(seats);
	gang.per_node.reset();
	dirty_.insert(lead);
}

/* Nobody is in that seat, or only a pod that has ended or stops: its successor comes before it has gone. */
bool World::is_open(const Gang &gang, std::uint32_t seat, const PodUid &uid) const
{
	return std::ranges::none_of(gang.members, [&](const auto &m) {
		const PodSide side = side_of(groups_.at(m.first));
		return m.second == seat && m.first != uid && (side == PodSide::gated || side == PodSide::waiting || side == PodSide::running);
	});
}

void World::join(const PodUid &uid, Group &group, InGang in, Now now)
{
	const PodUid lead{in.gang.key};
	Gang &gang = gang_at(lead, in.gang, now);
	gang.owner = in.owner;
	gang.minimum = in.minimum;
	group.gang = lead;
	group.is_placed = true;
	group.inherited = std::move(in.inherited);
	group.pod->annotations.insert(group.inherited.begin(), group.inherited.end());
	if (!in.seats.empty() && (gang.seats.empty() || !has_live_job(lead)))
		shape_again(gang, lead, std::move(in.seats));
	const auto fits = [&](const Seat &seat) { return seat.role == in.role && (!in.index || seat.index == *in.index); };
	std::optional<std::uint32_t> seat = rank_annotation(*group.pod);
	for (std::uint32_t i = 0; !seat && i < gang.seats.size(); i++) {
		if (fits(gang.seats[i]) && (in.index || is_open(gang, i, uid)))
			seat = i;
	}
	gang.members[uid] = seat;
	/* its owner has grown: it is a job of its own */
	if (!seat && gang.minimum == 0) {
		gang.members.erase(uid);
		group.gang.reset();
		drop_gang_if_empty(lead);
	}
	dirty_.insert(lead);
}

/*
 * A PodGroup has no templates: its seats are the pods that exist when there are enough. Those that come later run alone.
 */
void World::seat_members(Gang &gang, const PodUid &lead)
{
	if (gang.minimum == 0)
		return;
	std::vector<std::pair<const Pod *, PodUid>> pods;
	for (const auto &[uid, seat] : gang.members) {
		const Group &group = groups_.at(uid);
		if (group.pod && is_live_side(side_of(group)) && side_of(group) != PodSide::gated)
			pods.emplace_back(&*group.pod, uid);
	}
	const bool has_job = has_live_job(lead);
	if (gang.seats.empty() || !has_job) {
		if (pods.size() < gang.minimum && !has_job)
			return;
		std::ranges::sort(pods, [](const auto &a, const auto &b) { return natural_less(a.first->name, b.first->name); });
		std::vector<Seat> seats;
		for (const auto &[pod, uid] : pods) {
			gang.members[uid] = static_cast<std::uint32_t>(seats.size());
			seats.push_back({"", static_cast<std::uint32_t>(seats.size()), pod->requests});
		}
		shape_again(gang, lead, std::move(seats));
		return;
	}
	for (const auto &[pod, uid] : pods) {
		if (gang.members[uid])
			continue;
		/* a seat whose pod has gone is free for its successor */
		for (std::uint32_t i = 0; i < gang.seats.size() && !gang.members[uid]; i++) {
			if (is_open(gang, i, uid) && gang.seats[i].requests == pod->requests)
				gang.members[uid] = i;
		}
		if (gang.members[uid])
			continue;
		gang.members.erase(uid);
		groups_.at(uid).gang.reset();
		dirty_.insert(uid);
	}
}

void World::drop_gang_if_empty(const PodUid &lead)
{
	const auto gang = gangs_.find(lead);
	const auto group = groups_.find(lead);
	if (gang == gangs_.end() || !gang->second.members.empty())
		return;
	if (group != groups_.end() && (!group->second.jobs.empty() || group->second.busy.slurm))
		return;
	gangs_.erase(gang);
	if (group != groups_.end())
		groups_.erase(group);
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

/* Of each role the member of the lowest rank that is there, in rank order. */
std::vector<const Group *> World::first_of_roles(const Gang &gang) const
{
	std::map<std::uint32_t, const Group *> by_seat;
	for (const auto &[uid, seat] : gang.members) {
		if (seat && *seat < gang.seats.size() && groups_.at(uid).pod)
			by_seat.emplace(*seat, &groups_.at(uid));
	}
	std::set<std::string> roles;
	std::vector<const Group *> out;
	for (const auto &[seat, group] : by_seat) {
		if (roles.insert(gang.seats[seat].role).second)
			out.push_back(group);
	}
	return out;
}

namespace
{

/* The options are those of the first pod and of its owners. */
void take_gang(JobSpec &spec, const PodUid &lead, const Gang &gang, const Pod &first)
{
	spec.marker.kind = gang.id.kind;
	spec.marker.name = gang.id.name;
	spec.marker.uid = lead.text;
	if (spec.name == first.name)
		spec.name = gang.id.name;
	if (spec.comment == gang.id.name_space + "/" + first.name)
		spec.comment = gang.id.name_space + "/" + gang.id.name;
	spec.tasks = gang.shape.tasks;
	spec.cpus = gang.shape.cpus_per_task;
	spec.memory_mib = gang.shape.memory_mib_per_task;
	spec.tasks_per_node = gang.per_node.value_or(0);
}

} // namespace

/* What takes part in deciding where pods of an allocation go, besides their seats. */
void World::plan(Gang &gang, const std::vector<const Group *> &firsts)
{
	if (gang.per_node || firsts.empty())
		return;
	const auto spec = translate(*firsts.front()->pod, settings_.policy, 1, Pods::gang);
	gang.per_node = spec ? spec->options.pods_per_node.value_or(0) : 0;
	if (std::ranges::any_of(firsts, [](const Group *one) { return are_in_conflict(*one->pod, *one->pod); }))
		gang.per_node = 1;
	gang.shape = shape_of(gang.seats, settings_.policy.least_memory_mib, *gang.per_node > 0 ? Packing::one_per_task : Packing::shared, settings_.policy.cpu_unit);
	const Resources &requests = firsts.front()->pod->requests;
	if (spec && spec->cpus != cpus_of(requests, settings_.policy.cpu_unit)) /* options ask for more */
		gang.shape.cpus_per_task = std::max(gang.shape.cpus_per_task, spec->cpus);
	if (spec && spec->memory_mib != memory_mib_of(requests, settings_.policy.least_memory_mib))
		gang.shape.memory_mib_per_task = std::max(gang.shape.memory_mib_per_task, spec->memory_mib);
}

/* Tasks that all nodes together hold when they are empty: Slurm leaves a job for more in the queue for ever. Nothing while no node is known. */
std::optional<std::uint64_t> World::places_for(const JobSpec &spec) const
{
	std::optional<std::uint64_t> places;
	for (const auto &[name, node] : slurm_nodes_) {
		if (!kube_nodes_.contains(name))
			continue;
		std::uint64_t here = std::min<std::uint64_t>(node.cpus / spec.cpus, spec.memory_mib > 0 ? node.memory_mib / spec.memory_mib : node.cpus);
		here = spec.tasks_per_node > 0 ? std::min<std::uint64_t>(here, spec.tasks_per_node) : here;
		places = places.value_or(0) + (std::ranges::binary_search(spec.excluded_nodes, name) ? 0 : here);
	}
	return places;
}

void World::spec_of(const PodUid &lead, Gang &gang, const Group &group, std::optional<Result<JobSpec>> &spec)
{
	const std::vector<const Group *> firsts = first_of_roles(gang);
	spec.reset();
	if (firsts.empty())
		return;
	std::uint32_t attempt = next_attempt(group);
	for (const auto &[uid, seat] : gang.members)
		attempt = std::max(attempt, groups_.at(uid).pod ? bound_attempt(*groups_.at(uid).pod) + 1 : 1);
	spec = translate(*firsts.front()->pod, settings_.policy, attempt, Pods::gang);
	if (!*spec)
		return;
	gang.per_node.reset(); /* annotations may have changed since the last attempt */
	plan(gang, firsts);
	if (auto gres = gres_of_pod({.milli_cpu = 0, .memory_bytes = 0, .pods = 0, .extended = gang.shape.extended_per_task}, settings_.policy.gres))
		(*spec)->gres_of_task = std::move(*gres);
	take_gang(spec->value(), lead, gang, *firsts.front()->pod);
	std::set<std::string> excluded;
	for (const Group *first : firsts) { /* a node has to do for all roles: nobody knows which will come to it */
		place(lead, *first->pod, spec);
		if (!spec || !*spec)
			return;
		excluded.insert((*spec)->excluded_nodes.begin(), (*spec)->excluded_nodes.end());
	}
	exclude_for_claims(gang, excluded);
	(*spec)->excluded_nodes.assign(excluded.begin(), excluded.end());
	if (const auto places = places_for(**spec); places && *places < gang.shape.tasks) {
		nowhere_.insert(lead);
		*spec = Error{Errc::not_found, "the nodes together have " + std::to_string(*places) + " places of " + cpus_text((*spec)->cpus, settings_.policy.cpu_unit) + " and " +
						   std::to_string((*spec)->memory_mib) + " MiB where " + std::to_string(gang.shape.tasks) + " are needed at once"};
	}
}

/* Both times are in seconds. Within one of them what we saw first came first. */
bool World::was_seen_before_end(const Group &member) const
{
	const auto lead = member.gang ? groups_.find(*member.gang) : groups_.end();
	return lead != groups_.end() && lead->second.job_ended_us > 0 && member.first_seen_us > 0 && member.first_seen_us < lead->second.job_ended_us;
}

MemberFacts World::facts_of_member(const Gang &gang, const PodUid &uid, std::optional<std::uint32_t> seat, const std::vector<std::string> &nodes, const SlurmJob *job, Now now)
{
	const Group &group = groups_.at(uid);
	MemberFacts m;
	m.uid = uid;
	m.pod = &*group.pod;
	m.side = side_of(group);
	m.busy = group.busy;
	m.busy.remove = m.busy.remove || now.mono_us < group.remove_quiet_until_us;
	m.may_retry = now.mono_us >= group.retry_at_us;
	m.seat = seat.value_or(0);
	m.is_seated = seat.has_value();
	m.is_after_end = job && (m.pod->created > job->end_time || (m.pod->created == job->end_time && !was_seen_before_end(group)));
	m.is_about = job && bound_attempt(*m.pod) <= job->marker.attempt;
	if (m.side != PodSide::waiting || !seat || job_side(job) != JobSide::allocated)
		return m;
	m.has_seat = std::ranges::none_of(gang.members, [&](const auto &other) {
		return other.second == seat && other.first != uid && is_live_side(side_of(groups_.at(other.first))) && (is_bound_side(side_of(groups_.at(other.first))) || other.first < uid);
	});
	if (*seat < gang.shape.task_of_seat.size())
		m.node = nodes[gang.shape.task_of_seat[*seat]];
	m.cpus = gang.shape.cpus_per_task;
	const auto node = kube_nodes_.find(m.node);
	m.node_usable = node != kube_nodes_.end() && node->second.ready;
	m.has_room = m.node_usable && (group.held_node == node->first || occupancy_.has_room(node->first, room_on(node->second), m.pod->requests));
	if (m.node_usable) {
		GroupFacts checked;
		checked.has_room = m.has_room;
		check_place(uid, group, node->second, checked);
		m.has_room = checked.has_room;
		if (m.has_room && checked.forbidden.empty())
			check_claims(uid, groups_.at(uid), node->second, checked, now);
		m.claim_step = std::move(checked.claim_step);
		m.claim_wait = std::move(checked.claim_wait);
		m.forbidden = std::move(checked.forbidden);
	}
	return m;
}

void World::note_gang_times(const PodUid &lead, Gang &gang, GangFacts &f, Now now)
{
	const auto has = [&](auto test) { return std::ranges::any_of(f.members, [&](const MemberFacts &m) { return test(m.side); }); };
	const JobSide job = job_side(f.job);
	const bool is_absent = is_live_job_side(job) && !has(is_live_side);
	f.absent_long = is_over(lead, is_absent, gang.absent_since_us, settings_.gang_hold_us, now);
	if (is_absent) { /* has its owner said that no more pods come? */
		ask_for(gang.owner, std::max(gang.absent_since_us, now.mono_us - k_owner_fresh_us));
		const OwnerAnswer owner = owner_of(gang.owner);
		const auto entry = owners_.find(gang.owner);
		const bool is_new = entry != owners_.end() && entry->second.answered_us >= gang.absent_since_us;
		f.owner_succeeded = owner && is_new && *owner && (*owner)->has_succeeded;
		f.owner_done = owner && is_new && (!*owner || (*owner)->is_finished || !lead.text.starts_with((*owner)->uid));
		look_later(lead, now.mono_us + k_owner_fresh_us);
	}
	std::set<std::uint32_t> taken;
	for (const auto &[uid, seat] : gang.members)
		taken.insert(seat.value_or(0));
	for (const auto &[seat, end] : gang.ends)
		taken.insert(seat);
	const bool is_late = job == JobSide::allocated && taken.size() < gang.seats.size();
	f.late_long = is_over(lead, is_late, gang.late_since_us, settings_.gang_wait_us, now);
	const bool is_missing = job == JobSide::none && has(is_bound_side);
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
	plan(gang, first_of_roles(gang));
	std::map<std::uint32_t, std::string> fixed;
	std::vector<std::string> pinned;
	for (const auto &[uid, seat] : gang.members) {
		const Group &member = groups_.at(uid);
		if (!member.pod || !is_bound_side(side_of(member)))
			continue;
		const std::string node = bound_node_of(member);
		if (seat && *seat < gang.shape.task_of_seat.size())
			fixed[gang.shape.task_of_seat[*seat]] = node;
		if (std::ranges::find(pinned, node) == pinned.end())
			pinned.push_back(node);
	}
	for (const std::string &node : pinned)
		f.pinned += (f.pinned.empty() ? "" : ",") + node;
	std::vector<std::string> nodes(gang.shape.tasks);
	if (job_side(f.job) == JobSide::allocated)
		nodes = nodes_of_tasks(gang.shape, f.job->nodes, fixed, gang.per_node.value_or(0));
	for (const auto &[uid, seat] : gang.members) {
		if (groups_.at(uid).pod)
			f.members.push_back(facts_of_member(gang, uid, seat, nodes, f.job, now));
	}
	std::ranges::stable_sort(f.members, {}, &MemberFacts::seat);
	note_gang_times(lead, gang, f, now);
	if (job_side(f.job) == JobSide::ended && group.job_ended_us > 0) {
		const std::int64_t next = group.job_ended_us + pause_before(next_attempt(group));
		f.next_job_due = now.mono_us >= next;
		if (!f.next_job_due)
			look_later(lead, next);
	}
	f.is_complete = !gang.seats.empty();
	if (!f.is_complete)
		f.waits_for = Condition{names::k_reason_pending, gang.id.kind + " " + gang.id.name + " has " + std::to_string(gang.members.size()) + " of at least " +
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

/* Members that are gone leave, once nothing of theirs holds a share of a node. */
void World::note_ends(Gang &gang, Now now)
{
	std::vector<PodUid> gone;
	for (const auto &[uid, seat] : gang.members) {
		Group &member = groups_[uid];
		settle_share(uid, member, now);
		const Pod *pod = member.pod ? &*member.pod : member.last ? &*member.last : nullptr;
		const bool has_ended = pod && bound_attempt(*pod) > 0 && (!member.pod || is_terminal(*pod));
		if (seat && has_ended) {
			const SeatEnd end{bound_attempt(*pod), pod->created, member.end_status.value_or(wait_status_of_gone(pod))};
			SeatEnd &known = gang.ends[*seat];
			if (std::tuple(end.attempt, end.created) >= std::tuple(known.attempt, known.created))
				known = end;
		}
		if (!member.pod && member.held_node.empty())
			gone.push_back(uid);
	}
	for (const PodUid &uid : gone) {
		gang.members.erase(uid);
		groups_[uid].gang.reset();
		drop_if_empty(uid);
	}
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

void World::look_at_gang(const PodUid &lead, Now now, std::vector<PodAction> &out)
{
	Gang &gang = gangs_.at(lead);
	forget_provisional(lead, now);
	note_ends(gang, now);
	seat_members(gang, lead);
	Group &group = groups_[lead];
	std::optional<Result<JobSpec>> spec;
	const GangFacts facts = facts_of_gang(lead, gang, group, now, spec);
	for (const MemberFacts &m : facts.members) {
		if (facts.known && m.side == PodSide::waiting && !m.node.empty() && (!m.has_room || !m.node_usable) && waiters_[m.node].insert(lead).second)
			counters_.gate_waits++;
	}
	for (GangAction &next : reconcile_gang(facts)) {
		const PodUid uid = next.pod.text.empty() ? lead : next.pod;
		const auto *bind = std::get_if<Bind>(&next.action);
		if ((bind && take_back(lead, *bind, uid)) || !accept(uid, groups_.at(uid), next.action, now))
			continue;
		if (const auto *submit = std::get_if<Submit>(&next.action); submit && submit->spec.required_node.empty())
			gang.first_attempt = submit->spec.marker.attempt;
		out.push_back({uid, std::move(next.action)});
	}
	drop_gang_if_empty(lead);
}

} // namespace slurmkube::core
