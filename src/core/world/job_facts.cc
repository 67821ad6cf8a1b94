/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a job that is missing: whether one may be submitted, and whether its pods are really
 * gone. */
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_native_after_us = 5'000'000;

} // namespace

bool FactsReader::is_submit_due(const PodUid &key) const
{
	const auto is_sending = [this](const PodUid &other) {
		const Component *component = state_.component(other);
		return component && component->busy.slurm;
	};
	const auto wait_until =
		unanswered_.wait_until(key, namespace_of(state_, key), is_sending, now_);
	if (wait_until)
		found_.look_later(key, *wait_until);
	return !wait_until;
}

/* A pod that was never seen may have been deleted by force a moment ago: then its containers live a
 * little longer. */
bool FactsReader::is_surely_gone(const PodUid &uid, const PodEntry &entry, JobSide job) const
{
	if (entry.last || !entry.is_gone || job != JobSide::allocated)
		return entry.last || entry.is_gone;
	const std::int64_t due = entry.gone_since_us + state_.settings.forced_delete_hold_us;
	if (now_.mono_us < due)
		found_.look_later(uid, due);
	return now_.mono_us >= due;
}

bool is_held(const State &state, std::size_t held_absent_pods, const SlurmJob *job)
{
	return held_absent_pods > 0 && job &&
		state.clusters.of_unknown_clusters().contains(job->id);
}

/* The plugin reports every external node and no other, but it may report a new node a moment after
 * the job that has it. */
bool FactsReader::is_surely_native(const PodUid &uid, const Component &component) const
{
	if (component.allocated_us == 0)
		return false;
	const std::int64_t due =
		std::max(component.allocated_us, state_.sync.synced_us()) + k_native_after_us;
	if (now_.mono_us < due)
		found_.look_later(uid, due);
	return now_.mono_us >= due;
}

void wait_after_vanishing(const PodUid &uid, const Component &component,
	std::optional<Condition> &waits_for, Now now, Findings &found)
{
	if (now.mono_us >= component.vanished.submit_not_before_us)
		return;
	waits_for = component.vanished.text;
	found.look_later(uid, component.vanished.submit_not_before_us);
}

} // namespace slurmkube::core
