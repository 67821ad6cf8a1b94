/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures.h - what World counts and measures.
 */
#ifndef SLURMKUBE_CORE_WORLD_FIGURES_H
#define SLURMKUBE_CORE_WORLD_FIGURES_H

#include "src/core/model/eviction.h"
#include "src/core/model/latency.h"

#include <array>

#include <cstdint>

namespace slurmkube::core
{

/* How long the steps of pods and nodes take, as this agent sees them. */
struct StageLatencies {
	Latency watch_to_submit, submit_to_allocated, allocated_to_bound, bound_to_running,
		ended_to_pod_deleted, pod_deleted_to_job_ended, pod_terminal_to_job_ended,
		node_change_to_slurm;
	/* of all steps up to the binding, for pods that this agent has bound */
	Latency seen_to_bound;
};

struct StageRow {
	const char *name;
	Latency StageLatencies::*latency;
};

/* skube diag and /metrics show these by their names. */
inline constexpr StageRow k_stage_rows[] = {
	{"watch_to_submit", &StageLatencies::watch_to_submit},
	{"submit_to_allocated", &StageLatencies::submit_to_allocated},
	{"allocated_to_bound", &StageLatencies::allocated_to_bound},
	{"seen_to_bound", &StageLatencies::seen_to_bound},
	{"bound_to_running", &StageLatencies::bound_to_running},
	{"ended_to_pod_deleted", &StageLatencies::ended_to_pod_deleted},
	{"pod_deleted_to_job_ended", &StageLatencies::pod_deleted_to_job_ended},
	{"pod_terminal_to_job_ended", &StageLatencies::pod_terminal_to_job_ended},
	{"node_change_to_slurm", &StageLatencies::node_change_to_slurm},
};

/* Bindings that it took until a pod was bound, for pods that this agent has bound. */
class BindAttempts
{
      public:
	/* The buckets of kube-scheduler. */
	static constexpr std::array<std::uint32_t, 5> k_bounds = {1, 2, 4, 8, 16};

	void add(std::uint32_t attempts)
	{
		for (std::size_t i = 0; i < k_bounds.size(); i++)
			up_to_[i] += attempts <= k_bounds[i] ? 1U : 0U;
		count_++;
		sum_ += attempts;
	}
	/* The number of pods with at most k_bounds[i] attempts. */
	[[nodiscard]] std::uint64_t up_to(std::size_t i) const { return up_to_[i]; }
	[[nodiscard]] std::uint64_t count() const { return count_; }
	[[nodiscard]] std::uint64_t sum() const { return sum_; }

      private:
	std::array<std::uint64_t, k_bounds.size()> up_to_{};
	std::uint64_t count_ = 0, sum_ = 0;
};

/* Numbers of actions and answers since the agent started. */
struct Counters {
	std::uint64_t updated = 0, submitted = 0, submit_failed = 0, bound = 0, bind_failed = 0;
	std::uint64_t completed = 0, cancelled = 0, removed = 0, reported = 0, readopted = 0;
	std::uint64_t gate_waits = 0, not_started = 0;
	Evictions evictions{};
};

struct Figures {
	StageLatencies stage_latencies;
	Counters counters;
	BindAttempts bind_attempts;
};

} // namespace slurmkube::core

#endif
