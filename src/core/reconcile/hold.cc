/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/hold.h"

#include "src/base/time_units.h"
#include "src/core/reconcile/parts.h"
#include "src/core/reconcile/together.h"

#include <algorithm>
#include <tuple>

namespace slurmkube::core
{

namespace
{

using Components = std::vector<ComponentFacts>;

/* Creation of the oldest live pod, seconds since the epoch; 0: no pod lives. Pods that the owner
 * has re-created have waited only since then. */
std::int64_t first_created(const ComponentFacts &f)
{
	std::int64_t first = 0;
	for (const RankFacts &r : f.ranks) {
		if (is_live_side(r.side))
			first = earlier(first, r.pod->created);
	}
	return first;
}

std::int64_t first_created(const Components &all)
{
	std::int64_t first = 0;
	for (const ComponentFacts &f : all)
		first = earlier(first, first_created(f));
	return first;
}

/* For how long the component has held its nodes: the longer of what this agent saw and of what
 * Slurm's start time says. oldest: creation of the workload's oldest live pod, before which nothing
 * was held for the pods that wait. */
std::int64_t held_us_of(const ComponentFacts &f, std::int64_t oldest, Now now)
{
	const std::int64_t seen_us = f.held_since_us > 0 ? now.mono_us - f.held_since_us : 0;
	/* After pods have ended in the allocation, Slurm's start time does not say for how long it
	 * has been held. */
	if (f.job->start_time == 0 || f.ended_ranks > 0)
		return seen_us;
	const std::int64_t from = std::max({f.job->start_time, first_created(f), oldest});
	return std::max(seen_us, (now.wall_s - from) * k_second_us);
}

} // namespace

std::int64_t earlier(std::int64_t one, std::int64_t other)
{
	return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

bool is_allocated(const ComponentFacts &f)
{
	return job_side(f.job) == JobSide::allocated;
}

/* All ranks of the component have succeeded. */
bool is_over(const ComponentFacts &f)
{
	return f.rank_count == 0 ||
		(!has_own_live(f) && f.ended_ranks >= f.rank_count && f.result == 0);
}

bool is_settled(const ComponentFacts &f)
{
	return is_over(f) || (is_allocated(f) && !f.ending);
}

bool is_gated(const ComponentFacts &f)
{
	return std::ranges::find(f.ranks, PodSide::gated, &RankFacts::side) != f.ranks.end();
}

std::int64_t pause_after_tries(unsigned tries, std::int64_t hold_seconds)
{
	constexpr std::int64_t k_most = 3600;
	constexpr unsigned k_doublings = 12;
	return tries == 0 ? 0
			  : std::min(hold_seconds << std::min(tries - 1, k_doublings),
				    std::max(k_most, hold_seconds));
}

Holding holding_of(const Components &all, Now now)
{
	Holding holding;
	const auto is_fine = [](const ComponentFacts &f) {
		return is_settled(f) &&
			!(is_allocated(f) &&
				(is_gated(f) || std::ranges::any_of(f.ranks, is_crowded_out)));
	};
	if (all.size() < 2 || has_begun(all) || std::ranges::all_of(all, is_fine))
		return holding;
	/* If all have nodes and a pod on one of them still has to leave, the last allocation
	 * counts: Slurm frees a node before the kubelet does. */
	const bool have_all_nodes = std::ranges::all_of(all, is_settled);
	const std::int64_t oldest = first_created(all);
	std::int64_t held_us = -1;
	for (const ComponentFacts &f : all) {
		if (!f.job || job_side(f.job) == JobSide::ended || is_over(f))
			continue;
		holding.queued_since = earlier(holding.queued_since, queued_since(*f.job));
		holding.partitions.push_back(f.job->partition);
		if (!is_allocated(f))
			continue;
		const std::int64_t own_us = held_us_of(f, oldest, now);
		held_us = have_all_nodes && held_us >= 0 ? std::min(held_us, own_us)
							 : std::max(held_us, own_us);
	}
	/* tries and pauses do not change the order */
	holding.queued_since = oldest > 0 ? oldest : holding.queued_since;
	if (have_all_nodes) /* then it waits for nobody's nodes */
		holding.partitions.clear();
	holding.since_us = held_us < 0 ? 0 : std::max<std::int64_t>(now.mono_us - held_us, 1);
	return holding;
}

bool gives_way_to(const Holding &one, const std::string &key, const Holding &other,
	const std::string &other_key)
{
	const auto is_common = [&](const std::string &partition) {
		return std::ranges::find(other.partitions, partition) != other.partitions.end();
	};
	if (one.since_us == 0 || other.since_us == 0 ||
		std::ranges::none_of(one.partitions, is_common))
		return false;
	return std::tie(one.queued_since, key) > std::tie(other.queued_since, other_key);
}

} // namespace slurmkube::core
