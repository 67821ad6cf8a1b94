/* SPDX-License-Identifier: GPL-2.0-or-later */
/* World and the options and nodes of pods whose jobs wait: what has changed since they were submitted is told to Slurm. */
#include "src/core/options/change.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr char k_not_known[] = "?"; /* no mark: an update failed, and may have been done in part */

} // namespace

/* An agent before us may have told it. */
bool World::is_told_places(const Component &component, const SlurmJob &job, const JobSpec &spec)
{
	const std::string told = component.submitted.exclusions.value_or(job.marker.places);
	return told == k_not_known ? spec.excluded_nodes.empty() : told == places_mark(spec.excluded_nodes);
}

/* What the job was told is noted with it: the agent that comes after us need not tell it again. */
void World::note_told_places(Component &component, const SlurmJob *job, Action &action)
{
	if (auto *submit = std::get_if<Submit>(&action)) {
		component.submitted.exclusions = places_mark(submit->spec.excluded_nodes);
		submit->spec.marker.places = *component.submitted.exclusions;
	}
	auto *update = std::get_if<Update>(&action);
	if (!update)
		return;
	for (const auto *names : {&update->given, &update->removed}) {
		if (std::ranges::find(*names, "excluded-nodes") != names->end())
			component.submitted.exclusions = places_mark(update->spec.excluded_nodes);
	}
	update->spec.marker.places = component.submitted.exclusions.value_or(job ? job->marker.places : "");
}

/* A job whose submitter left no mark is not asked about: it is from an earlier version. */
void World::note_options(const PodUid &uid, const Pod &pod, const Component &component, std::optional<Result<JobSpec>> &spec, ComponentFacts &f)
{
	const std::string &told = component.submitted.job == f.job->id ? component.submitted.digest : f.job->marker.options;
	if (told.empty() || (has_hash(told, options_hash(pod)) && !is_deadline_raised(told, pod.active_deadline_seconds)))
		return;
	spec = translate(pod, state_.settings.policy, f.job->marker.attempt);
	place(uid, pod, spec);
	f.spec = spec ? &*spec : nullptr;
	f.change.told_mark = told;
	f.change.options = f.spec != nullptr;
	if (f.spec && f.spec->ok() && f.spec->value().marker.options == component.submitted.refused_digest)
		f.change.trouble = component.submitted.refused_text;
}

void World::review_places(Now now)
{
	if (!reviews_.is_due(now))
		return;
	for (const auto &[key, component] : state_.components) {
		if ((reviews_.wants_all() || state_.peers.is_choosy(key)) && job_side(state_.current_job(key)) == JobSide::pending)
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

void World::note_places(const PodUid &uid, const Pod &pod, Component &component, std::optional<Result<JobSpec>> &spec, ComponentFacts &f)
{
	if (!component.submitted.is_reviewed || f.change.options || f.busy.slurm || !f.may_retry || !f.submit_due)
		return;
	component.submitted.is_reviewed = false;
	spec = translate(pod, state_.settings.policy, f.job->marker.attempt);
	place(uid, pod, spec);
	places_.leave_behind(uid); /* it has a job: those that have none are woken, one at a time */
	if (!spec)
		reviews_.add(uid); /* one that it must not meet is on its way: when that is over */
	/* with no node left it keeps those that it had: Slurm takes no job that can run nowhere, and what it gets is judged again */
	if (!spec || !*spec || is_told_places(component, *f.job, **spec))
		return;
	f.spec = &*spec;
	f.change.places = true;
}

/* The options of a gang are those of its first pod; while that one is missing nobody can say that they are others. */
void World::note_gang_change(const PodUid &key, Gang &gang, Component &component, std::optional<Result<JobSpec>> &spec, ComponentFacts &f)
{
	const std::string &told = component.submitted.job == f.job->id ? component.submitted.digest : f.job->marker.options;
	const auto first = std::ranges::find_if(gang.members, [&](const auto &m) { return m.second == 0U && state_.pods.at(m.first).pod; });
	const bool has_mark = first != gang.members.end() && !told.empty();
	const bool is_other = has_mark && (!has_hash(told, options_hash(*state_.pods.at(first->first).pod)) || is_deadline_raised(told, deadline_of(pods_of_roles(gang))));
	const bool is_due = component.submitted.is_reviewed && !f.busy.slurm && f.may_retry && f.submit_due;
	if (!is_other && !is_due)
		return;
	component.submitted.is_reviewed = component.submitted.is_reviewed && !is_due;
	const auto kept = std::pair(gang.shape, gang.per_node); /* the job has these, whatever its pods say by now */
	spec_of(key, gang, spec);
	std::tie(gang.shape, gang.per_node) = kept;
	places_.leave_behind(key);
	if (!spec)
		reviews_.add(key);
	if (!spec)
		return;
	if (*spec)
		(*spec)->marker.attempt = f.job->marker.attempt;
	f.spec = &*spec;
	f.change.options = is_other;
	f.change.places = *spec && !is_told_places(component, *f.job, **spec);
	f.change.told_mark = told;
	if (*spec && (*spec)->marker.options == component.submitted.refused_digest)
		f.change.trouble = component.submitted.refused_text;
}

void World::updated(const PodUid &pod, const std::string &mark, JobId job, const Status &answer, Now now)
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
	component.submitted.exclusions.emplace(k_not_known);
	reviews_.add(pod);
	failed(component.retries, pod, answer.error(), now);
}

} // namespace slurmkube::core
