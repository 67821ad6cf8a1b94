/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/jobs.h"

#include "src/agent/loop.h"
#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/describe.h"
#include "src/agent/slurm/errors.h"
#include "src/base/owned.h"
#include "src/codec/marker.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>
#include <span>
#include <string>

namespace slurmkube::slurm
{

namespace
{

using Allocation =
	Owned<resource_allocation_response_msg_t, slurm_free_resource_allocation_response_msg>;
using JobTable = Owned<job_info_msg_t, slurm_free_job_info_msg>;

Error last_error()
{
	return error_of(errno);
}

SubmitReply reply_of(const resource_allocation_response_msg_t &allocation)
{
	SubmitReply reply;
	reply.id.number = compat::job_id_of(allocation);
	reply.allocated =
		allocation.node_cnt > 0 && allocation.node_list && allocation.node_list[0];
	if (reply.allocated) {
		reply.node = allocation.node_list;
		reply.cpus = allocation.num_cpu_groups ? allocation.cpus_per_node[0] : 0;
	}
	reply.partition = allocation.partition ? allocation.partition : "";
	reply.account = allocation.account ? allocation.account : "";
	return reply;
}

bool stands_for(const slurm_job_info_t &job, const core::Marker &wanted)
{
	if ((job.job_state & JOB_STATE_BASE) >= JOB_COMPLETE || !job.admin_comment)
		return false;
	const auto marker = codec::marker_from_text(job.admin_comment);
	return marker.ok() && marker->cluster == wanted.cluster && marker->uid == wanted.uid &&
		marker->attempt == wanted.attempt;
}

SubmitReply reply_of(const slurm_job_info_t &job)
{
	SubmitReply reply;
	reply.id.number = compat::job_id_of(job);
	reply.existed = true;
	reply.allocated =
		(job.job_state & JOB_STATE_BASE) != JOB_PENDING && job.nodes && job.nodes[0];
	if (reply.allocated) {
		reply.node = job.nodes;
		reply.cpus = job.num_cpus;
	}
	reply.partition = job.partition ? job.partition : "";
	reply.account = job.account ? job.account : "";
	return reply;
}

/* libslurm writes the guard's message to its log and does not return it, so search for the job that
 * the guard has found. Rare: only after a crash or a lost answer. */
Result<SubmitReply> live_job_for(const core::JobSpec &spec)
{
	job_info_msg_t *raw = nullptr;
	if (slurm_load_job_user(&raw, spec.user_id, SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
		return in_context("looking for the job that stands for this pod", last_error());
	const JobTable table(raw);
	for (std::uint32_t i = 0; i < table->record_count; i++) {
		if (stands_for(table->job_array[i], spec.marker))
			return reply_of(table->job_array[i]);
	}
	return Error{Errc::conflict, "a job stood for this pod and has just ended"};
}

/* Moves the job's end to now. A suspended or preempted job has no end that can be moved; it is
 * completed with SIGKILL, which also ended the pod. */
Status end_now(core::JobId id, std::time_t now, const Same &same)
{
	job_desc_msg_t job;
	slurm_init_job_desc_msg(&job);
	compat::set_job_id(job, id.number);
	job.end_time = now;
	if (slurm_update_job(&job) == SLURM_SUCCESS)
		return Ok{};
	if (errno != ESLURM_JOB_NOT_RUNNING)
		return last_error();
	const Status checked = same();
	return checked ? complete_job(id, SIGKILL) : checked;
}

/* Whether jobs of the partition may exceed their time limit (OverTimeLimit). */
Result<bool> may_run_over(const std::string &partition)
{
	slurm_conf_t *conf = nullptr;
	if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS)
		return last_error();
	const Owned<slurm_conf_t, compat::free_conf> conf_owner(conf);
	partition_info_msg_t *raw = nullptr;
	if (slurm_load_partitions(0, &raw, SHOW_ALL) != SLURM_SUCCESS)
		return last_error();
	const Owned<partition_info_msg_t, slurm_free_partition_info_msg> partitions(raw);
	const std::span all(partitions->partition_array, partitions->record_count);
	const auto own = std::ranges::find_if(
		all, [&](const partition_info_t &p) { return p.name && partition == p.name; });
	const bool is_default = own == all.end() || own->over_time_limit == NO_VAL16;
	return (is_default ? conf->over_time_limit : own->over_time_limit) != 0;
}

Status write_marker(core::JobId job, const core::Marker &marker)
{
	std::string text = codec::marker_to_fitting_text(marker);
	job_desc_msg_t change;
	slurm_init_job_desc_msg(&change);
	compat::set_job_id(change, job.number);
	change.admin_comment = text.data();
	if (slurm_update_job(&change) != SLURM_SUCCESS)
		return last_error();
	return Ok{};
}

} // namespace

Result<SubmitReply> submit_job(const core::JobSpec &spec)
{
	Texts texts = texts_of(spec);
	if (spec.cpus == 0 || spec.cpus > k_cpus_max)
		return Error{Errc::invalid,
			std::to_string(spec.cpus) + " CPUs: a Slurm task has 1 to " +
				std::to_string(k_cpus_max)};
	if (texts.marker.size() > codec::k_marker_bytes_max)
		return Error{Errc::too_large,
			"marker of " + std::to_string(texts.marker.size()) + " bytes"};
	if (const Status supported = check_supported(spec); !supported)
		return supported.error();
	job_desc_msg_t job;
	slurm_init_job_desc_msg(&job);
	describe(job, texts);
	resource_allocation_response_msg_t *raw = nullptr;
	if (slurm_allocate_resources(&job, &raw) != SLURM_SUCCESS)
		return errno == ESLURM_DUPLICATE_JOB_ID
			? live_job_for(spec)
			: Result<SubmitReply>(refusal_of(errno, spec));
	const Allocation allocation(raw);
	if (!allocation)
		return Error{Errc::internal, "slurmctld answered without a job"};
	return reply_of(*allocation);
}

Status update_job(core::JobId id, const core::JobSpec &spec, const std::vector<std::string> &given,
	const std::vector<std::string> &removed)
{
	Texts texts = texts_of(spec);
	if (texts.marker.size() > codec::k_marker_bytes_max)
		return Error{Errc::too_large,
			"marker of " + std::to_string(texts.marker.size()) + " bytes"};
	if (const Status supported = check_supported(spec); !supported)
		return supported;
	job_desc_msg_t job;
	slurm_init_job_desc_msg(&job);
	if (const Status described = describe_change(job, texts, given, removed); !described)
		return described;
	compat::set_job_id(job, id.number);
	if (slurm_update_job(&job) == SLURM_SUCCESS)
		return Ok{};
	const int number = errno;
	const bool has_started =
		number == ESLURM_JOB_NOT_PENDING || number == ESLURM_JOB_NOT_PENDING_NOR_RUNNING;
	return has_started ? Status(Error{Errc::conflict, slurm_strerror(number)})
			   : Status(refusal_of(number, spec));
}

Status check_marker(core::JobId id, const core::Marker &marker)
{
	job_info_msg_t *raw = nullptr;
	if (compat::load_job(&raw, id.number) != SLURM_SUCCESS)
		return last_error();
	const JobTable table(raw);
	if (table->record_count == 1 && stands_for(table->job_array[0], marker))
		return Ok{};
	/* the snapshot of the next link tells what has become of the job that was meant */
	return Error{Errc::again,
		"job " + std::to_string(id.number) +
			" does not bear the marker of this pod now; slurmctld may have been "
			"restarted"};
}

Status complete_job(core::JobId job, std::uint32_t wait_status)
{
	if (compat::complete_job(job.number, wait_status) != SLURM_SUCCESS)
		return last_error();
	return Ok{};
}

/*
 * No call ends a job with the state TIMEOUT, but a job that completes with status 0 after its end
 * time, and after OverTimeLimit, gets that state (job_complete() in job_mgr.c). So the first call
 * moves the end time to now, and a later call completes the job. OverTimeLimit cannot be moved, and
 * may be unlimited; beside it the job ends as killed.
 */
Status expire_job(core::JobId job, const Same &same)
{
	if (const Status checked = same(); !checked)
		return checked;
	job_info_msg_t *raw = nullptr;
	if (compat::load_job(&raw, job.number) != SLURM_SUCCESS)
		return last_error();
	const JobTable table(raw);
	if (table->record_count == 0) {
		const Status checked = same();
		return checked ? complete_job(job, SIGKILL) : checked;
	}
	const slurm_job_info_t &record = table->job_array[0];
	const auto over = may_run_over(record.partition ? record.partition : "");
	if (!over)
		return over.error();
	if (const Status checked = same(); !checked)
		return checked;
	if (*over)
		return complete_job(job, SIGKILL);
	const std::time_t now = agent::now().wall_s;
	if (record.end_time > now)
		return end_now(job, now, same);
	return record.end_time == now ? Status(Ok{}) : complete_job(job, 0);
}

Status cancel_job(core::JobId job)
{
	/* by text, because only this call has the same arguments in every version */
	if (slurm_kill_job2(std::to_string(job.number).c_str(), SIGKILL, 0, nullptr) !=
		SLURM_SUCCESS)
		return last_error();
	return Ok{};
}

/* The note is written first: an agent that starts in between must not take the cancelled job for
 * one that somebody has cancelled. A job_submit plugin of the site may refuse the note, and 24.11
 * refuses all changes of a running job that was submitted with tasks per node. Such a job is
 * cancelled without it. If the cancellation fails, or if it is not known any more whose job it is,
 * the job goes on without the note. */
Status give_up_job(const core::MarkedJob &marked, const Same &same)
{
	const auto &[job, marker] = marked;
	if (const Status checked = same(); !checked)
		return checked;
	core::Marker told = marker;
	told.given_up = true;
	/* they do not matter for a cancelled job, and the note needs their space */
	told.options.clear();
	const Status noted = write_marker(job, told);
	if (!noted && (noted.error().code == Errc::io || noted.error().code == Errc::again))
		return noted;
	const Status checked = noted ? same() : check_marker(job, marker);
	const Status cancelled = checked ? cancel_job(job) : checked;
	/* refused, or not even sent: the job goes on. The plugin refuses both notes if the number
	 * is another job's now. */
	if (!cancelled && noted &&
		(!checked || is_refusal(cancelled.error()) ||
			cancelled.error().code == Errc::again))
		(void)write_marker(job, marker);
	return cancelled;
}

Status ping_controller()
{
	const int rc = slurm_ping(0);
	if (rc == SLURM_SUCCESS)
		return Ok{};
	const Status first = error_of(rc > 0 ? rc : errno);
	/* slurm_ping(0) asks only the first of SlurmctldHosts, and fails at once if it is down.
	 * This call asks the hosts in turn, takes as long as any other call, and only the host in
	 * control answers. */
	slurm_conf_t *raw = nullptr;
	if (slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS)
		return first;
	compat::free_conf(raw);
	return Ok{};
}

} // namespace slurmkube::slurm
