/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/together.h"

#include "src/base/time_units.h"
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/reconcile/parts.h"
#include "src/core/reconcile/report.h"

#include <algorithm>
#include <tuple>

namespace slurmkube::core
{

namespace
{

using Components = std::vector<ComponentFacts>;

/* Pods of the component run or are being bound: it continues whatever happens to the others. Unless
 * the end of its job was asked for, and may come. */
bool has_begun(const ComponentFacts &f)
{
	const bool is_binding =
		std::ranges::any_of(f.ranks, [](const RankFacts &r) { return r.busy.bind; });
	return job_side(f.job) != JobSide::ended && !f.others.ended && !f.is_end_asked &&
		(has_own_bound(f) || is_binding);
}

bool has_begun_anywhere(const Components &all)
{
	return std::ranges::any_of(all, [](const ComponentFacts &f) { return has_begun(f); });
}

bool has_open_claims(const ComponentFacts &f)
{
	return std::ranges::any_of(f.ranks, [](const RankFacts &r) {
		return r.node.claim_step || !r.node.claim_wait.empty() ||
			!r.node.device_wait.empty();
	});
}

/* The component's pods could be bound at once, if their volumes were bound. */
bool is_ready_but_for_claims(const ComponentFacts &f)
{
	if (f.rank_count == 0 || has_begun(f) || (is_over(f) && !f.is_awaited))
		return true;
	const auto is_stuck = [](const RankFacts &r) {
		return r.side == PodSide::gated || is_misfit(r) || is_crowded_out(r) ||
			!r.node.forbidden.empty();
	};
	return is_allocated(f) && !f.ending && !f.is_awaited && !f.job->configuring &&
		!f.job->nodes.empty() && std::ranges::none_of(f.ranks, is_stuck);
}

bool is_ready(const ComponentFacts &f)
{
	return is_ready_but_for_claims(f) && (has_begun(f) || !has_open_claims(f));
}

/*
 * If one job of a workload was cancelled or its time was over, nobody wants the rest of the
 * workload. If its node failed or it was preempted, its pods go, and pods of the other components
 * would wait for them in vain. Ends that pods bring about themselves, and jobs that we ended, mean
 * nothing for the others.
 */
bool ends_all(const ComponentFacts &f)
{
	if (job_side(f.job) != JobSide::ended || f.ended_by_us || f.answer_lost ||
		ended_with_prolog(*f.job) || (is_over(f) && !f.has_deleted_end))
		return false;
	switch (f.job->state) {
	/* An agent that started later may not know that its pods have run. In doubt the pods of the
	 * others live. */
	case JobState::timeout:
		return !ended_by_own_deadline(f) && takes_waiting_along(f);
	case JobState::cancelled:
	case JobState::deadline:
	case JobState::node_fail:
	case JobState::preempted:
	case JobState::boot_fail:
		return true;
	default:
		return std::ranges::any_of(f.ranks, [](const RankFacts &r) {
			return r.side == PodSide::running && r.is_about;
		});
	}
}

/* Whether the end of the other component's job concerns this one: it has pods or a job from before
 * that end. */
bool is_concerned(const ComponentFacts &f, const ComponentFacts &other)
{
	const SlurmJob &ended = *other.job;
	const auto goes = [&](const RankFacts &r) {
		return (is_bound(r) ||
			       (r.side == PodSide::waiting && takes_waiting_along(other))) &&
			!is_made_after(r, ended, other.end_seen_us);
	};
	if (std::ranges::any_of(f.ranks, goes))
		return true;
	/* A job from before that end is useless without running pods. If pods run that were made
	 * after the end, the job is theirs. */
	const auto runs = [](const RankFacts &r) { return r.busy.bind || is_bound(r); };
	const JobSide side = job_side(f.job);
	const bool has_job = (side == JobSide::pending || side == JobSide::allocated) &&
		f.job->submit_time <= ended.end_time;
	return has_job && std::ranges::none_of(f.ranks, runs);
}

/* The order of submission: what is hardest to place comes first, so that little is held while it
 * waits. */
std::vector<const ComponentFacts *> by_size(const Components &all)
{
	std::vector<const ComponentFacts *> sorted;
	for (const ComponentFacts &f : all)
		sorted.push_back(&f);
	std::ranges::stable_sort(sorted, std::ranges::greater(), [](const ComponentFacts *f) {
		return std::tuple(
			f->goes_first, f->size.devices, f->size.milli_cpu, f->size.memory_bytes);
	});
	return sorted;
}

/* The component that must be submitted first; nullptr: it is f's turn. */
const ComponentFacts *whose_turn(const Components &all, const ComponentFacts &f)
{
	for (const ComponentFacts *one : by_size(all)) {
		if (one == &f)
			return nullptr;
		if (!is_settled(*one))
			return one;
	}
	return nullptr;
}

/* Old pods of a component are still ending. No component submits a new job before they have. */
bool is_clearing(const ComponentFacts &f)
{
	return job_side(f.job) == JobSide::ended && has_own_bound(f);
}

/* Why another component prevents the submission; nullopt: it does not. */
std::optional<Condition> obstacle_of(const ComponentFacts &other)
{
	if (other.others.ended || is_clearing(other))
		return waiting_for_earlier_pods();
	if (is_settled(other) || job_side(other.job) == JobSide::pending)
		return std::nullopt;
	if (other.waits_for)
		return other.waits_for;
	if (other.spec && !other.spec->ok())
		return not_submitted(other.spec->error());
	return std::nullopt;
}

void wait_to_submit(const Components &all, ComponentFacts &f)
{
	for (const ComponentFacts &other : all) {
		if (const auto obstacle = &other == &f ? std::nullopt : obstacle_of(other)) {
			f.others.waits_for = obstacle;
			return;
		}
	}
	if (const ComponentFacts *first = whose_turn(all, f))
		f.others.waits_for = waiting_for_turn(first->component, first->job);
}

void wait_to_bind(const Components &all, ComponentFacts &f)
{
	const auto is_missing = [&](const ComponentFacts &other) {
		return &other != &f && !is_ready(other);
	};
	const auto missing = std::ranges::find_if(all, is_missing);
	f.others.may_bind_volumes = std::ranges::all_of(all, is_ready_but_for_claims);
	if (missing != all.end())
		f.others.waits_for =
			waiting_for_component(*f.job, missing->component, missing->job);
}

/* For a workload of which no pod is bound. */
void stand_before_start(
	const Components &all, ComponentFacts &f, const HoldLimit &limit, bool is_held_long)
{
	const bool is_waiting = std::ranges::any_of(all, [](const ComponentFacts &one) {
		return std::ranges::find(one.ranks, PodSide::waiting, &RankFacts::side) !=
			one.ranks.end();
	});
	f.others.asks_ahead = is_waiting && !is_over(f) && f.is_wanted;
	switch (job_side(f.job)) {
	case JobSide::none:
	case JobSide::ended:
		if (limit.pause)
			f.others.waits_for = limit.pause;
		else
			wait_to_submit(all, f);
		return;
	/* The job waits although components before it have none: it is cancelled, so that they are
	 * submitted first. A job that somebody holds (scontrol hold) stays. */
	case JobSide::pending:
		f.others.gives_back =
			!f.job->held && (limit.pause || whose_turn(all, f) != nullptr);
		return;
	case JobSide::allocated:
		f.others.gives_back =
			(is_held_long || limit.pause) && !is_over(f) && !has_own_bound(f);
		return wait_to_bind(all, f);
	}
}

/* The latest end counts, because Slurm may still know earlier ones. */
void note_end_of_others(const Components &all, ComponentFacts &f)
{
	for (const ComponentFacts &other : all) {
		if (&other == &f || !f.ends_together || !ends_all(other) || !is_concerned(f, other))
			continue;
		if (f.others.ended && other.job->end_time < f.others.ended->end_time)
			continue;
		f.others.ended = other.job;
		f.others.end_seen_us = other.end_seen_us;
	}
}

/* Creation, seconds since the epoch; 0: no pod waits. */
std::int64_t oldest_waiting(const Components &all)
{
	std::int64_t oldest = 0;
	for (const ComponentFacts &f : all) {
		for (const RankFacts &r : f.ranks) {
			if (r.side == PodSide::waiting)
				oldest = earlier(oldest, r.pod->created);
		}
	}
	return oldest;
}

} // namespace

bool has_begun(const Components &all)
{
	return has_begun_anywhere(all);
}

void stand_together(Components &all, const HoldLimit &limit)
{
	if (all.size() < 2)
		return;
	const std::int64_t oldest = oldest_waiting(all);
	std::int64_t aged = 0;
	for (const ComponentFacts &f : all)
		aged = earlier(aged, f.aged_since);
	for (ComponentFacts &f : all) {
		f.others.are_there = true;
		f.others.oldest_waiting = oldest;
		f.others.aged_since = aged;
		f.others.has_live = std::ranges::any_of(all, [&](const ComponentFacts &other) {
			return &other != &f && has_own_live(other);
		});
		note_end_of_others(all, f);
	}
	if (has_begun_anywhere(all))
		return;
	const Holding holding = holding_of(all, limit.now);
	const bool is_held_long = holding.since_us > 0 &&
		(limit.gives_way ||
			limit.now.mono_us - holding.since_us >= limit.hold_seconds * k_second_us);
	for (ComponentFacts &f : all) {
		if (!f.others.ended)
			stand_before_start(all, f, limit, is_held_long);
	}
}

} // namespace slurmkube::core
