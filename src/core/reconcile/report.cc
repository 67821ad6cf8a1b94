/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/report.h"

#include "src/core/model/amounts.h"
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/options/options.h"
#include "src/core/reconcile/reconcile.h"
#include "src/core/reconcile/report_parts.h"

#include <chrono>
#include <cstdio>
#include <utility>

namespace slurmkube::core
{

namespace
{

/* For a job whose association was removed while it waited: Slurm starts it by itself once the
 * association is back. */
std::string remedy_of(const std::string &reason)
{
	if (reason == "InvalidAccount")
		return " (Slurm's database no longer gives the user this account; the job starts "
		       "when an administrator has added it again)";
	if (reason == "InvalidQOS")
		return " (Slurm's database no longer gives the user this QOS; the job starts when "
		       "an administrator has added it again)";
	return {};
}

std::string or_default(const std::string &name)
{
	return name.empty() ? "(Slurm's default)" : name;
}

/* "account bio (option account)": the user who set the option can set another value. */
std::string chosen(
	const char *label, const char *option, const std::string &value, const JobSpec &spec)
{
	return std::string(label) + " " + or_default(value) +
		(is_given(option, spec) ? std::string(" (option ") + option + ")" : "");
}

/* sacctmgr requires a name. If the rule gives only a number, only the machine of slurmctld can
 * resolve it, so the text has a placeholder. */
std::string name_for_sacctmgr(const JobSpec &spec)
{
	return spec.user.empty() || spec.user == std::to_string(spec.user_id) ? "USER" : spec.user;
}

std::string remedy_of(NotGranted what, const JobSpec &spec)
{
	const std::string user = name_for_sacctmgr(spec);
	switch (what) {
	case NotGranted::account:
		return "sacctmgr add user " + user +
			" account=" + (spec.account.empty() ? "ACCOUNT" : spec.account);
	case NotGranted::qos:
		return "sacctmgr modify user " + user +
			" set qos+=" + (spec.qos.empty() ? "QOS" : spec.qos);
	case NotGranted::user:
		break;
	}
	return "make the user known where slurmctld runs";
}

} // namespace

std::string not_granted(NotGranted what, const JobSpec &spec)
{
	std::string text = spec.as_whom + ", " + chosen("account", "account", spec.account, spec) +
		", " + chosen("QOS", "qos", spec.qos, spec) + ", partition " + spec.partition;
	const char *option = what == NotGranted::account ? "account"
		: what == NotGranted::qos                ? "qos"
							 : nullptr;
	text += "; an administrator can grant it (" + remedy_of(what, spec) +
		") or change the rule";
	return text +
		(option && is_given(option, spec)
				? std::string(", the pod can ask for another with slurm-kube.io/") +
					option
				: "");
}

std::string minute_text(std::int64_t epoch_seconds)
{
	using namespace std::chrono;
	const sys_seconds when{seconds{epoch_seconds}};
	const auto day = floor<days>(when);
	const year_month_day date{day};
	const hh_mm_ss time{when - day};
	char text[64];
	(void)snprintf(text, sizeof(text), "%04d-%02u-%02uT%02d:%02dZ",
		static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
		static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
		static_cast<int>(time.minutes().count()));
	return text;
}

Condition waiting_in_queue(const SlurmJob &job)
{
	std::string text = job_text(job) + " is pending";
	if (!job.reason.empty() && job.reason != "None")
		text += ": " + job.reason + remedy_of(job.reason);
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

Condition waiting_for_prolog(const SlurmJob &job)
{
	return {names::k_reason_pending,
		job_text(job) +
			" has nodes, and is configuring: PrologSlurmctld runs, or Prolog on a "
			"hybrid node"};
}

Condition prolog_failed(const SlurmJob &job)
{
	return {names::k_reason_retrying,
		job_text(job) +
			" ended before PrologSlurmctld was over, or Prolog on a hybrid node: the "
			"script failed, or root cancelled the job; it is asked for again "
			"(slurmctld.log says why)"};
}

Condition completed_unused(const SlurmJob &job)
{
	return {names::k_reason_refused,
		job_text(job) +
			" was ended by slurmctld at its start, before the pod could be bound: most "
			"likely the controller's machine does not know user " +
			std::to_string(job.user_id) + " (getent passwd " +
			std::to_string(job.user_id) +
			" there; slurmctld.log says why). Add the user; the pod is queued again"};
}

Condition timed_out_unused(const SlurmJob &job)
{
	return {names::k_reason_retrying,
		job_text(job) +
			" reached its time limit before the pod could be bound; the pod is queued "
			"again"};
}

Condition waiting_for_node(const SlurmJob &job, const std::string &node)
{
	return {names::k_reason_pending,
		job_text(job) + " has node " + node + ", which is not Ready in Kubernetes"};
}

Condition waiting_for_record(const SlurmJob &job, const std::string &node)
{
	return {names::k_reason_pending,
		job_text(job) + " has node " + node +
			", which is no external node of this Kubernetes cluster in Slurm"};
}

Condition waiting_to_end(const SlurmJob &job, const std::string &why)
{
	return {names::k_reason_retrying,
		job_text(job) +
			" is to be ended, which waits until the API server has confirmed that no "
			"pod is bound; asking it fails: " +
			why};
}

Condition given_back_node(const SlurmJob &job, const std::string &node)
{
	return {names::k_reason_retrying,
		job_text(job) + " has node " + node +
			", which has not become Ready in Kubernetes; "
			"the allocation is given back and the pod queued again"};
}

Condition given_back_record(const SlurmJob &job, const std::string &node)
{
	return {names::k_reason_retrying,
		job_text(job) + " has node " + node +
			", which has not become an external node of this Kubernetes cluster in "
			"Slurm; the allocation is given back and the pod queued again"};
}

Condition on_native_node(const SlurmJob &job, const std::string &node)
{
	return {names::k_reason_retrying,
		job_text(job) + " has node " + node + " in partition " + job.partition +
			", which is no Kubernetes node in Slurm; the allocation is given back and "
			"the pod queued again. A job_submit plugin may have changed the partition"};
}

Condition job_vanished(JobId job, unsigned count, std::int64_t next_epoch_seconds)
{
	return {names::k_reason_retrying,
		"Slurm job " + std::to_string(job.number) +
			" of this pod disappeared without an end, number " + std::to_string(count) +
			" in a row; the next is submitted at " + minute_text(next_epoch_seconds) +
			". Look for the job in slurmctld.log"};
}

Condition waiting_for_claim(const SlurmJob &job, const std::string &node, const std::string &what)
{
	return {names::k_reason_volume, job_text(job) + " has node " + node + "; " + what};
}

Condition waiting_for_room(const SlurmJob &job, const std::string &node, const std::string &holder)
{
	return {names::k_reason_pending,
		job_text(job) + " has node " + node + ", where " +
			(holder.empty() ? "an earlier pod is still ending" : holder)};
}

Condition waiting_for_claims(std::string trouble)
{
	return {names::k_reason_volume, std::move(trouble)};
}

Condition waiting_for_peers()
{
	return {names::k_reason_pending,
		"waiting for pods with related affinity or spread constraints to be scheduled "
		"first"};
}

Condition waiting_for_owner(const std::string &owner)
{
	return {names::k_reason_retrying, "waiting for " + owner};
}

Condition forbidden_node(const SlurmJob &job, const std::string &node, const std::string &why)
{
	return {names::k_reason_retrying, job_text(job) + " has node " + node + ", which " + why};
}

Condition job_ended(const SlurmJob &job)
{
	Condition condition = gang_job_ended(job);
	if (job.state == JobState::cancelled && job.ended_by)
		condition.message += " by uid " + std::to_string(*job.ended_by);
	return condition;
}

Condition job_ended_for_node(const SlurmJob &job, const std::string &node)
{
	Condition condition = gang_job_ended(job);
	condition.message += "; node " + node + " was rebooted, or is not Ready";
	return condition;
}

Condition bound_to_node(const Bind &bind, std::uint32_t cpu_unit)
{
	return {names::k_reason_bound,
		"Slurm job " + std::to_string(bind.job.number) + " has " +
			cpus_text(bind.cpus, cpu_unit) + " on node " + bind.node +
			"; the pod is bound to it" +
			(bind.remark.empty() ? "" : "; " + bind.remark)};
}

Condition completed(JobId job, std::uint32_t wait_status)
{
	return {names::k_reason_completed, completion_text(job, wait_status)};
}

Condition class_unused(const std::string &priority_class)
{
	return {names::k_reason_class_unused,
		"priorityClassName '" + priority_class +
			"' has no effect: Slurm orders its queue by its own priorities and does "
			"not know the class. An administrator can map it to a QOS or a nice value "
			"with 'priority_classes' in slurmkubed.yaml. This is said once per "
			"namespace"};
}

Condition not_started(const SlurmJob &job, const Pod &pod, std::int64_t seconds)
{
	std::string text = job_text(job) + " gave up: nothing of the pod ran on node " +
		pod.node_name + " within " + std::to_string(seconds) + " s";
	if (!pod.waiting_reason.empty())
		text += "; the kubelet says " + pod.waiting_reason;
	return {names::k_reason_start_limit, text};
}

std::string result_text(std::uint32_t wait_status)
{
	if (wait_status == k_status_completed)
		return "completed";
	if (wait_status == k_status_out_of_memory)
		return "out of memory";
	if (wait_status == k_status_deadline)
		return "deadline of the pod";
	if (const std::uint32_t signal = wait_status & 0x7fU; signal != 0)
		return "signal " + std::to_string(signal);
	return "exit code " + std::to_string((wait_status >> 8U) & 0xffU);
}

std::string completion_text(JobId job, std::uint32_t wait_status)
{
	return "Slurm job " + std::to_string(job.number) +
		" ended with its pod: " + result_text(wait_status);
}

Condition waiting_for_slurm()
{
	return {names::k_reason_retrying,
		"slurmctld is not connected to slurmkubed, so the pod has not been submitted yet; "
		"it is as soon as slurmctld is back"};
}

Condition submission_failed(const Error &error)
{
	const bool lasting = error.code == Errc::invalid || error.code == Errc::denied;
	return {lasting ? names::k_reason_refused : names::k_reason_retrying,
		(lasting ? "Slurm refused the job: "
			 : "the job could not be submitted, trying again: ") +
			error.what};
}

Condition submission_unanswered(const Error &error, unsigned count, std::int64_t next_seconds)
{
	const std::string times = count == 1 ? "once" : std::to_string(count) + " times in a row";
	return {names::k_reason_retrying,
		"slurmctld did not answer the request for this pod's job (" + times + "): " +
			error.what + "; the next try is in " + std::to_string(next_seconds) +
			" s or more. If other pods get jobs meanwhile, it is this pod's request "
			"that slurmctld cannot handle: take slurm-kube.io/ options away, or "
			"tell an administrator"};
}

Condition not_submitted(const Error &error)
{
	if (error.code == Errc::again)
		return {names::k_reason_retrying, error.what};
	const bool is_for_nodes = error.code == Errc::not_found;
	return {is_for_nodes ? names::k_reason_no_node : names::k_reason_refused, error.what};
}

} // namespace slurmkube::core
