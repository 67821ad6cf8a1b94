/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/report.h"

#include "src/core/names.h"
#include "src/core/outcome.h"

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

Condition not_changed(const SlurmJob &job, const std::string &why)
{
	Condition condition = waiting_in_queue(job);
	condition.message += "; it keeps the options that it had: " + why;
	return condition;
}

Condition waiting_for_node(const SlurmJob &job, const std::string &node)
{
	return {names::k_reason_pending, job_text(job) + " has node " + node + ", which is not Ready in Kubernetes"};
}

Condition waiting_for_claim(const SlurmJob &job, const std::string &node, const std::string &what)
{
	return {names::k_reason_volume, job_text(job) + " has node " + node + "; " + what};
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

std::string completion_text(JobId job, std::uint32_t wait_status)
{
	const std::string text = "Slurm job " + std::to_string(job.number) + " ended with its pod: ";
	if (wait_status == k_status_completed)
		return text + "completed";
	if (wait_status == k_status_out_of_memory)
		return text + "out of memory";
	if (wait_status == k_status_deadline)
		return text + "deadline of the pod";
	if (const std::uint32_t signal = wait_status & 0x7fU; signal != 0)
		return text + "signal " + std::to_string(signal);
	return text + "exit code " + std::to_string((wait_status >> 8U) & 0xffU);
}

Condition submission_failed(const Error &error)
{
	const bool lasting = error.code == Errc::invalid || error.code == Errc::denied;
	return {lasting ? names::k_reason_refused : names::k_reason_retrying, (lasting ? "Slurm refused the job: " : "the job could not be submitted, trying again: ") + error.what};
}

} // namespace slurmkube::core
