/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures.h - what World counts and measures.
 */
#ifndef SLURMKUBE_CORE_WORLD_FIGURES_H
#define SLURMKUBE_CORE_WORLD_FIGURES_H

#include "src/core/model/latency.h"

#include <cstdint>

namespace slurmkube::core
{

/* How long the steps of pods and nodes take, as this agent sees them. */
struct StageLatencies {
	Latency watch_to_submit, submit_to_allocated, allocated_to_bound, bound_to_running,
		ended_to_pod_deleted, pod_deleted_to_job_ended, pod_terminal_to_job_ended,
		node_change_to_slurm;
};

/* Numbers of actions and answers since the agent started. */
struct Counters {
	std::uint64_t updated = 0, submitted = 0, submit_failed = 0, bound = 0, bind_failed = 0;
	std::uint64_t completed = 0, cancelled = 0, removed = 0, reported = 0, readopted = 0;
	std::uint64_t gate_waits = 0, not_started = 0;
};

struct Figures {
	StageLatencies stage_latencies;
	Counters counters;
};

} // namespace slurmkube::core

#endif
