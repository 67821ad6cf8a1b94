/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that knows what is so of a component and its job: what holds for all, and a pod alone. Gangs: world/gang.cc. */
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_give_way_us = 3'000'000;
constexpr std::int64_t k_believed_us = 1'000'000; /* what the API server said of a pod alone, until something is done about it */

} // namespace

/* What holds for every component. */
ComponentFacts World::facts_of_component(const PodUid &key, const Component &component, Now now)
{
	ComponentFacts f;
	f.known = state_.is_known();
	f.job = state_.current_job(key);
	if (job_side(f.job) == JobSide::ended && is_given_up(component, *f.job))
		f.job = nullptr;
	f.is_held = is_held(f.job);
	f.answer_lost = f.job && is_answer_lost(component, *f.job);
	f.surplus = surplus_of(key, component, f.job);
	f.busy = busy_of(component, state_.entry(key), now);
	f.may_retry = now.mono_us >= component.retries.retry_at_us;
	f.submit_due = is_submit_due(key, now);
	f.trouble = component.trouble;
	f.start_limit_us = state_.settings.start_limit_us;
	if (job_side(f.job) == JobSide::ended && component.job_ended_us > 0) {
		const std::int64_t next = component.job_ended_us + pause_before(next_attempt(key));
		f.next_job_due = now.mono_us >= next;
		if (!f.next_job_due)
			look_later(key, next);
	}
	return f;
}

/* What ended had nothing to do with the pods that run: it is as if there were none. */
void World::note_goes_on(ComponentFacts &f)
{
	const auto goes_on = [](const RankFacts &r) { return r.side == PodSide::running && r.is_ours && !r.is_about; };
	if (job_side(f.job) == JobSide::ended && std::ranges::any_of(f.ranks, goes_on))
		f.job = nullptr;
}

/* ---- a pod alone ---- */

ComponentFacts World::facts_of_pod(const PodUid &uid, PodEntry &entry, Component &component, Now now, std::optional<Result<JobSpec>> &spec)
{
	ComponentFacts f = facts_of_component(uid, component, now);
	f.is_alone = f.is_complete = true;
	f.seats = 1;
	const PodSide side = side_of(entry);
	note_absence(uid, entry, side, f, now);
	if (entry.pod) {
		f.ranks.push_back(facts_of_rank(uid, entry, component, f.job, now));
		f.ranks.front().is_ours = is_bound_side(side);
		f.ranks.front().is_seated = true;
	}
	note_goes_on(f);
	if (side == PodSide::waiting && job_side(f.job) == JobSide::allocated)
		note_place(uid, entry, f, now);
	note_wrong_allocation(uid, component, f, now);
	const bool is_missing = f.known && side == PodSide::running && !f.job;
	f.missing_long = is_over(uid, Clock::job_missing, is_missing, k_missing_job_us, now) && state_.slurm_nodes.contains(bound_node_of(entry));
	if (side == PodSide::running)
		f.pinned = bound_node_of(entry);
	if (f.known && entry.pod)
		note_wishes(uid, entry, component, side, spec, f, now);
	return f;
}

/* How its job ends, if it does not live. */
void World::note_absence(const PodUid &uid, PodEntry &entry, PodSide side, ComponentFacts &f, Now now)
{
	const bool is_absent = side == PodSide::absent;
	f.is_unseen = is_absent && !is_surely_gone(uid, entry, job_side(f.job), now);
	f.absent_long = !f.is_unseen;
	f.for_absence = is_absent && !entry.saw_deletion;
	f.is_held = f.is_held && f.for_absence;
	if (f.job) {
		f.name_space = f.job->marker.name_space;
		f.name = f.job->marker.name;
	}
	if (is_live_side(side))
		return;
	f.ended_seats = 1;
	f.result = entry.end_status.value_or(side == PodSide::ended ? wait_status_of(*entry.pod) : wait_status_of_gone(entry.last.get()));
}

void World::note_place(const PodUid &uid, PodEntry &entry, ComponentFacts &f, Now now)
{
	RankFacts &rank = f.ranks.front();
	rank.has_seat = true;
	if (f.job->nodes.empty())
		return;
	const NodeAllocation &slot = f.job->nodes.front();
	rank.node = facts_of_place(uid, entry, uid, slot.node, now);
	rank.node.cpus = slot.cpus;
}

/* What it asks for, where there is no job of its own, or one that waits. */
void World::note_wishes(const PodUid &uid, const PodEntry &entry, Component &component, PodSide side, std::optional<Result<JobSpec>> &spec, ComponentFacts &f, Now now)
{
	const JobSide job = job_side(f.job);
	if (side == PodSide::waiting && job == JobSide::pending) {
		note_options(uid, *entry.pod, component, spec, f);
		note_places(uid, *entry.pod, component, spec, f);
	}
	if ((side != PodSide::waiting && side != PodSide::running) || is_live_job_side(job))
		return;
	spec = entry.refusal ? Result<JobSpec>(*entry.refusal) : translate(*entry.pod, state_.settings.policy, next_attempt(uid));
	if (side == PodSide::waiting)
		hold_for_claims(uid, *entry.pod, spec, f.waits_for, now);
	place(uid, *entry.pod, spec);
	f.spec = spec ? &*spec : nullptr;
	if (side == PodSide::waiting && places_.is_behind(uid))
		f.waits_for = waiting_for_places();
	wait_after_vanishing(uid, component, f.waits_for, now);
}

/* ---- an allocation that is wrong ---- */

/* Not at first sight: who has just taken over may see this pod as it was, and it runs by now under this very job. */
bool World::has_given_way_time(const PodUid &uid, Component &component, bool is_in_the_way, Now now)
{
	if (now.mono_us >= component.gate_look_at_us) { /* nothing tells when the other pod's job is made */
		component.gate_look_at_us = now.mono_us + k_give_way_us;
		look_later(uid, component.gate_look_at_us);
	}
	clocks_.stop_before(uid, Clock::in_the_way, state_.sync.synced_us());
	return is_over(uid, Clock::in_the_way, is_in_the_way, k_give_way_us, now);
}

void World::note_wrong_allocation(const PodUid &key, Component &component, ComponentFacts &f, Now now)
{
	const bool is_any_in_the_way = std::ranges::any_of(f.ranks, [](const RankFacts &r) { return r.node.is_in_the_way; });
	const bool is_watched = f.is_alone && std::ranges::any_of(f.ranks, is_crowded_out);
	if (is_any_in_the_way || is_watched || clocks_.since(key, Clock::in_the_way) > 0)
		f.gives_way = has_given_way_time(key, component, is_any_in_the_way && component.given_back < k_give_back_most, now);
	if (!f.is_alone)
		note_common_room(f);
	f.gives_way = is_room_late(key, f, now) || f.gives_way;
}

/* From then on the API server is asked whether a pod is bound after all. */
void World::note_letting_go(const PodUid &key, ComponentFacts &f, Now now)
{
	const std::int64_t since_us = clocks_.set(key, Clock::letting_go, lets_go(f) || f.others.gives_back || f.others.ended, now);
	for (RankFacts &r : f.ranks) {
		const std::int64_t unbound_us = state_.pods.at(r.uid).unbound_at_us;
		const bool is_fresh = !f.is_alone || now.mono_us - unbound_us < k_believed_us;
		r.surely_unbound = since_us > 0 && unbound_us >= since_us && is_fresh;
	}
}

} // namespace slurmkube::core
