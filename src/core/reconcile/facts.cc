/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/facts.h"

#include "src/core/model/outcome.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* A watch tells of a pod that much later than it was created, at the most, unless it is broken. */
constexpr std::int64_t k_watch_lag_us = 2'000'000;

} // namespace

bool is_misfit(const RankFacts &r)
{
	return r.side == PodSide::waiting && r.holds_rank && r.node.name.empty() && !r.busy.remove;
}

bool is_crowded_out(const RankFacts &r)
{
	return r.side == PodSide::waiting && r.holds_rank && !r.node.name.empty() &&
		!r.node.has_room;
}

bool is_evicted(const RankFacts &r)
{
	const bool is_held_on_to =
		r.side == PodSide::running || (r.side == PodSide::stopping && r.is_deletion_slow);
	return r.eviction && (r.side == PodSide::waiting || (r.is_ours && is_held_on_to));
}

bool is_bound(const RankFacts &r)
{
	return r.is_ours && is_bound_side(r.side);
}

bool is_made_after(const RankFacts &r, const SlurmJob &ended, std::int64_t end_seen_us)
{
	const bool saw_both = end_seen_us > 0 && r.first_seen_us > 0;
	if (r.pod->created > ended.end_time ||
		(saw_both && r.is_watched && r.first_seen_us > end_seen_us + k_watch_lag_us))
		return true;
	return r.pod->created == ended.end_time && !(saw_both && r.first_seen_us < end_seen_us);
}

bool ended_by_own_deadline(const ComponentFacts &f)
{
	return !has_own_bound(f) && f.result == k_status_deadline;
}

bool takes_waiting_along(const ComponentFacts &f)
{
	const auto has_run = [](const RankFacts &r) { return r.busy.bind || is_bound(r); };
	const bool is_unused = f.ended_ranks == 0 && std::ranges::none_of(f.ranks, has_run);
	return is_wish(*f.job) &&
		!(f.job->state == JobState::timeout && (is_unused || ended_by_own_deadline(f)));
}

bool has_succeeded(const ComponentFacts &f)
{
	const bool may_come_again = f.has_deleted_end && f.others.has_live;
	return !has_own_live(f) && f.rank_count > 0 && f.ended_ranks == f.rank_count &&
		f.result == 0 && !may_come_again;
}

bool has_own_live(const ComponentFacts &f)
{
	return std::ranges::any_of(f.ranks, is_live_side, &RankFacts::side);
}

bool has_own_bound(const ComponentFacts &f)
{
	return std::ranges::any_of(f.ranks, is_bound);
}

bool has_live(const ComponentFacts &f)
{
	return has_own_live(f) || f.others.has_live;
}

bool has_waiting(const ComponentFacts &f)
{
	return f.others.asks_ahead ||
		std::ranges::find(f.ranks, PodSide::waiting, &RankFacts::side) != f.ranks.end();
}

bool is_untouched(const ComponentFacts &f)
{
	const auto is_idle = [](const RankFacts &r) {
		return r.is_of_before || r.side == PodSide::gated ||
			(r.side == PodSide::waiting && !r.busy.bind);
	};
	return std::ranges::all_of(f.ranks, is_idle);
}

bool lets_go(const ComponentFacts &f)
{
	/* pods that have ended do not keep an allocation whose next pods cannot be bound */
	const auto is_used = [](const RankFacts &r) { return r.busy.bind || is_bound(r); };
	if (f.is_unbindable)
		return job_side(f.job) == JobSide::allocated &&
			std::ranges::none_of(f.ranks, is_used);
	const bool is_wrong = f.gives_way || std::ranges::any_of(f.ranks, [](const RankFacts &r) {
		return !r.node.forbidden.empty();
	});
	return job_side(f.job) == JobSide::allocated && is_wrong && is_untouched(f) &&
		!f.ranks.empty();
}

bool is_too_small(const ComponentFacts &f)
{
	return job_side(f.job) == JobSide::allocated && f.may_give_back && is_untouched(f) &&
		std::ranges::any_of(f.ranks, is_misfit);
}

bool is_to_be_ended(const ComponentFacts &f)
{
	return lets_go(f) || is_too_small(f) || f.ending || f.late_long;
}

bool is_doubtful(const ComponentFacts &f)
{
	return f.is_unseen && !f.owner_done && !has_live(f);
}

} // namespace slurmkube::core
