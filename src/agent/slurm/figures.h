/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures.h - what Slurm's own metrics say of jobs, nodes, partitions and the scheduler, computed
 * from slurmctld's answers to the questions of squeue, sinfo and sdiag.
 *
 * Source of the meaning of each figure: src/slurmctld/statistics.c of Slurm. The differences are on
 * purpose, because that file is wrong there: all sums have 64 bits, memory is in bytes as the names
 * of the families say, and the number of jobs counts array tasks everywhere.
 *
 * The functions load_*() block, so they are for worker threads. Errors are those of calls.h. All
 * results are plain values.
 */
#ifndef SLURMKUBE_AGENT_SLURM_FIGURES_H
#define SLURMKUBE_AGENT_SLURM_FIGURES_H

#include "src/base/result.h"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::slurm::figures
{

using Figure = std::uint64_t;

struct JobFigures {
	/* array tasks; all other numbers of jobs have one record per task anyway */
	Figure jobs = 0, pending = 0, hold = 0;
	Figure unfinished = 0; /* array tasks, without jobs that have ended completely */
	Figure bootfail = 0, cancelled = 0, completed = 0, deadline = 0, failed = 0;
	Figure node_failed = 0, outofmemory = 0, preempted = 0, running = 0, suspended = 0;
	Figure timeout = 0, completing = 0, configuring = 0, expediting = 0, fed_requeued = 0;
	Figure finished = 0, powerup_node = 0, requeued = 0, resizing = 0, revoked = 0;
	Figure signaling = 0, stageout = 0, started = 0;
	/* of running and suspended jobs; memory in bytes; a node of several jobs counts once */
	Figure cpus_alloc = 0, gpus_alloc = 0, memory_alloc = 0, nodes_alloc = 0;
	/* of pending jobs: the largest number of nodes that a job asks for */
	Figure max_nodes = 0, max_nodes_nohold = 0, min_nodes = 0, min_nodes_nohold = 0;
	Figure wait_part_node_limit = 0;
};

using JobsByName = std::map<std::string, JobFigures>;
struct Jobs {
	JobFigures all;
	JobsByName users, accounts, partitions; /* a job without an account: under "" */
	std::time_t updated = 0;                /* slurmctld's clock; for the next question */
	bool is_private = false;                /* PrivateData hides jobs, users or accounts */
};

struct NodeFigures {
	Figure cpus = 0, cpus_alloc = 0, cpus_effective = 0, cpus_idle = 0;
	Figure gpus = 0, gpus_alloc = 0;
	Figure memory = 0, memory_alloc = 0, memory_effective = 0, memory_free = 0; /* bytes */
};

/* Numbers of nodes. A node is in one of the first six states and has any number of the others. */
struct NodeStates {
	Figure future = 0, down = 0, mixed = 0, alloc = 0, idle = 0, unknown = 0;
	Figure blocked = 0, completing = 0, cloud = 0, drain = 0, drained = 0, draining = 0;
	Figure dyn_future = 0, dyn_normal = 0, external = 0, fail = 0, invalid_reg = 0;
	Figure maint = 0, noresp = 0, planned = 0, power_down = 0, power_up = 0;
	Figure powered_down = 0, powering_down = 0, powering_up = 0, reboot_issued = 0;
	Figure reboot_req = 0, resv = 0;
};

struct Node {
	std::string name;        /* empty: a gap in slurmctld's table */
	std::uint32_t state = 0; /* as in slurm.h */
	NodeFigures figures;
};
/* In the order of slurmctld's table. */
using Nodes = std::vector<Node>;

struct Partition {
	std::string name;
	Figure nodes = 0, cpus = 0;
	std::vector<std::size_t> members; /* indices into Nodes */
};
using Partitions = std::vector<Partition>;

struct Scheduler {
	Figure agent_count = 0, agent_queue_size = 0, agent_thread_count = 0;
	Figure server_thread_count = 0, slurmdbd_queue_size = 0, latency = 0;
	Figure time = 0, last_start = 0, states_time = 0, bf_when = 0; /* seconds since epoch */
	Figure submitted = 0, started = 0, completed = 0, canceled = 0, failed = 0;
	Figure pending = 0, running = 0;
	/* times of cycles: microseconds, as those of sdiag */
	Figure cycle_max = 0, cycle_last = 0, cycle_sum = 0, cycle_count = 0, cycle_depth = 0;
	Figure queue_len = 0, backfilled = 0, last_backfilled = 0, backfilled_het = 0;
	Figure bf_active = 0, bf_cycle_count = 0, bf_cycle_sum = 0, bf_cycle_last = 0;
	Figure bf_cycle_max = 0, bf_last_depth = 0, bf_last_depth_try = 0, bf_depth_sum = 0;
	Figure bf_depth_try_sum = 0, bf_queue_len = 0, bf_queue_len_sum = 0;
	Figure bf_table_size = 0, bf_table_size_sum = 0;
	/* how often a cycle ended for each cause, in Slurm's order; empty before Slurm 23.11 */
	std::vector<Figure> exits, bf_exits;
};

/* before: the last answer, or null. If no job has changed since, the result is before. */
Result<std::shared_ptr<const Jobs>> load_jobs(const std::shared_ptr<const Jobs> &before);
Result<std::shared_ptr<const Nodes>> load_nodes();
Result<std::shared_ptr<const Partitions>> load_partitions();
Result<std::shared_ptr<const Scheduler>> load_scheduler();

/* Adds a node to its states. */
void count_state(NodeStates &states, std::uint32_t state);

/* The number of tasks in "1,3-5,8-20:4%2", as libslurm writes it; 1 if there is no array. */
Figure tasks_in(std::string_view array);
/* The number of GPUs in "gpu:a100:2(S:0-1),nic:1,gpu:1": 3. */
Figure gpus_in(std::string_view gres);
/* The value of key in "cpu=4,mem=62.50G,gres/gpu=2"; units are powers of 1024 of key's own. */
Figure tres_in(std::string_view tres, std::string_view key);
/* What tres_in() says of mem, in bytes. */
Figure memory_in(std::string_view tres);

} // namespace slurmkube::slurm::figures

#endif
