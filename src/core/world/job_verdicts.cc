/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that judges what jobs say about their pods. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>
#include <charconv>

namespace slurmkube::core
{

namespace
{

/* slurmctld answers as soon as it has created a job; if it is busy, that takes a moment. */
constexpr std::int64_t k_unheard_job_seconds = 5;
/* Pause between jobs of a pod that end before it runs: none after the first, then 2 s, 4 s, ... */
constexpr std::int64_t k_next_job_us = 1'000'000;
constexpr std::uint32_t k_next_job_doublings = 6;
/* Each try is charged for up to a minute: in the end a minute of 64. */
constexpr std::int64_t k_after_failed_binding_us = 60'000'000;
constexpr unsigned k_failed_binding_doublings = 6;

bool contains(const std::vector<JobId> &list, JobId id)
{
	return std::find(list.begin(), list.end(), id) != list.end();
}

bool has_bound_pods(const State &state, const PodUid &key, const Component &component)
{
	const PodEntry *entry = state.entry(key);
	return !component.bound_nodes.empty() ||
		(entry && entry->pod && !is_terminal(*entry->pod) &&
			!bound_node_of(*entry).empty());
}

} // namespace

std::int64_t pause_before(std::uint32_t attempt)
{
	return attempt <= 2 ? 0 : k_next_job_us << std::min(attempt - 2, k_next_job_doublings);
}

std::int64_t pause_after_failed_bindings(unsigned count)
{
	return count == 0
		? 0
		: k_after_failed_binding_us << std::min(count - 1, k_failed_binding_doublings);
}

std::uint32_t bound_attempt(const Pod &pod)
{
	const auto found = pod.annotations.find(names::k_allocation_attempt);
	std::uint32_t attempt = 0;
	if (found != pod.annotations.end())
		/* anything else counts as 0 */
		(void)std::from_chars(
			found->second.data(), found->second.data() + found->second.size(), attempt);
	return attempt;
}

/* A stray is cancelled only when its successor lives. Otherwise an agent that starts in between
 * would take the end of the stray for that of the pod. */
std::vector<JobId> FactsReader::surplus_of(
	const PodUid &key, const Component &component, const SlurmJob *current) const
{
	std::vector<JobId> out;
	const bool has_other = current && job_side(current) == JobSide::allocated &&
		!provisional_.contains(current->id);
	/* otherwise the pods may run under such a job */
	if (!has_bound_pods(state_, key, component) || has_other)
		for (const MarkedJob &one : component.unheard_of)
			out.push_back(one.id);
	for (const JobId id : component.jobs) {
		const auto found = state_.jobs.find(id);
		if (found == state_.jobs.end() || &found->second == current ||
			!is_live(found->second))
			continue;
		if (state_.stands_for(key, component, found->second) ||
			(current && is_live(*current)))
			out.push_back(id);
	}
	return out;
}

std::uint32_t next_attempt(const State &state, const PodUid &key)
{
	const Pod *pod = state.pod(key);
	std::uint32_t highest = pod ? bound_attempt(*pod) : 0;
	for (const JobId id : state.components.at(key).jobs) {
		const auto found = state.jobs.find(id);
		if (found != state.jobs.end())
			highest = std::max(highest, found->second.marker.attempt);
	}
	return highest + 1;
}

/*
 * If a submitter goes away, slurmctld ends its job at once: as FAILED if it runs, as CANCELLED if
 * it is pending, which looks like scancel. If a user cancels a job within seconds of its submission
 * while the agent is down, the pod is queued again. We accept that.
 */
bool is_answer_lost(const Component &component, const SlurmJob &job)
{
	const bool is_such_end = job.state == JobState::failed || job.state == JobState::cancelled;
	return is_such_end && !contains(component.answered, job.id) && job.end_time > 0 &&
		job.end_time - job.submit_time <= k_unheard_job_seconds;
}

/* By us, because no pod was found: if a pod exists after all, this end does not concern it. */
bool is_given_up(const Component &component, const SlurmJob &ended)
{
	return contains(component.given_up, ended.id) ||
		(ended.state == JobState::cancelled && ended.marker.given_up);
}

/* A bound pod ends with its own job, if people or the cluster ended that job. In doubt, the pod
 * stays and gets a new job. */
bool is_about_pod(const Pod &pod, const Component &component, const SlurmJob &ended)
{
	if (is_given_up(component, ended))
		return false;
	/* Ends that only pods bring about, or we. FAILED with k_status_never_came is one of ours,
	 * too: what is bound after all stays. */
	const bool is_wish = ended.state != JobState::failed && ended.state != JobState::complete &&
		ended.state != JobState::oom;
	const std::uint32_t bound = bound_attempt(pod);
	const auto named = pod.annotations.find(names::k_allocation_job_id);
	/* the agent that bound the pod to the job had received the answer */
	const bool is_named = named != pod.annotations.end() &&
		named->second == std::to_string(ended.id.number) && ended.marker.attempt == bound;
	return is_wish && ended.marker.attempt >= bound &&
		(is_named || !is_answer_lost(component, ended));
}

/* Only what Slurm counted: not while it was held or waited for another job. */
std::int64_t age_of(const SlurmJob &job, Now now)
{
	const std::int64_t given = job.marker.since > 0 ? job.submit_time - job.marker.since : 0;
	std::int64_t until = now.wall_s; /* a pending job has an estimated start_time */
	if (job_side(&job) != JobSide::pending && job.start_time > 0)
		until = job.start_time;
	else if (job_side(&job) == JobSide::ended && job.end_time > 0)
		until = job.end_time;
	const std::int64_t gained = job.accrue_time > 0 ? until - job.accrue_time : 0;
	return std::max<std::int64_t>(given, 0) + std::max<std::int64_t>(gained, 0);
}

std::int64_t age_of(const State &state, const Component &component, Now now)
{
	if (component.age_seconds > 0)
		return component.age_seconds;
	const SlurmJob *last = nullptr;
	for (const JobId id : component.jobs) {
		const auto found = state.jobs.find(id);
		if (found != state.jobs.end() &&
			(!last || found->second.marker.attempt > last->marker.attempt))
			last = &found->second;
	}
	/* A pod that fails with exit code 1 leaves the same status, but its successor is younger
	 * than that job: waiting_since() in reconcile.cc. */
	const bool is_taken_back = last &&
		((last->state == JobState::cancelled && is_given_up(component, *last)) ||
			(last->state == JobState::failed &&
				last->exit_status == k_status_given_back));
	return is_taken_back ? age_of(*last, now) : 0;
}

} // namespace slurmkube::core
