/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/figures_text.h"
#include "src/codec/metrics_text.h"

#include <span>

namespace slurmkube::slurm::figures
{

namespace
{

using codec::MetricKind;
using codec::MetricsText;
using Value = Figure Scheduler::*;

struct Family {
	const char *name;
	Value value;
	const char *help;
};

constexpr Family k_families[] = {
	{"slurm_agent_cnt", &Scheduler::agent_count, "Number of agent threads"},
	{"slurm_agent_queue_size", &Scheduler::agent_queue_size, "Outgoing RPC retry queue length"},
	{"slurm_agent_thread_cnt", &Scheduler::agent_thread_count,
		"Total active agent-created threads"},
	{"slurm_backfilled_het_jobs", &Scheduler::backfilled_het,
		"Heterogeneous components backfilled"},
	{"slurm_backfilled_jobs", &Scheduler::backfilled, "Total backfilled jobs since reset"},
	{"slurm_bf_active", &Scheduler::bf_active, "Backfill scheduler active jobs"},
	{"slurm_bf_cycle_cnt", &Scheduler::bf_cycle_count, "Backfill cycle count"},
	{"slurm_bf_cycle_last", &Scheduler::bf_cycle_last, "Last backfill cycle time"},
	{"slurm_bf_cycle_max", &Scheduler::bf_cycle_max, "Max backfill cycle time"},
	{"slurm_bf_cycle_tot", &Scheduler::bf_cycle_sum, "Sum of backfill cycle times"},
	{"slurm_bf_depth_tot", &Scheduler::bf_depth_sum, "Sum of backfill job depths"},
	{"slurm_bf_depth_try_tot", &Scheduler::bf_depth_try_sum, "Sum of backfill depth attempts"},
	{"slurm_bf_last_depth", &Scheduler::bf_last_depth, "Last backfill depth"},
	{"slurm_bf_last_depth_try", &Scheduler::bf_last_depth_try, "Last backfill depth attempts"},
	{"slurm_bf_queue_len", &Scheduler::bf_queue_len, "Backfill queue length"},
	{"slurm_bf_queue_len_tot", &Scheduler::bf_queue_len_sum, "Sum of backfill queue lengths"},
	{"slurm_bf_table_size", &Scheduler::bf_table_size, "Backfill table size"},
	{"slurm_bf_table_size_tot", &Scheduler::bf_table_size_sum, "Sum of backfill table sizes"},
	{"slurm_bf_when_last_cycle", &Scheduler::bf_when, "Timestamp of last backfill cycle"},
	{"slurm_sdiag_jobs_canceled", &Scheduler::canceled, "Jobs canceled since reset"},
	{"slurm_sdiag_jobs_completed", &Scheduler::completed, "Jobs completed since reset"},
	{"slurm_sdiag_jobs_failed", &Scheduler::failed, "Jobs failed since reset"},
	{"slurm_sdiag_jobs_pending", &Scheduler::pending, "Jobs pending at timestamp"},
	{"slurm_sdiag_jobs_running", &Scheduler::running, "Jobs running at timestamp"},
	{"slurm_sdiag_jobs_started", &Scheduler::started, "Jobs started since reset"},
	{"slurm_sdiag_jobs_submitted", &Scheduler::submitted, "Jobs submitted since reset"},
	{"slurm_sdiag_job_states_ts", &Scheduler::states_time, "Job states timestamp"},
	{"slurm_last_backfilled_jobs", &Scheduler::last_backfilled,
		"Backfilled jobs since last cycle"},
	{"slurm_sdiag_latency", &Scheduler::latency, "Measurement latency"},
	{"slurm_schedule_cycle_cnt", &Scheduler::cycle_count, "Scheduling cycle count"},
	{"slurm_schedule_cycle_depth", &Scheduler::cycle_depth, "Processed jobs depth total"},
	{"slurm_schedule_cycle_last", &Scheduler::cycle_last, "Last scheduling cycle time"},
	{"slurm_schedule_cycle_max", &Scheduler::cycle_max, "Max scheduling cycle time"},
	{"slurm_schedule_cycle_tot", &Scheduler::cycle_sum, "Sum of scheduling cycle times"},
	{"slurm_schedule_queue_len", &Scheduler::queue_len, "Jobs pending queue length"},
	{"slurm_server_thread_cnt", &Scheduler::server_thread_count,
		"Active slurmctld threads count"},
	{"slurm_slurmdbd_queue_size", &Scheduler::slurmdbd_queue_size,
		"Queued messages to SlurmDBD"},
	{"slurm_last_proc_req_start", &Scheduler::last_start,
		"Timestamp of last process request start"},
	{"slurm_sched_stats_timestamp", &Scheduler::time, "Statistics snapshot timestamp"},
};

struct Mean {
	const char *name;
	Value sum, count;
	const char *help;
};

constexpr Mean k_means[] = {
	{"slurm_bf_depth_mean", &Scheduler::bf_depth_sum, &Scheduler::bf_cycle_count,
		"Mean backfill cycle depth"},
	{"slurm_bf_mean_cycle", &Scheduler::bf_cycle_sum, &Scheduler::bf_cycle_count,
		"Mean backfill cycle time"},
	{"slurm_bf_mean_table_sz", &Scheduler::bf_table_size_sum, &Scheduler::bf_cycle_count,
		"Mean backfill table size"},
	{"slurm_bf_queue_len_mean", &Scheduler::bf_queue_len_sum, &Scheduler::bf_cycle_count,
		"Mean backfill queue length"},
	{"slurm_bf_try_depth_mean", &Scheduler::bf_depth_try_sum, &Scheduler::bf_cycle_count,
		"Mean depth attempts in backfill"},
	{"slurm_sched_mean_cycle", &Scheduler::cycle_sum, &Scheduler::cycle_count,
		"Mean scheduling cycle time"},
	{"slurm_sched_mean_depth_cycle", &Scheduler::cycle_depth, &Scheduler::cycle_count,
		"Mean depth of scheduling cycles"},
};

struct Exit {
	const char *name, *help;
};

/* In the order of enum schedule_exit and enum bf_exit of src/slurmctld/slurmctld.h. */
constexpr Exit k_exits[] = {
	{"slurm_sched_exit_end", "End of job queue"},
	{"slurm_sched_exit_max_depth", "Hit default_queue_depth"},
	{"slurm_sched_exit_max_job_start", "Hit sched_max_job_start"},
	{"slurm_sched_exit_lic", "Blocked on licenses"},
	{"slurm_sched_exit_rpc_cnt", "Hit max_rpc_cnt"},
	{"slurm_sched_exit_timeout", "Timeout (max_sched_time)"},
};
constexpr Exit k_bf_exits[] = {
	{"slurm_bf_exit_end", "End of job queue"},
	{"slurm_bf_exit_max_job_start", "Hit bf_max_job_start"},
	{"slurm_bf_exit_max_job_test", "Hit bf_max_job_test"},
	{"slurm_bf_exit_state_changed", "System state changed"},
	{"slurm_bf_exit_table_limit", "Hit table size limit (bf_node_space_size)"},
	{"slurm_bf_exit_timeout", "Timeout (bf_max_time)"},
};

void add(MetricsText &out, const char *name, const char *help, Figure value)
{
	out.family(name, MetricKind::gauge, help);
	out.sample(static_cast<double>(value));
}

void add_exits(MetricsText &out, std::span<const Exit> exits, const std::vector<Figure> &values)
{
	for (std::size_t i = 0; i < std::min(exits.size(), values.size()); i++)
		add(out, exits[i].name, exits[i].help, values[i]);
}

} // namespace

std::string scheduler_text(const Scheduler &scheduler)
{
	MetricsText out;
	for (const Family &family : k_families)
		add(out, family.name, family.help, scheduler.*family.value);
	for (const Mean &mean : k_means) {
		const Figure count = scheduler.*mean.count;
		add(out, mean.name, mean.help, count == 0 ? 0 : scheduler.*mean.sum / count);
	}
	add_exits(out, k_exits, scheduler.exits);
	add_exits(out, k_bf_exits, scheduler.bf_exits);
	return out.take_text();
}

} // namespace slurmkube::slurm::figures
