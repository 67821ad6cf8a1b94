/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a component and its job that all components have, and facts about a pod alone.
 * gang_facts.cc has those about gangs. */
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"
#include "src/core/reconcile/report_native.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/hybrid_nodes.h"
#include "src/core/world/parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_give_way_us = 3'000'000;
/* How long an answer of the API server that a pod is not bound may be used: an agent that is being
 * replaced may bind it at any moment. A gang's answers come one after another. */
constexpr std::int64_t k_share_believed_us = 1'000'000;
constexpr std::int64_t k_believed_of_gang_us = 30'000'000;
constexpr std::int64_t k_believed_per_rank_us = 10'000;

/*
 * The end of the job that was asked for and is still to come. Also an agent before this one may
 * have asked: it moves the job's end time to now (slurm/jobs.cc), and until slurmctld looks at time
 * limits the job is RUNNING. A job whose time is over ends in any case. Only a suspended one gets
 * more time.
 */
std::optional<Complete> ending_of(const AskedEnd *asked, const SlurmJob *job, Now now)
{
	if (asked)
		return asked->end;
	const bool is_over = job && job->state == JobState::running && job->end_time > 0 &&
		job->end_time <= now.wall_s;
	return is_over ? std::optional(Complete{job->id, k_status_deadline}) : std::nullopt;
}

} // namespace

ComponentFacts FactsReader::facts_of_component(const PodUid &key, const Component &component) const
{
	ComponentFacts f;
	f.known = state_.is_known() && !state_.clusters.has_other_name(key.text);
	f.job = state_.current_job(key);
	if (job_side(f.job) == JobSide::ended && is_given_up(component, *f.job))
		f.job = nullptr;
	f.is_held = is_held(state_, held_absent_pods_, f.job);
	f.answer_lost = f.job && is_answer_lost(component, *f.job);
	f.surplus = surplus_of(key, component, f.job);
	f.busy = in_flight_of(component, state_.entry(key), now_);
	const AskedEnd *asked = f.job ? component.asked_ends.find(f.job->id) : nullptr;
	f.is_end_asked = asked != nullptr;
	f.ending = ending_of(asked, f.job, now_);
	f.may_retry = now_.mono_us >= component.retries.retry_at_us;
	f.submit_due = is_submit_due(key);
	f.trouble = component.trouble;
	f.start_limit_us = state_.settings.start_limit_us;
	if (const std::int64_t age = age_of(state_, component, now_); age > 0)
		f.aged_since = now_.wall_s - age;
	if (job_side(f.job) == JobSide::ended && component.job_ended_us > 0) {
		const std::int64_t next = component.job_ended_us +
			pause_after(*f.job, next_attempt(state_, key), component.failed_bindings);
		f.next_job_due = now_.mono_us >= next;
		if (!f.next_job_due)
			found_.look_later(key, next);
	}
	return f;
}

void note_goes_on(ComponentFacts &f)
{
	const auto goes_on = [](const RankFacts &r) {
		return r.side == PodSide::running && r.is_ours && !r.is_about;
	};
	if (job_side(f.job) == JobSide::ended && std::ranges::any_of(f.ranks, goes_on))
		f.job = nullptr;
}

/* ---- a pod alone ---- */

ComponentFacts FactsReader::facts_of_pod(
	const PodUid &uid, const PodEntry &entry, std::optional<Result<JobSpec>> &spec) const
{
	const Component &component = state_.components.at(uid);
	ComponentFacts f = facts_of_component(uid, component);
	f.is_alone = f.is_complete = true;
	f.rank_count = 1;
	const PodSide side = side_of(entry);
	note_absence(uid, entry, side, f);
	if (entry.pod) {
		f.ranks.push_back(facts_of_rank(uid, entry, component, f.job));
		f.ranks.front().is_ours = is_bound_side(side);
		f.ranks.front().is_ranked = true;
		note_stale_claim(entry, f.job, f.ranks.front());
	}
	note_goes_on(f);
	if (side == PodSide::waiting && job_side(f.job) == JobSide::allocated)
		note_place(uid, entry, f);
	note_wrong_allocation(uid, component, f);
	const bool is_missing = f.known && side == PodSide::running && !f.job;
	f.missing_long = found_.is_over(uid, Clock::job_missing, is_missing, k_missing_job_us) &&
		has_record_of_binding(state_, entry);
	if (side == PodSide::running)
		f.pinned = bound_node_of(entry);
	if (f.known && entry.pod)
		note_wishes(uid, entry, side, spec, f);
	return f;
}

/* How the job has to end, if the pod does not live. */
void FactsReader::note_absence(
	const PodUid &uid, const PodEntry &entry, PodSide side, ComponentFacts &f) const
{
	const bool is_absent = side == PodSide::absent;
	f.is_unseen = is_absent && !is_surely_gone(uid, entry, job_side(f.job));
	f.absent_long = !f.is_unseen;
	f.for_absence = is_absent && !entry.saw_deletion;
	f.is_held = f.is_held && f.for_absence;
	if (f.job) {
		f.name_space = f.job->marker.name_space;
		f.name = f.job->marker.name;
	}
	if (is_live_side(side))
		return;
	f.ended_ranks = 1;
	f.result = entry.end_status.value_or(side == PodSide::ended
			? wait_status_of(*entry.pod)
			: wait_status_of_gone(entry.last.get()));
}

void FactsReader::note_place(const PodUid &uid, const PodEntry &entry, ComponentFacts &f) const
{
	RankFacts &rank = f.ranks.front();
	rank.holds_rank = true;
	if (f.job->nodes.empty())
		return;
	const NodeAllocation &slot = f.job->nodes.front();
	rank.node = facts_of_place(uid, entry, uid, slot.node);
	rank.node.cpus = slot.cpus;
	rank.node.memory_mib = memory_share(state_, *f.job, slot.node);
	check_devices(uid, *entry.pod, *f.job, rank);
}

/* The job that the pod asks for, if it has none; or the changes of a pending one. */
void FactsReader::note_wishes(const PodUid &uid, const PodEntry &entry, PodSide side,
	std::optional<Result<JobSpec>> &spec, ComponentFacts &f) const
{
	const Component &component = state_.components.at(uid);
	const JobSide job = job_side(f.job);
	if (side == PodSide::waiting && job == JobSide::pending) {
		note_options(uid, *entry.pod, component, spec, f);
		note_exclusions_change(uid, *entry.pod, component, spec, f);
	}
	if ((side != PodSide::waiting && side != PodSide::running) || is_live_job_side(job))
		return;
	spec = entry.refusal
		? Result<JobSpec>(*entry.refusal)
		: translate(*entry.pod, state_.settings.policy, next_attempt(state_, uid));
	if (spec->ok() && (*spec)->options.native_job > 0) /* see world/native_pods.cc */
		spec = Error{Errc::invalid, native_text::had_own_job()};
	if (side == PodSide::waiting)
		hold_for_claims(uid, *entry.pod, spec, f.waits_for);
	hold_for_devices(uid, *entry.pod, side, spec, f.waits_for);
	place(uid, *entry.pod, spec);
	f.spec = spec ? &*spec : nullptr;
	if (side == PodSide::waiting && found_.placing == Placing::waiting_for_peer)
		f.waits_for = waiting_for_peers();
	wait_after_vanishing(uid, component, f.waits_for, now_, found_);
}

/* ---- an allocation that is wrong ---- */

/* The allocation is not given back at first sight: an agent that has just taken over may see an
 * earlier state of this pod, which may meanwhile run under this very job. */
bool FactsReader::has_given_way_time(
	const PodUid &uid, const Component &component, bool is_in_the_way) const
{
	/* no event tells when the other pod's job is submitted */
	if (now_.mono_us >= component.admission_look_us) {
		found_.admission_look_us = now_.mono_us + k_give_way_us;
		found_.look_later(uid, *found_.admission_look_us);
	}
	return found_.is_over(
		uid, Clock::in_the_way, is_in_the_way, k_give_way_us, state_.sync.synced_us());
}

void FactsReader::note_wrong_allocation(
	const PodUid &key, const Component &component, ComponentFacts &f) const
{
	const bool is_any_in_the_way = std::ranges::any_of(
		f.ranks, [](const RankFacts &r) { return r.node.is_in_the_way; });
	const bool is_watched = f.is_alone && std::ranges::any_of(f.ranks, is_crowded_out);
	if (is_any_in_the_way || is_watched || clocks_.since(key, Clock::in_the_way) > 0)
		f.gives_way = has_given_way_time(key, component,
			is_any_in_the_way && component.given_back < k_give_back_most);
	if (!f.is_alone)
		note_common_room({&f});
	f.is_prolog_late = is_prolog_late(key, f);
	f.is_wrong_kind = job_side(f.job) == JobSide::allocated && f.job->is_external &&
		has_hybrid_nodes(*f.job);
	f.gives_way = is_room_late(key, f) || f.is_prolog_late || f.is_wrong_kind || f.gives_way;
	f.is_unbindable = is_unbindable_long(key, f);
}

void FactsReader::note_letting_go(const PodUid &key, ComponentFacts &f) const
{
	forget_old_end(key, f);
	const std::int64_t since_us = found_.since(
		key, Clock::letting_go, is_to_be_ended(f) || f.others.gives_back || f.others.ended);
	if (since_us == 0)
		return;
	const std::int64_t believed_us = f.is_alone ? k_share_believed_us
						    : k_believed_of_gang_us +
			static_cast<std::int64_t>(f.ranks.size()) * k_believed_per_rank_us;
	for (RankFacts &r : f.ranks) {
		const PodEntry &entry = state_.pods.at(r.uid);
		r.may_be_bound_late = now_.mono_us < entry.late_until_us;
		r.surely_unbound = entry.unbound_at_us >= std::max(since_us, entry.late_until_us) &&
			now_.mono_us - entry.unbound_at_us < believed_us;
	}
}

/* Pods run although the end of their job was asked for. If slurmctld has not ended it within the
 * time that a request may live, it never got the request, and the job is theirs. */
void FactsReader::forget_old_end(const PodUid &key, ComponentFacts &f) const
{
	const AskedEnd *asked =
		f.job ? state_.components.at(key).asked_ends.find(f.job->id) : nullptr;
	if (!asked || !has_own_bound(f) || f.busy.slurm)
		return;
	if (now_.mono_us < asked->lives_until_us)
		return found_.look_later(key, asked->lives_until_us);
	found_.withdrawn_end = f.job->id;
	f.is_end_asked = false;
	f.ending = ending_of(nullptr, f.job, now_);
}

} // namespace slurmkube::core
