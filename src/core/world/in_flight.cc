/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that accepts an action before it is returned: the action is marked as under
 * way, and what it asks for is noted. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* A pod that runs within a second needs no condition which says that it waits. */
constexpr std::int64_t k_first_report_us = 1'000'000;
constexpr std::int64_t k_lease_look_us = 1'000'000;

} // namespace

void note_given_up(Component &component, JobId job)
{
	if (std::ranges::find(component.given_up, job) == component.given_up.end())
		component.given_up.push_back(job);
}

void withdraw_end(Component &component, JobId job)
{
	component.asked_ends.withdraw(job);
	std::erase(component.given_up, job);
}

/* Accepts at most one write per pod and report interval, and none that repeats what the pod
 * says. */
bool World::accept_report(const PodUid &uid, PodEntry &entry, const Report &report, Now now)
{
	const Condition &wanted = report.not_scheduled;
	if (entry.busy.report || entry.busy.bind || !entry.pod ||
		entry.pod->not_scheduled == wanted || entry.reported == wanted)
		return false;
	const bool is_refusal = wanted.reason == names::k_reason_refused;
	const std::int64_t since_last = entry.last_report_us == 0
		? 0
		: entry.last_report_us + state_.settings.report_interval_us;
	const std::int64_t due =
		std::max(since_last, is_refusal ? 0 : entry.first_seen_us + k_first_report_us);
	if (now.mono_us < due && !(is_refusal && entry.reported.reason != wanted.reason)) {
		look_later(uid, due);
		return false;
	}
	changes_.note(uid);
	entry.busy.report = true;
	entry.reported = wanted;
	entry.last_report_us = now.mono_us;
	return true;
}

/* What has been started is not started again before its answer. */
void World::mark_in_flight(const PodUid &uid, const Action &action, Now now)
{
	if (std::holds_alternative<LookUp>(action) && state_.gangs.contains(uid)) {
		state_.components.at(uid).busy.look = true;
		return;
	}
	const bool is_of_pod = std::holds_alternative<Bind>(action) ||
		std::holds_alternative<DeletePod>(action) ||
		std::holds_alternative<WriteClaim>(action) ||
		std::holds_alternative<LookUp>(action);
	if (!is_of_pod) {
		state_.components.at(uid).busy.slurm = true;
		return;
	}
	PodEntry &entry = state_.pods.at(uid);
	if (const auto *bind = std::get_if<Bind>(&action)) {
		changes_.note(uid);
		entry.busy.bind = true;
		entry.assumed_node = bind->node;
		if (entry.native)
			entry.native->mark = bind->native;
		settle_share(uid, entry, now);
	} else if (const auto *remove = std::get_if<DeletePod>(&action)) {
		entry.busy.remove = true;
		if (remove->ended_job.number != 0) {
			entry.eviction = *remove;
			state_.components.at(state_.component_key_of(uid)).has_evictions = true;
		}
	} else if (const auto *provide = std::get_if<WriteClaim>(&action)) {
		entry.busy.claim = true;
		entry.submitted_step = provide->step;
		if (const auto *release = std::get_if<ReleaseDevices>(&provide->step))
			entry.open_release = *release;
	} else {
		entry.busy.look = true;
	}
}

void World::note_submission(const PodUid &key, const JobSpec &spec, Now now)
{
	Component &component = state_.components.at(key);
	const PodEntry *alone = state_.entry(key);
	const std::int64_t first_seen_us = alone ? alone->first_seen_us : component.first_seen_us;
	if (component.submitted_us == 0 && spec.required_node.empty())
		figures_.stage_latencies.watch_to_submit.add(
			static_cast<std::uint64_t>(now.mono_us - first_seen_us));
	if (!spec.required_node.empty())
		figures_.counters.readopted++;
	component.submitted_us = now.mono_us;
	component.submitted_attempt = spec.marker.attempt;
	component.allocated_us = component.job_ended_us = component.end_seen_us = 0;
}

/* Its job is taken from pods before they run. Kept here as well as in the job, because Slurm
 * forgets that before the next one may be submitted. */
void World::note_age(Component &component, JobId id, Now now) const
{
	const auto job = state_.jobs.find(id);
	if (job != state_.jobs.end())
		component.age_seconds = std::max(component.age_seconds, age_of(job->second, now));
}

void World::note_completion(const PodUid &key, Component &component, const Complete &end, Now now)
{
	component.asked_ends.ask(end);
	if (end.for_absence)
		note_given_up(component, end.job);
	if (end.wait_status != k_status_given_back)
		return;
	note_age(component, end.job, now);
	if (clocks_.since(key, Clock::in_the_way) > 0 && component.asked_ends.is_first())
		component.given_back++;
}

void World::note_job_action(const PodUid &key, Action &action, Now now)
{
	Component &component = state_.components.at(key);
	if (const auto *complete = std::get_if<Complete>(&action))
		note_completion(key, component, *complete, now);
	if (const auto *cancel = std::get_if<Cancel>(&action)) {
		component.asked_ends.ask(*cancel);
		if (cancel->for_absence)
			note_age(component, cancel->job, now);
		note_given_up(component, cancel->job);
	}
	if (std::holds_alternative<Submit>(action) || std::holds_alternative<Update>(action))
		unanswered_.sent(key, namespace_of(state_, key));
	note_submitted_exclusions(component, state_.current_job(key), action);
	if (const auto *submit = std::get_if<Submit>(&action))
		note_submission(key, submit->spec, now);
}

/* uid: of the pod, or the key of the component if the action is for its job. */
bool World::accept(const PodUid &uid, Action &action, Now now)
{
	if (const auto *report = std::get_if<Report>(&action)) {
		const auto entry = state_.pods.find(uid);
		return entry != state_.pods.end() &&
			accept_report(uid, entry->second, *report, now);
	}
	/* The API server was away, or this process stood still: another agent may lead by now. */
	if (std::holds_alternative<DeletePod>(action) && state_.settings.needs_lease &&
		!is_fresh(state_.lease, now)) {
		look_later(uid, now.mono_us + k_lease_look_us);
		return false;
	}
	mark_in_flight(uid, action, now);
	if (state_.components.contains(uid) && state_.components.at(uid).busy.slurm)
		note_job_action(uid, action, now);
	return true;
}

} // namespace slurmkube::core
