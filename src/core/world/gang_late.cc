/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of World for gangs of which some pods never come. Each job of such a gang is charged
 * while its pods are waited for. So the pause before the next job doubles; it ends at once when all
 * pods exist.
 */
#include "src/base/time_units.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_longest_pause_us = 14'400 * k_second_us;
constexpr unsigned k_pauses_doubled_most = 8;

/* No pause after the first job: another allocation may have the room that the pods lacked. */
std::int64_t pause_after(unsigned jobs, std::int64_t wait_us)
{
	if (jobs <= 1)
		return 0;
	return std::min(wait_us << std::min(jobs - 2, k_pauses_doubled_most), k_longest_pause_us);
}

} // namespace

/* The pods of other components may be what they wait for: a leader may have to load its model
 * first. */
std::int64_t late_limit_us(const State &state, const PodUid &key, const Gang &gang)
{
	/* or their successors are about to come */
	const auto has_run = [&](const PodUid &one) {
		const auto found = state.gangs.find(one);
		return one != key && found != state.gangs.end() && !found->second.ends.empty();
	};
	const bool do_others_run = gang.components > 1 &&
		(is_any_of_others(state, key, is_bound_side) ||
			std::ranges::any_of(components_of_workload(state, key), has_run));
	return do_others_run ? state.settings.late_pods_us : state.settings.gang_wait_us;
}

void World::note_never_came(const PodUid &key, Gang &gang, const ComponentFacts &f, Now now)
{
	const std::int64_t pause = pause_after(++gang.never_came, state_.settings.gang_wait_us);
	gang.submit_not_before_us = now.mono_us + pause;
	const PodsLate late{.job = f.job->id,
		.missing = f.empty_ranks,
		.ranks = f.rank_count,
		.waited_seconds = late_limit_us(state_, key, gang) / k_second_us,
		.count = gang.never_came};
	gang.late_text = pods_never_came(late, now.wall_s + pause / k_second_us);
	look_later(key, gang.submit_not_before_us);
}

void wait_after_never_came(
	const PodUid &key, const Gang &gang, ComponentFacts &f, Now now, Findings &found)
{
	if (now.mono_us >= gang.submit_not_before_us || f.empty_ranks == 0)
		return;
	f.waits_for = gang.late_text;
	found.look_later(key, gang.submit_not_before_us);
}

} // namespace slurmkube::core
