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
ComponentFacts World::facts_of_component(const PodUid &lead, Group &group, Now now)
{
	ComponentFacts f;
	f.known = state_.is_known();
	f.job = state_.current_job(group);
	if (job_side(f.job) == JobSide::ended && is_given_up(group, *f.job))
		f.job = nullptr;
	f.is_held = is_held(f.job);
	f.answer_lost = f.job && is_answer_lost(group, *f.job);
	f.surplus = surplus_of(group, f.job);
	f.busy = busy_of(group, now);
	f.may_retry = now.mono_us >= group.retry_at_us;
	f.submit_due = is_submit_due(lead, group, now);
	f.trouble = group.trouble;
	f.start_limit_us = state_.settings.start_limit_us;
	if (job_side(f.job) == JobSide::ended && group.job_ended_us > 0) {
		const std::int64_t next = group.job_ended_us + pause_before(next_attempt(group));
		f.next_job_due = now.mono_us >= next;
		if (!f.next_job_due)
			look_later(lead, next);
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

ComponentFacts World::facts_of_pod(const PodUid &uid, Group &group, Now now, std::optional<Result<JobSpec>> &spec)
{
	ComponentFacts f = facts_of_component(uid, group, now);
	f.is_alone = f.is_complete = true;
	f.seats = 1;
	const PodSide side = side_of(group);
	note_absence(uid, group, side, f, now);
	if (group.pod) {
		f.ranks.push_back(facts_of_rank(uid, group, group, f.job, now));
		f.ranks.front().is_ours = is_bound_side(side);
		f.ranks.front().is_seated = true;
	}
	note_goes_on(f);
	if (side == PodSide::waiting && job_side(f.job) == JobSide::allocated)
		note_place(uid, group, f, now);
	note_wrong_allocation(uid, group, f, now);
	const bool is_missing = f.known && side == PodSide::running && !f.job;
	f.missing_long = is_over(uid, is_missing, group.missing_since_us, k_missing_job_us, now) && state_.slurm_nodes.contains(bound_node_of(group));
	if (side == PodSide::running)
		f.pinned = bound_node_of(group);
	if (f.known && group.pod)
		note_wishes(uid, group, side, spec, f, now);
	return f;
}

/* How its job ends, if it does not live. */
void World::note_absence(const PodUid &uid, Group &group, PodSide side, ComponentFacts &f, Now now)
{
	const bool is_absent = side == PodSide::absent;
	f.is_unseen = is_absent && !is_surely_gone(uid, group, job_side(f.job), now);
	f.absent_long = !f.is_unseen;
	f.for_absence = is_absent && !group.saw_deletion;
	f.is_held = f.is_held && f.for_absence;
	if (f.job) {
		f.name_space = f.job->marker.name_space;
		f.name = f.job->marker.name;
	}
	if (is_live_side(side))
		return;
	f.ended_seats = 1;
	f.result = group.end_status.value_or(side == PodSide::ended ? wait_status_of(*group.pod) : wait_status_of_gone(group.last.get()));
}

void World::note_place(const PodUid &uid, Group &group, ComponentFacts &f, Now now)
{
	RankFacts &rank = f.ranks.front();
	rank.has_seat = true;
	if (f.job->nodes.empty())
		return;
	const NodeAllocation &slot = f.job->nodes.front();
	rank.node = facts_of_place(uid, group, uid, slot.node, now);
	rank.node.cpus = slot.cpus;
}

/* What it asks for, where there is no job of its own, or one that waits. */
void World::note_wishes(const PodUid &uid, Group &group, PodSide side, std::optional<Result<JobSpec>> &spec, ComponentFacts &f, Now now)
{
	const JobSide job = job_side(f.job);
	if (side == PodSide::waiting && job == JobSide::pending) {
		note_options(uid, group, spec, f);
		note_places(uid, group, spec, f);
	}
	if ((side != PodSide::waiting && side != PodSide::running) || is_live_job_side(job))
		return;
	spec = group.refusal ? Result<JobSpec>(*group.refusal) : translate(*group.pod, state_.settings.policy, next_attempt(group));
	if (side == PodSide::waiting)
		hold_for_claims(uid, *group.pod, spec, f.waits_for, now);
	place(uid, *group.pod, spec);
	f.spec = spec ? &*spec : nullptr;
	if (side == PodSide::waiting && places_.is_behind(uid))
		f.waits_for = waiting_for_places();
	wait_after_vanishing(uid, group, f.waits_for, now);
}

/* ---- an allocation that is wrong ---- */

/* Not at first sight: who has just taken over may see this pod as it was, and it runs by now under this very job. */
bool World::has_given_way_time(const PodUid &uid, Group &group, bool is_in_the_way, Now now)
{
	if (now.mono_us >= group.gate_look_at_us) { /* nothing tells when the other pod's job is made */
		group.gate_look_at_us = now.mono_us + k_give_way_us;
		look_later(uid, group.gate_look_at_us);
	}
	if (!is_in_the_way) {
		group.in_the_way_since_us = 0;
		return false;
	}
	if (group.in_the_way_since_us < state_.sync.synced_us() || group.in_the_way_since_us == 0) {
		group.in_the_way_since_us = now.mono_us;
		look_later(uid, now.mono_us + k_give_way_us);
	}
	return now.mono_us - group.in_the_way_since_us >= k_give_way_us;
}

void World::note_wrong_allocation(const PodUid &lead, Group &group, ComponentFacts &f, Now now)
{
	const bool is_any_in_the_way = std::ranges::any_of(f.ranks, [](const RankFacts &r) { return r.node.is_in_the_way; });
	const bool is_watched = f.is_alone && std::ranges::any_of(f.ranks, is_crowded_out);
	if (is_any_in_the_way || is_watched || group.in_the_way_since_us > 0)
		f.gives_way = has_given_way_time(lead, group, is_any_in_the_way && group.given_back < k_give_back_most, now);
	if (!f.is_alone)
		note_common_room(f);
	f.gives_way = is_room_late(lead, group, f, now) || f.gives_way;
}

/* From then on the API server is asked whether a pod is bound after all. */
void World::note_letting_go(Group &lead, ComponentFacts &f, Now now)
{
	if (!lets_go(f) && !f.others.gives_back && !f.others.ended)
		lead.letting_go_since_us = 0;
	else if (lead.letting_go_since_us == 0)
		lead.letting_go_since_us = now.mono_us;
	for (RankFacts &r : f.ranks) {
		const std::int64_t unbound_us = state_.groups.at(r.uid).unbound_at_us;
		const bool is_fresh = !f.is_alone || now.mono_us - unbound_us < k_believed_us;
		r.surely_unbound = lead.letting_go_since_us > 0 && unbound_us >= lead.letting_go_since_us && is_fresh;
	}
}

} // namespace slurmkube::core
