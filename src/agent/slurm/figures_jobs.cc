/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/errors.h"
#include "src/agent/slurm/figures.h"
#include "src/base/owned.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <pwd.h>
#include <span>

namespace slurmkube::slurm::figures
{

namespace
{

using JobTable = Owned<job_info_msg_t, slurm_free_job_info_msg>;
using Counter = Figure JobFigures::*;

/* Sums of some jobs, and which nodes they have. */
struct Sum {
	JobFigures figures;
	std::vector<bool> nodes; /* by index into slurmctld's table */
};
using Sums = std::map<std::string, Sum>;

constexpr std::pair<std::uint32_t, Counter> k_base_states[] = {
	{JOB_BOOT_FAIL, &JobFigures::bootfail},
	{JOB_CANCELLED, &JobFigures::cancelled},
	{JOB_COMPLETE, &JobFigures::completed},
	{JOB_DEADLINE, &JobFigures::deadline},
	{JOB_FAILED, &JobFigures::failed},
	{JOB_NODE_FAIL, &JobFigures::node_failed},
	{JOB_OOM, &JobFigures::outofmemory},
	{JOB_PREEMPTED, &JobFigures::preempted},
	{JOB_RUNNING, &JobFigures::running},
	{JOB_SUSPENDED, &JobFigures::suspended},
	{JOB_TIMEOUT, &JobFigures::timeout},
};

constexpr std::pair<std::uint32_t, Counter> k_flags[] = {
	{JOB_COMPLETING, &JobFigures::completing},
	{JOB_CONFIGURING, &JobFigures::configuring},
	{compat::k_job_expediting, &JobFigures::expediting},
	{JOB_REQUEUE_FED, &JobFigures::fed_requeued},
	{JOB_POWER_UP_NODE, &JobFigures::powerup_node},
	{JOB_REQUEUE, &JobFigures::requeued},
	{JOB_RESIZING, &JobFigures::resizing},
	{JOB_REVOKED, &JobFigures::revoked},
	{JOB_SIGNALING, &JobFigures::signaling},
	{JOB_STAGE_OUT, &JobFigures::stageout},
};

std::string_view text_of(const char *text)
{
	return text ? text : "";
}

void count_state_of(JobFigures &sum, const slurm_job_info_t &job)
{
	const std::uint32_t base = job.job_state & JOB_STATE_BASE;
	for (const auto &[state, counter] : k_base_states)
		sum.*counter += base == state ? 1 : 0;
	for (const auto &[flag, counter] : k_flags)
		sum.*counter += (job.job_state & flag) != 0 ? 1 : 0;
	sum.started += base > JOB_PENDING ? 1 : 0;
	sum.finished += base > JOB_SUSPENDED ? 1 : 0;
	sum.wait_part_node_limit += job.state_reason == WAIT_PART_NODE_LIMIT ? 1 : 0;
}

void count_request(JobFigures &sum, const slurm_job_info_t &job, Figure tasks)
{
	const bool is_held = job.state_reason == WAIT_HELD || job.state_reason == WAIT_HELD_USER;
	const Figure least = job.num_nodes, most = std::max(job.max_nodes, job.num_nodes);
	sum.pending += tasks;
	sum.min_nodes = std::max(sum.min_nodes, least);
	sum.max_nodes = std::max(sum.max_nodes, most);
	if (is_held) {
		sum.hold += tasks;
		return;
	}
	sum.min_nodes_nohold = std::max(sum.min_nodes_nohold, least);
	sum.max_nodes_nohold = std::max(sum.max_nodes_nohold, most);
}

/* node_inx: pairs of first and last index, ended by -1. */
void count_nodes(Sum &sum, const std::int32_t *node_inx)
{
	for (; node_inx && node_inx[0] >= 0 && node_inx[1] >= node_inx[0]; node_inx += 2) {
		const auto first = static_cast<std::size_t>(node_inx[0]),
			   end = static_cast<std::size_t>(node_inx[1]) + 1;
		if (sum.nodes.size() < end)
			sum.nodes.resize(end);
		for (std::size_t i = first; i < end; i++) {
			sum.figures.nodes_alloc += sum.nodes[i] ? 0U : 1U;
			sum.nodes[i] = true;
		}
	}
}

void count_allocation(Sum &sum, const slurm_job_info_t &job)
{
	const std::string_view tres = text_of(job.tres_alloc_str);
	sum.figures.cpus_alloc += job.num_cpus;
	sum.figures.memory_alloc += memory_in(tres);
	/* not from tres, which has GPUs only if the site's accounting counts them */
	sum.figures.gpus_alloc += gpus_in(text_of(job.gres_total));
	count_nodes(sum, job.node_inx);
}

void count(Sum &sum, const slurm_job_info_t &job)
{
	const std::uint32_t base = job.job_state & JOB_STATE_BASE;
	const Figure tasks = tasks_in(text_of(job.array_task_str));
	const bool has_ended = base > JOB_SUSPENDED && (job.job_state & JOB_COMPLETING) == 0;
	sum.figures.jobs += tasks;
	sum.figures.unfinished += has_ended ? 0 : tasks;
	count_state_of(sum.figures, job);
	if (base == JOB_PENDING)
		count_request(sum.figures, job, tasks);
	if (base == JOB_RUNNING || base == JOB_SUSPENDED)
		count_allocation(sum, job);
}

/* slurmctld does not always send the name of a job's user. A user without a name has the uid. */
class UserNames
{
      public:
	const std::string &of(const slurm_job_info_t &job)
	{
		auto [found, is_new] = names_.try_emplace(job.user_id);
		if (is_new)
			found->second = job.user_name && *job.user_name ? job.user_name
									: name_of(job.user_id);
		return found->second;
	}

      private:
	static std::string name_of(uid_t uid)
	{
		std::array<char, 16384> buffer{};
		passwd entry{}, *found = nullptr;
		if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found)
			return found->pw_name;
		return std::to_string(uid);
	}

	std::map<uid_t, std::string> names_;
};

JobsByName figures_of(const Sums &sums)
{
	JobsByName out;
	for (const auto &[name, sum] : sums)
		out.emplace(name, sum.figures);
	return out;
}

/* A pending job may name several partitions, and has none of them yet: the first one counts, as in
 * slurmctld. */
std::string first_of(std::string_view partitions)
{
	return std::string(partitions.substr(0, partitions.find(',')));
}

std::shared_ptr<const Jobs> sums_of(std::span<const slurm_job_info_t> jobs)
{
	Sum all;
	Sums users, accounts, partitions;
	UserNames names;
	for (const slurm_job_info_t &job : jobs) {
		count(all, job);
		count(users[names.of(job)], job);
		count(accounts[std::string(text_of(job.account))], job);
		count(partitions[first_of(text_of(job.partition))], job);
	}
	return std::make_shared<const Jobs>(Jobs{.all = all.figures,
		.users = figures_of(users),
		.accounts = figures_of(accounts),
		.partitions = figures_of(partitions)});
}

Result<bool> has_private_data()
{
	slurm_conf_t *raw = nullptr;
	if (slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS)
		return error_of(errno);
	const Owned<slurm_conf_t, compat::free_conf> conf(raw);
	return (conf->private_data &
		       (PRIVATE_DATA_JOBS | PRIVATE_DATA_USERS | PRIVATE_DATA_ACCOUNTS)) != 0;
}

} // namespace

Result<std::shared_ptr<const Jobs>> load_jobs(const std::shared_ptr<const Jobs> &before)
{
	const auto is_private = has_private_data();
	if (!is_private)
		return is_private.error();
	job_info_msg_t *raw = nullptr;
	const std::time_t since = before ? before->updated : 0;
	const bool is_new = slurm_load_jobs(since, &raw, SHOW_ALL) == SLURM_SUCCESS;
	if (!is_new && (errno != SLURM_NO_CHANGE_IN_DATA || !before))
		return error_of(errno);
	Jobs out;
	if (is_new) {
		const JobTable table(raw);
		out = *sums_of({table->job_array, table->record_count});
		out.updated = table->last_update;
	} else {
		out = *before;
	}
	out.is_private = *is_private;
	return std::make_shared<const Jobs>(std::move(out));
}

} // namespace slurmkube::slurm::figures
