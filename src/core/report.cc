/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/report.h"

#include "src/core/names.h"

#include <chrono>
#include <cstdio>

namespace slurmkube::core
{

namespace
{

std::string job_text(const SlurmJob &job)
{
	return "Slurm job " + std::to_string(job.id.number);
}

} // namespace

std::string minute_text(std::int64_t epoch_seconds)
{
	using namespace std::chrono;
	const sys_seconds when{seconds{epoch_seconds}};
	const auto day = floor<days>(when);
	const year_month_day date{day};
	const hh_mm_ss time{when - day};
	char text[64];
	(void)snprintf(text, sizeof(text), "%04d-%02u-%02uT%02d:%02dZ", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
		       static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()));
	return text;
}

Condition waiting_in_queue(const SlurmJob &job)
{
	std::string text = job_text(job) + " is pending";
	if (!job.reason.empty() && job.reason != "None")
		text += ": " + job.reason;
	if (job.start_time > 0)
		text += "; estimated start " + minute_text(job.start_time);
	return {names::k_reason_pending, text};
}

Condition waiting_for_node(const SlurmJob &job, const std::string &node)
{
	return {names::k_reason_pending, job_text(job) + " has node " + node + ", which is not Ready in Kubernetes"};
}

Condition waiting_for_room(const SlurmJob &job, const std::string &node)
{
	return {names::k_reason_pending, job_text(job) + " has node " + node + ", where an earlier pod is still ending"};
}

Condition not_started(const SlurmJob &job, const Pod &pod, std::int64_t seconds)
{
	std::string text = job_text(job) + " gave up: nothing of the pod ran on node " + pod.node_name + " within " + std::to_string(seconds) + " s";
	if (!pod.waiting_reason.empty())
		text += "; the kubelet says " + pod.waiting_reason;
	return {names::k_reason_start_limit, text};
}

Condition submission_failed(const Error &error)
{
	const bool lasting = error.code == Errc::invalid || error.code == Errc::denied;
	return {lasting ? names::k_reason_refused : names::k_reason_retrying, (lasting ? "Slurm refused the job: " : "the job could not be submitted, trying again: ") + error.what};
}

} // namespace slurmkube::core
