/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/errors.h"
#include "src/agent/slurm/figures.h"
#include "src/base/owned.h"

#include <cerrno>

namespace slurmkube::slurm::figures
{

namespace
{

using Statistics = Owned<stats_info_response_msg_t, compat::slurm_free_stats_response_msg>;

void take_cycles(Scheduler &out, const stats_info_response_msg_t &in)
{
	out.cycle_max = in.schedule_cycle_max;
	out.cycle_last = in.schedule_cycle_last;
	out.cycle_sum = in.schedule_cycle_sum;
	out.cycle_count = in.schedule_cycle_counter;
	out.cycle_depth = in.schedule_cycle_depth;
	out.queue_len = in.schedule_queue_len;
	compat::take_exits(in, out.exits, out.bf_exits);
}

void take_backfill(Scheduler &out, const stats_info_response_msg_t &in)
{
	out.backfilled = in.bf_backfilled_jobs;
	out.last_backfilled = in.bf_last_backfilled_jobs;
	out.backfilled_het = in.bf_backfilled_het_jobs;
	out.bf_active = in.bf_active;
	out.bf_cycle_count = in.bf_cycle_counter;
	out.bf_cycle_sum = in.bf_cycle_sum;
	out.bf_cycle_last = in.bf_cycle_last;
	out.bf_cycle_max = in.bf_cycle_max;
	out.bf_when = static_cast<Figure>(in.bf_when_last_cycle);
	out.bf_last_depth = in.bf_last_depth;
	out.bf_last_depth_try = in.bf_last_depth_try;
	out.bf_depth_sum = in.bf_depth_sum;
	out.bf_depth_try_sum = in.bf_depth_try_sum;
	out.bf_queue_len = in.bf_queue_len;
	out.bf_queue_len_sum = in.bf_queue_len_sum;
	out.bf_table_size = in.bf_table_size;
	out.bf_table_size_sum = in.bf_table_size_sum;
}

void take_jobs(Scheduler &out, const stats_info_response_msg_t &in)
{
	out.submitted = in.jobs_submitted;
	out.started = in.jobs_started;
	out.completed = in.jobs_completed;
	out.canceled = in.jobs_canceled;
	out.failed = in.jobs_failed;
	out.pending = in.jobs_pending;
	out.running = in.jobs_running;
	out.states_time = static_cast<Figure>(in.job_states_ts);
}

} // namespace

Result<std::shared_ptr<const Scheduler>> load_scheduler()
{
	stats_info_request_msg_t request{.command_id = STAT_COMMAND_GET};
	stats_info_response_msg_t *raw = nullptr;
	if (slurm_get_statistics(&raw, &request) != SLURM_SUCCESS)
		return error_of(errno);
	const Statistics in(raw);
	if (!in)
		return Error{Errc::denied, "slurmctld sent no statistics"};
	Scheduler out;
	out.time = static_cast<Figure>(in->req_time);
	out.last_start = static_cast<Figure>(in->req_time_start);
	out.agent_count = in->agent_count;
	out.agent_queue_size = in->agent_queue_size;
	out.agent_thread_count = in->agent_thread_count;
	out.server_thread_count = in->server_thread_count;
	out.slurmdbd_queue_size = in->dbd_agent_queue_size;
	out.latency = in->gettimeofday_latency;
	take_jobs(out, *in);
	take_cycles(out, *in);
	take_backfill(out, *in);
	return std::make_shared<const Scheduler>(std::move(out));
}

} // namespace slurmkube::slurm::figures
