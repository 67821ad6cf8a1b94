/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/native_jobs.h"

#include "src/agent/loop.h"
#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/errors.h"
#include "src/agent/slurm/figures.h"
#include "src/agent/slurm/partitions.h"
#include "src/base/owned.h"
#include "src/codec/marker.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <span>

namespace slurmkube::slurm
{

namespace
{

using NativeJobTable = Owned<job_info_msg_t, slurm_free_job_info_msg>;

constexpr std::int64_t k_settings_age_us = 30'000'000, k_settings_retry_us = 5'000'000;
constexpr std::uint64_t k_bytes_per_mib = std::uint64_t{1} << 20;

core::JobState state_of(std::uint32_t state)
{
	static const std::map<std::uint32_t, core::JobState> k_states = {
		{JOB_PENDING, core::JobState::pending},
		{JOB_RUNNING, core::JobState::running},
		{JOB_SUSPENDED, core::JobState::suspended},
		{JOB_COMPLETE, core::JobState::complete},
		{JOB_CANCELLED, core::JobState::cancelled},
		{JOB_FAILED, core::JobState::failed},
		{JOB_TIMEOUT, core::JobState::timeout},
		{JOB_NODE_FAIL, core::JobState::node_fail},
		{JOB_PREEMPTED, core::JobState::preempted},
		{JOB_BOOT_FAIL, core::JobState::boot_fail},
		{JOB_DEADLINE, core::JobState::deadline},
		{JOB_OOM, core::JobState::oom},
	};
	const auto known = k_states.find(state & JOB_STATE_BASE);
	return known == k_states.end() ? core::JobState::unknown : known->second;
}

std::vector<std::string> hosts_of(const char *text)
{
	std::vector<std::string> hosts;
	auto *list = text ? slurm_hostlist_create(text) : nullptr;
	while (list) {
		const Owned<char, std::free> name(slurm_hostlist_shift(list));
		if (!name)
			break;
		hosts.emplace_back(name.get());
	}
	if (list)
		slurm_hostlist_destroy(list);
	return hosts;
}

core::NativeJob job_of(const slurm_job_info_t &info)
{
	core::NativeJob job;
	job.mark = {.job = {compat::job_id_of(info)},
		.user_id = info.user_id,
		.restarts = info.restart_cnt,
		.start = info.start_time};
	job.state = state_of(info.job_state);
	job.completing = (info.job_state & JOB_COMPLETING) != 0;
	job.configuring = (info.job_state & JOB_CONFIGURING) != 0;
	job.is_of_pod = info.admin_comment && codec::marker_from_text(info.admin_comment).ok();
	job.is_het = info.het_job_id != 0 && info.het_job_id != NO_VAL;
	job.is_shared = info.shared == JOB_SHARED_OK;
	job.partition = info.partition ? info.partition : "";
	job.nodes = hosts_of(info.nodes);
	const std::string_view tres = info.tres_alloc_str ? info.tres_alloc_str : "";
	job.cpus = static_cast<std::uint32_t>(figures::tres_in(tres, "cpu"));
	job.memory_mib = figures::memory_in(tres) / k_bytes_per_mib;
	return job;
}

Result<NativeSettings> load_settings()
{
	slurm_conf_t *raw_conf = nullptr;
	if (slurm_load_ctl_conf(0, &raw_conf) != SLURM_SUCCESS)
		return error_of(errno);
	const Owned<slurm_conf_t, compat::free_conf> conf(raw_conf);
	partition_info_msg_t *raw = nullptr;
	if (slurm_load_partitions(0, &raw, SHOW_ALL) != SLURM_SUCCESS)
		return error_of(errno);
	const Owned<partition_info_msg_t, slurm_free_partition_info_msg> table(raw);
	NativeSettings settings;
	settings.counts_memory = compat::counts_memory(*conf);
	settings.runs_scripts_in_job = compat::runs_scripts_in_job(*conf);
	settings.may_suspend =
		(conf->preempt_mode & (PREEMPT_MODE_SUSPEND | PREEMPT_MODE_GANG)) != 0;
	for (const partition_info_t &one : std::span(table->partition_array, table->record_count)) {
		if (!one.name)
			continue;
		const bool has_mode = one.preempt_mode != NO_VAL16;
		settings.partitions[one.name] = {
			has_mode && (one.preempt_mode & PREEMPT_MODE_SUSPEND) != 0,
			is_oversubscribed(one.max_share)};
	}
	return settings;
}

} // namespace

std::string unsuitable_for_pods(const Result<NativeSettings> &read, const std::string &partition)
{
	if (!read)
		return "the settings of Slurm cannot be read (" + read.error().what + ")";
	const NativeSettings &settings = *read;
	if (!settings.counts_memory)
		return "Slurm does not count memory (SelectTypeParameters in slurm.conf)";
	if (settings.runs_scripts_in_job)
		return "PrologFlags in slurm.conf has RunInJob, which would end Epilog while it "
		       "waits for pods";
	if (settings.may_suspend)
		return "Slurm may suspend jobs and give their processors to others (PreemptMode "
		       "in slurm.conf)";
	const auto known = settings.partitions.find(partition);
	if (known == settings.partitions.end())
		return "its partition " + partition + " is not known";
	if (known->second.may_suspend)
		return "Slurm may suspend jobs of partition " + partition + " (PreemptMode)";
	if (known->second.is_oversubscribed)
		return "partition " + partition +
			" gives processors to several jobs "
			"(OverSubscribe=FORCE)";
	return {};
}

NativeReply reply_about(core::JobId id, const std::vector<std::uint32_t> &numbers,
	const std::function<core::NativeJob(std::size_t)> &job_at)
{
	NativeReply reply;
	reply.described = std::max<std::size_t>(numbers.size(), 1);
	const auto own = std::ranges::find(numbers, id.number);
	if (own == numbers.end())
		return reply;
	reply.job = job_at(static_cast<std::size_t>(own - numbers.begin()));
	reply.job->described = reply.described;
	return reply;
}

/* A question that was sent and not answered (io) makes the controller doubtful. No other error may
 * be taken for the word that there is no such job. */
Error question_failed(int slurm_errno)
{
	const Error error = error_of(slurm_errno);
	const Errc code = slurm_errno == ESLURM_INVALID_JOB_ID ? Errc::not_found
		: error.code == Errc::io                       ? Errc::io
							       : Errc::again;
	return {code, error.what};
}

/* Without them no pod gets into a job, but bound ones are judged all the same. */
void NativeQuestions::read_settings()
{
	const std::int64_t now_us = agent::now().mono_us;
	const std::int64_t age_us = settings_ ? k_settings_age_us : k_settings_retry_us;
	if (settings_us_ != 0 && now_us - settings_us_ <= age_us)
		return;
	settings_us_ = now_us;
	settings_ = load_settings();
}

Result<NativeReply> NativeQuestions::ask(core::JobId id, const std::string &cluster)
{
	read_settings();
	job_info_msg_t *raw = nullptr;
	if (compat::load_job(&raw, id.number) != SLURM_SUCCESS)
		return question_failed(errno);
	const NativeJobTable table(raw);
	const std::span all(table->job_array, table->record_count);
	std::vector<std::uint32_t> numbers;
	numbers.reserve(all.size());
	for (const slurm_job_info_t &one : all)
		numbers.push_back(compat::job_id_of(one));
	return reply_about(id, numbers, [&](std::size_t at) {
		core::NativeJob job = job_of(all[at]);
		job.mark.cluster = cluster;
		job.unsuitable = unsuitable_for_pods(settings_, job.partition);
		return job;
	});
}

} // namespace slurmkube::slurm
