/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World for options and excluded nodes of pods with pending jobs: changes since the
 * submission are sent to Slurm. */
#include "src/core/options/change.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

/* What the job is told is noted in its marker, so that the next agent need not send it again. */
void World::note_submitted_exclusions(Component &component, const SlurmJob *job, Action &action)
{
	if (auto *submit = std::get_if<Submit>(&action)) {
		component.submitted.exclusions = exclusions_digest(submit->spec.excluded_nodes);
		submit->spec.marker.exclusions = *component.submitted.exclusions;
	}
	auto *update = std::get_if<Update>(&action);
	if (!update)
		return;
	for (const auto *names : {&update->given, &update->removed}) {
		if (std::ranges::find(*names, "excluded-nodes") != names->end())
			component.submitted.exclusions =
				exclusions_digest(update->spec.excluded_nodes);
	}
	update->spec.marker.exclusions =
		component.submitted.exclusions.value_or(job ? job->marker.exclusions : "");
}

void World::review_exclusions(Now now)
{
	if (!reviews_.is_due(now))
		return;
	for (const auto &[key, component] : state_.components) {
		if ((reviews_.wants_all() || state_.peers.is_constrained(key)) &&
			job_side(state_.current_job(key)) == JobSide::pending)
			reviews_.add(key);
	}
	for (const PodUid &key : reviews_.take(state_.slurm_nodes.size(), now)) {
		const auto found = state_.components.find(key);
		if (found == state_.components.end())
			continue;
		found->second.submitted.is_reviewed = true;
		queue_.mark(key);
	}
}

void World::updated(
	const PodUid &pod, const std::string &mark, JobId job, const Status &answer, Now now)
{
	Component &component = touch_component(pod);
	component.busy.slurm = false;
	note_answer(pod, answer ? nullptr : &answer.error(), now);
	if (answer) {
		figures_.counters.updated++;
		component.retries.failures = 0;
		component.submitted.job = job;
		component.submitted.digest = mark;
		return;
	}
	if (answer.error().code == Errc::invalid || answer.error().code == Errc::denied) {
		component.submitted.refused_digest = mark;
		component.submitted.refused_text = answer.error().what;
		return;
	}
	if (answer.error().code == Errc::not_found && state_.job(job) && is_live(*state_.job(job)))
		state_.recordless_nodes.clear(); /* Slurm may have deleted a node since */
	component.submitted.exclusions.emplace(k_exclusions_not_known);
	reviews_.add(pod);
	failed(component.retries, pod, answer.error(), now);
}

} // namespace slurmkube::core
