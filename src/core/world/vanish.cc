/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of World for jobs that have vanished: slurmctld answered with them or the plugin
 * reported them, and then they are not there, without an end. Whatever the cause is, a bug of ours
 * or a site's script, it must not lead to a new job every few seconds. So each such loss doubles
 * the pause before the next job.
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

/* Losses without a pause: slurmctld may have been killed before it had saved the job, or a list may
 * have been old. */
constexpr unsigned k_free_losses = 2;
constexpr std::int64_t k_first_pause_us = 5'000'000;
constexpr std::int64_t k_longest_vanish_us = 1'800'000'000;
constexpr unsigned k_doublings = 9;
constexpr std::int64_t k_forgiven_us = 7'200'000'000; /* without another loss */

std::int64_t pause_after(unsigned losses)
{
	if (losses <= k_free_losses)
		return 0;
	return std::min(k_first_pause_us << std::min(losses - k_free_losses - 1, k_doublings),
		k_longest_vanish_us);
}

} // namespace

void World::note_vanished(const PodUid &uid, JobId id, Now now)
{
	const auto found = state_.components.find(uid);
	if (found == state_.components.end() || now.mono_us == 0)
		return;
	Component &component = found->second;
	if (now.mono_us - component.vanished.last_us >= k_forgiven_us)
		component.vanished.count = 0;
	component.vanished.count++;
	component.vanished.last_us = now.mono_us;
	const std::int64_t pause = pause_after(component.vanished.count);
	if (pause == 0)
		return;
	component.vanished.submit_not_before_us = now.mono_us + pause;
	component.vanished.text =
		job_vanished(id, component.vanished.count, now.wall_s + pause / k_second_us);
	look_later(uid, component.vanished.submit_not_before_us);
}

/* The plugin reports every job. A job that it has not reported for k_provisional_us is gone, or its
 * pod cannot be identified; then it must not stay. */
void World::forget_provisional(const PodUid &uid, Now now)
{
	if (provisional_until_us_.empty() || !state_.sync.has_link())
		return;
	const std::vector<JobId> jobs = state_.components.at(uid).jobs;
	for (const JobId id : jobs) {
		const auto provisional = provisional_until_us_.find(id);
		if (provisional == provisional_until_us_.end() || provisional->second > now.mono_us)
			continue;
		note_vanished(uid, id, now);
		Marker marker = state_.jobs.at(id).marker;
		forget_job(id);
		state_.components.at(uid).unheard_of.push_back({id, std::move(marker)});
	}
}

void forget_unheard(Component &component, JobId id)
{
	std::erase_if(component.unheard_of, [id](const MarkedJob &one) { return one.id == id; });
}

} // namespace slurmkube::core
