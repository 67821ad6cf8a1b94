/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a gang: its pods as a whole, its allocation and its times. */
#include "src/base/time_units.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_claims.h"
#include "src/core/world/pod_devices.h"

#include <algorithm>

namespace slurmkube::core
{

void drop_leaving(ComponentFacts &f, const Findings &found)
{
	const auto leaves = [&](const RankFacts &r) {
		return std::ranges::find(found.leaving, r.uid, &Leaving::pod) !=
			found.leaving.end();
	};
	if (!found.leaving.empty())
		std::erase_if(f.ranks, leaves);
}

namespace
{

/* Allocations that may be too small for pods of a gang before these get jobs of their own. */
constexpr std::uint32_t k_no_rank = UINT32_MAX;
constexpr unsigned k_given_back_most = 3;
/* How often an owner is asked whether more pods come, while others of the workload live. */
constexpr std::int64_t k_owner_interval_us = 30'000'000;

bool is_stopping(PodSide side)
{
	return side == PodSide::stopping;
}

/* By node, what the waiting pods request there together. */
std::map<std::string, Occupancy> needs_of(const std::vector<ComponentFacts *> &components)
{
	std::map<std::string, Occupancy> needs;
	for (const ComponentFacts *f : components) {
		for (const RankFacts &r : f->ranks) {
			if (r.side == PodSide::waiting && r.holds_rank && !r.node.name.empty())
				(void)needs[r.node.name].take(r.node.name, r.uid, r.pod->requests);
		}
	}
	return needs;
}

/* If the owner re-creates all pods, the ends of earlier pods do not count. */
struct Run {
	std::uint32_t restart = 0; /* see PodEntry::restart */
	std::int64_t since = 0;    /* see Gang::run_since */

	[[nodiscard]] bool is_after(const RankEnd &end) const
	{
		/* An owner that leaves an ended pod in place does not re-create it. */
		return end.restart < restart || (end.is_gone && end.created < since);
	}
};

Run run_of(const State &state, const PodUid &key, const Gang &gang)
{
	Run run{gang.restart, gang.run_since};
	if (gang.components < 2)
		return run;
	for (const PodUid &one : components_of_workload(state, key)) {
		const Gang &other = state.gangs.at(one);
		run.restart = std::max(run.restart, other.restart);
		run.since = std::max(run.since, other.run_since);
	}
	return run;
}

void mark_crowded(ComponentFacts &f, const std::string &node, const std::string &holder)
{
	for (RankFacts &r : f.ranks) {
		if (r.node.name != node)
			continue;
		r.node.has_room = false;
		if (r.node.room_holder.empty())
			r.node.room_holder = holder;
	}
}

/* Counts the ends that belong to the present job. */
void count_ends(const Gang &gang, const Run &run, ComponentFacts &f)
{
	const auto may_end = [&](std::uint32_t rank) { return !gang.ends.contains(rank); };
	f.rank_count = static_cast<std::uint32_t>(gang.ranks.size() -
		static_cast<std::size_t>(std::ranges::count_if(gang.standalone, may_end)));
	const std::uint32_t first_attempt = gang.first_attempt ? gang.first_attempt
		: f.job                                        ? f.job->marker.attempt
							       : 0;
	for (const auto &[rank, end] : gang.ends) {
		if (end.attempt < first_attempt || run.is_after(end))
			continue;
		f.ended_ranks++;
		f.has_deleted_end = f.has_deleted_end || end.was_deleted;
		/* Pods that were stopped because another pod had failed do not hide its result. */
		if (f.result == 0 || (f.result == k_status_cancelled && end.status != 0))
			f.result = end.status;
	}
}

bool are_any_bound(const ComponentFacts &f)
{
	return std::ranges::any_of(f.ranks, is_bound_side, &RankFacts::side);
}

/*
 * Pods may request more than their templates. While nothing runs, the allocation is given back, and
 * the next job is submitted with what the pods request. If that has been tried too often, and for
 * pods of a PodGroup, a pod without a place gets a job of its own, because it would wait for ever.
 */
void note_misfits(const Gang &gang, ComponentFacts &f, Findings &found)
{
	if (job_side(f.job) != JobSide::allocated || f.job->nodes.empty())
		return;
	f.may_give_back = gang.minimum == 0 && gang.given_back < k_given_back_most;
	if (f.may_give_back && is_untouched(f))
		return;
	for (const RankFacts &r : f.ranks) {
		if (is_misfit(r))
			found.leaving.push_back({r.uid, r.rank, {}});
	}
	drop_leaving(f, found);
}

/* The number of ranks whose pods have not come. */
std::uint32_t count_empty_ranks(const State &state, const PodUid &key, const Run &run,
	const Members &members, const Findings &found)
{
	const Gang &gang = state.gangs.at(key);
	std::vector<bool> settled(gang.ranks.size());
	const auto settle = [&](std::uint32_t rank) {
		if (rank < settled.size())
			settled[rank] = true;
	};
	for (const Member &m : members) {
		if (m.side != PodSide::gated) /* a gated pod may stay gated for ever */
			settle(m.rank.value_or(0));
	}
	for (const auto &[rank, end] : gang.ends) {
		if (!run.is_after(end))
			settle(rank);
	}
	std::ranges::for_each(gang.standalone, settle);
	const auto alone = state.standalone.find(key);
	for (const PodUid &uid :
		alone == state.standalone.end() ? std::set<PodUid>() : alone->second)
		settle(state.pods.at(uid).standalone_rank.value_or(k_no_rank));
	for (const Leaving &one : found.leaving)
		settle(one.rank);
	return static_cast<std::uint32_t>(std::ranges::count(settled, false));
}

} // namespace

/* Pods that have room one by one may lack it together: an earlier pod is still there. */
void FactsReader::note_common_room(const std::vector<ComponentFacts *> &components) const
{
	if (!std::ranges::all_of(
		    components, [](const ComponentFacts *f) { return is_untouched(*f); }))
		return;
	for (const auto &[name, pods] : needs_of(components)) {
		const KubeNode *node = state_.kube_node(name);
		const Resources need = pods.held(name);
		const Resources room = node ? filter_.room_on(state_, *node) : Resources{};
		const bool would_fit = Occupancy().has_room(name, room, need);
		if (!would_fit || state_.occupancy.has_room(name, room, need))
			continue;
		for (ComponentFacts *f : components)
			mark_crowded(*f, name, holder_text(name));
	}
}

/* Whether Slurm knows the bound pods' nodes: it refuses a job for an unknown one, at each try. */
bool FactsReader::are_nodes_known(const Members &members) const
{
	bool are_known = true;
	for (const Member &m : members) {
		if (!is_bound_side(m.side) || has_record_of_binding(state_, *m.entry))
			continue;
		found_.waits_for_nodes.push_back(bound_node_of(*m.entry));
		are_known = false;
	}
	return are_known;
}

/* While none of its pods lives: may more pods come? */
void FactsReader::note_gang_absence(const PodUid &key, const Gang &gang, ComponentFacts &f) const
{
	const bool is_empty = is_live_job_side(job_side(f.job)) && !has_own_live(f);
	const bool has_others = gang.components > 1 && is_any_of_others(state_, key, is_live_side);
	const std::uint32_t wanted = wanted_ranks(state_, key, gang, f);
	f.is_wanted = wanted > 0;
	const bool may_come = has_others && f.ended_ranks < wanted;
	/* does the owner still want them? */
	if (is_empty && may_come && !gang.owner.kind.empty())
		found_.owner.emplace(gang.owner, now_.mono_us - k_owner_interval_us);
	const bool is_absent =
		is_empty && !may_come && !state_.owners.has_ungrouped_pods(gang.id.name_space);
	const std::int64_t since_us =
		found_.since(key, Clock::absent, is_absent && state_.settings.gang_hold_us > 0);
	/* an owner that re-creates all pods deletes the earlier ones first */
	const bool is_clearing = gang.components > 1 && is_any_of_others(state_, key, is_stopping);
	const std::int64_t hold_us = state_.settings.gang_hold_us +
		(is_clearing ? state_.settings.components_wait_seconds * k_second_us : 0);
	f.absent_long = found_.is_over(key, Clock::absent, is_absent, hold_us);
	f.is_unseen = f.absent_long && !gang.was_seen && !state_.components.at(key).is_gone;
	f.absent_long = f.absent_long && !f.is_unseen;
	f.for_absence = true;
	/* has the owner said that no more pods come? */
	if (is_absent && !gang.owner.kind.empty()) {
		found_.owner.emplace(gang.owner,
			std::max(since_us,
				now_.mono_us -
					(has_others ? k_owner_interval_us : k_owner_fresh_us)));
		const OwnerAnswer owner = state_.owners.answer_of(gang.owner);
		const bool is_new = state_.owners.is_answered_since(gang.owner, since_us);
		f.owner_succeeded = owner && is_new && *owner && (*owner)->has_succeeded;
		f.owner_done = owner && is_new &&
			(!*owner || (*owner)->is_finished || !key.text.starts_with((*owner)->uid));
	}
	if (is_empty)
		found_.look_later(key, now_.mono_us + k_owner_fresh_us);
}

/* For how long pods have been missing, or running without a job. */
void FactsReader::note_gang_times(
	const PodUid &key, const Gang &gang, const Members &members, ComponentFacts &f) const
{
	note_gang_absence(key, gang, f);
	f.empty_ranks = count_empty_ranks(state_, key, run_of(state_, key, gang), members, found_);
	found_.all_came = f.empty_ranks == 0 && are_any_bound(f);
	const bool is_late = job_side(f.job) == JobSide::allocated && gang.minimum == 0 &&
		!are_any_bound(f) && f.empty_ranks > 0;
	f.late_long = found_.is_over(key, Clock::late, is_late, late_limit_us(state_, key, gang));
	const bool is_missing = !f.job && std::ranges::any_of(f.ranks, &RankFacts::is_ours);
	const bool is_missing_long =
		found_.is_over(key, Clock::job_missing, is_missing, k_missing_job_us);
	f.missing_long = is_missing_long && are_nodes_known(members);
}

void FactsReader::note_ranks(
	const PodUid &key, const Gang &gang, const Members &members, ComponentFacts &f) const
{
	const Component &component = state_.components.at(key);
	const bool is_any_waiting =
		std::ranges::find(members, PodSide::waiting, &Member::side) != members.end();
	/* without the claims it is not known which nodes the pods need */
	const RankLayout layout = is_any_waiting && job_side(f.job) == JobSide::allocated &&
			!are_claims_unread(state_, gang)
		? layout_of(gang, members, *f.job)
		: RankLayout{};
	f.ranks.reserve(members.size());
	for (const Member &m : members) {
		if (m.entry->pod)
			f.ranks.push_back(facts_of_member(gang, component, m, layout, f.job));
	}
	note_unread_claims(gang, f);
	check_gang_devices(gang, f);
	note_misfits(gang, f, found_);
	note_goes_on(f);
	note_wrong_allocation(key, component, f);
	note_placeless(f);
}

/* What keeps the gang from submitting a job. Of all this, running pods that have lost their job
 * wait only for the pause after vanished jobs. */
void FactsReader::note_what_is_missing(const PodUid &key, const Gang &gang, ComponentFacts &f) const
{
	f.is_complete = !gang.ranks.empty();
	if (!f.is_complete)
		f.waits_for = waiting_for_pods(gang.id, pods_of(state_, gang, key), gang.minimum);
	const auto held_back = std::ranges::count_if(f.ranks,
		[](const RankFacts &r) { return r.is_ranked && r.side == PodSide::gated; });
	if (held_back > 0 && f.pinned.empty())
		f.waits_for = waiting_for_gates(gang.id, held_back);
	if (!f.known || is_live_job_side(job_side(f.job)))
		return;
	const std::string trouble =
		f.pinned.empty() ? claim_trouble_of_gang(state_, gang) : std::string();
	if (!trouble.empty()) {
		f.waits_for = waiting_for_claims(trouble);
		found_.look_later(key, now_.mono_us + k_claim_look_us);
	}
	if (std::string why = f.pinned.empty() ? device_trouble_of_gang(state_, key, gang) : "";
		!why.empty()) {
		f.waits_for = waiting_for_devices(std::move(why));
		found_.look_later(key, now_.mono_us + k_claim_look_us);
	}
	wait_after_vanishing(key, state_.components.at(key), f.waits_for, now_, found_);
	if (f.pinned.empty())
		wait_after_never_came(key, gang, f, now_, found_);
}

/* An agent that finds the gang running did not see its first submission. The bound pods tell under
 * which attempt that was. */
void FactsReader::note_first_attempt(const Gang &gang, const ComponentFacts &f) const
{
	if (gang.first_attempt > 0 || !is_live_job_side(job_side(f.job)))
		return;
	std::uint32_t lowest = f.job->marker.attempt;
	for (const auto &[uid, rank] : gang.members) {
		const PodEntry &entry = state_.pods.at(uid);
		if (is_bound_side(side_of(entry)) && entry.pod_attempt > 0)
			lowest = std::min(lowest, entry.pod_attempt);
	}
	if (lowest < f.job->marker.attempt)
		found_.first_attempt = lowest;
}

ComponentFacts FactsReader::facts_of_gang(
	const PodUid &key, std::optional<Result<JobSpec>> &spec) const
{
	const Gang &gang = state_.gangs.at(key);
	const Component &component = state_.components.at(key);
	ComponentFacts f = facts_of_component(key, component);
	f.is_outgrown = f.job && gang.outgrown == f.job->id;
	/* By an earlier agent. Root does not count: that may be an administrator. */
	f.ended_by_us = f.job && f.job->ended_by.value_or(0) != 0 &&
		f.job->ended_by == state_.settings.own_uid;
	f.name_space = gang.id.name_space;
	note_first_attempt(gang, f);
	count_ends(gang, run_of(state_, key, gang), f);
	f.excess = gang.shape.excess;
	const Members members = members_of(gang);
	if (!is_live_job_side(job_side(f.job)))
		pin_nodes(members, f);
	note_ranks(key, gang, members, f);
	note_gang_times(key, gang, members, f);
	note_what_is_missing(key, gang, f);
	const JobSide job = job_side(f.job);
	if (f.known && job == JobSide::pending && !f.ranks.empty())
		note_gang_change(key, gang, component, spec, f);
	const bool may_ask_ahead = gang.components > 1 && gang.stand_in &&
		!is_any_of_others(state_, key, is_bound_side);
	if (f.known && !is_live_job_side(job) && (!f.ranks.empty() || may_ask_ahead)) {
		spec_of(key, gang, spec);
		f.spec = spec ? &*spec : nullptr;
	}
	return f;
}

} // namespace slurmkube::core
