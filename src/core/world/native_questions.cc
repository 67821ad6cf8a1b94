/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of NativeJobs that says for which job slurmctld is asked next, and takes the answer. */
#include "src/core/world/native_jobs.h"

#include <algorithm>
#include <limits>

namespace slurmkube::core
{

namespace
{

/* Between two questions about a job: that has bound pods (and as much longer as there are many), on
 * a node that completes jobs, that waiting pods name and that may start, and any other one. */
constexpr std::int64_t k_bound_us = 10'000'000, k_per_job_us = 400'000, k_hasty_us = 2'000'000,
		       k_waiting_us = 5'000'000, k_hopeless_us = 60'000'000;
constexpr std::int64_t k_failed_us = 5'000'000;
/* For a number that stands for a large array. */
constexpr std::int64_t k_array_us = 600'000'000;
/* slurmctld describes all tasks of an array, under its locks. */
constexpr std::int64_t k_per_task_us = 1'000;
/* Pods that wait and are looked at after an answer; others look each minute. */
constexpr std::size_t k_woken_max = 16;
/* Namespaces whose turn was longer ago are equal. */
constexpr std::int64_t k_turn_kept_us = 60'000'000;

} // namespace

NativeJobs::Kind NativeJobs::kind_of(const Entry &entry) const
{
	const auto is_completing = [this](const auto &one) {
		return completing_.contains(one.first);
	};
	if (!completing_.empty() && std::ranges::any_of(entry.nodes, is_completing))
		return of_completing_node;
	return entry.tenants.empty() ? of_waiting_pods : of_bound_pods;
}

std::int64_t NativeJobs::due_us(JobId job, const Entry &entry, Kind kind) const
{
	const auto heard = heard_.find(job);
	if (entry.tenants.empty() && heard != heard_.end() && entry.wanted_us == 0)
		return std::max(entry.waited_since_us, heard->second.quiet_until_us);
	if (entry.asked_us == 0)
		return entry.waited_since_us;
	std::int64_t pause = k_hopeless_us;
	if (!entry.waiting.empty() && (!entry.last || may_start(&*entry.last)))
		pause = k_waiting_us;
	if (!entry.tenants.empty())
		pause = std::min(pause,
			std::max(k_bound_us, static_cast<std::int64_t>(with_pods_) * k_per_job_us));
	if (entry.has_failed)
		pause = std::min(pause, k_failed_us);
	if (kind == of_completing_node)
		pause = k_hasty_us;
	const std::int64_t regular = entry.asked_us + pause;
	return entry.wanted_us > 0 ? std::min(regular, entry.wanted_us) : regular;
}

std::int64_t NativeJobs::turn_us(const std::string &name_space) const
{
	const auto turn = turns_us_.find(name_space);
	return turn == turns_us_.end() ? 0 : turn->second;
}

/* Of those whose pods wait for the job. */
const std::string &NativeJobs::next_namespace(const Entry &entry) const
{
	return *std::ranges::min_element(
		entry.namespaces, {}, [this](const std::string &name) { return turn_us(name); });
}

void NativeJobs::note_turn(const Entry &entry, Now now)
{
	turns_us_[next_namespace(entry)] = now.mono_us;
	std::erase_if(turns_us_,
		[&](const auto &one) { return one.second < now.mono_us - k_turn_kept_us; });
}

NativeJobs::Questions NativeJobs::questions(Now now) const
{
	Questions found{{}, std::numeric_limits<std::int64_t>::max()};
	for (const auto &[id, entry] : jobs_) {
		const Kind kind = kind_of(entry);
		const std::int64_t due = due_us(id, entry, kind);
		const bool waits = kind == of_waiting_pods;
		const std::int64_t at_us = waits ? std::max(due, waiting_pause_until_us_) : due;
		if (at_us > now.mono_us) {
			found.next_us = std::min(found.next_us, at_us);
			continue;
		}
		const Overdue one{waits ? turn_us(next_namespace(entry)) : 0, due, id};
		std::optional<Overdue> &first = found.first[kind];
		if (!first || one < *first)
			first = one;
	}
	return found;
}

std::optional<JobId> NativeJobs::take_question(Now now)
{
	if (in_flight_ || now.mono_us < std::max(pause_until_us_, next_us_))
		return std::nullopt;
	const auto &[first, next_us] = questions(now);
	Kind kind = was_for_waiting_ ? of_bound_pods : of_waiting_pods;
	if (!first[kind])
		kind = was_for_waiting_ ? of_waiting_pods : of_bound_pods;
	if (first[of_completing_node] && (!was_hasty_ || !first[kind]))
		kind = of_completing_node;
	if (!first[kind]) {
		next_us_ = next_us;
		return std::nullopt;
	}
	was_hasty_ = kind == of_completing_node;
	if (!was_hasty_)
		was_for_waiting_ = kind == of_waiting_pods;
	Entry &entry = jobs_.at(first[kind]->job);
	if (kind == of_waiting_pods)
		note_turn(entry, now);
	entry.asked_us = now.mono_us;
	entry.wanted_us = 0;
	in_flight_ = first[kind]->job;
	in_flight_us_ = now.mono_us;
	return in_flight_;
}

bool NativeJobs::is_kept(const Heard &heard, Now now)
{
	return now.mono_us <= std::max(heard.quiet_until_us, heard.answered_us + k_hopeless_us);
}

void NativeJobs::note_heard(JobId job, const NativeAnswer &answer, Now now, std::size_t described)
{
	std::erase_if(heard_, [&](const auto &one) { return !is_kept(one.second, now); });
	std::int64_t pause = may_start(&answer) ? k_waiting_us : k_hopeless_us;
	if (!answer && answer.error().code != Errc::not_found)
		pause = k_failed_us;
	if (described > k_array_tasks_max)
		pause = k_array_us;
	heard_.insert_or_assign(
		job, Heard{now.mono_us + pause, in_flight_us_, now.mono_us, answer});
}

/* For a job that no pod has named since. */
void NativeJobs::recall(JobId job, Entry &entry, Now now) const
{
	const auto known = heard_.find(job);
	if (known == heard_.end() || !is_kept(known->second, now))
		return;
	note_answer(entry, known->second.answer, known->second.answered_us);
	entry.answered_us = 0; /* the job may have ended since: no pod is bound by it */
	entry.asked_us = known->second.asked_us;
}

void NativeJobs::forget_answers(std::int64_t now_us)
{
	known_since_us_ = now_us;
	next_us_ = 0;
	heard_.clear();
	for (auto &[id, entry] : jobs_) {
		entry.last.reset();
		entry.has_failed = false;
		entry.asked_us = entry.answered_us = 0;
	}
}

void NativeJobs::note_answer(Entry &entry, NativeAnswer answer, std::int64_t answered_us)
{
	entry.has_failed = !answer && answer.error().code != Errc::not_found;
	if (!entry.has_failed)
		entry.answered_us = answered_us;
	if (!entry.has_failed || !entry.last)
		entry.last = std::move(answer);
}

std::set<PodUid> NativeJobs::answered(
	JobId job, NativeAnswer answer, Now now, std::size_t described)
{
	in_flight_.reset();
	next_us_ = 0;
	pause_until_us_ = now.mono_us + k_pause_us;
	if (answer)
		described = std::max(described, answer->described);
	waiting_pause_until_us_ = std::max(waiting_pause_until_us_,
		now.mono_us + static_cast<std::int64_t>(described) * k_per_task_us);
	const auto found = jobs_.find(job);
	if (in_flight_us_ >= known_since_us_) {
		note_heard(job, answer, now, described);
		if (found != jobs_.end())
			note_answer(found->second, std::move(answer), now.mono_us);
	}
	if (found == jobs_.end())
		return {};
	Entry &entry = found->second;
	std::set<PodUid> woken = entry.tenants;
	auto next = entry.waiting.upper_bound(entry.last_woken);
	for (std::size_t i = 0; i < std::min(k_woken_max, entry.waiting.size()); i++) {
		if (next == entry.waiting.end())
			next = entry.waiting.begin();
		entry.last_woken = *next;
		woken.insert(*next++);
	}
	if (entry.tenants.empty() && entry.waiting.empty())
		jobs_.erase(found);
	return woken;
}

} // namespace slurmkube::core
