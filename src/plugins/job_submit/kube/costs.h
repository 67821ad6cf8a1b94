/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * costs.h - measures what the plugin costs slurmctld.
 *
 * A log-linear histogram with 8 buckets per power of two of nanoseconds, so that a percentile is at
 * most 12.5 % too high. record() is wait-free and may be called on any thread. A reader may see a
 * sample in one counter and not yet in another, which does not matter here.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_COSTS_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_COSTS_H

#include "src/core/model/plugin.h"

#include <array>
#include <atomic>

namespace slurmkube::plugin
{

/* Monotonic time (CLOCK_MONOTONIC). */
std::int64_t now_ns();
/* Processor time of the calling thread. */
std::int64_t thread_ns();

class Histogram
{
      public:
	void record(std::int64_t ns);
	[[nodiscard]] core::Cost read() const;

      private:
	static constexpr std::size_t k_buckets = 40 * 8; /* up to 2^42 ns */
	static std::size_t bucket_of(std::uint64_t ns);
	static double upper_end_us(std::size_t bucket);
	[[nodiscard]] double percentile_us(std::uint64_t count, std::uint64_t per_thousand) const;

	std::array<std::atomic<std::uint64_t>, k_buckets> buckets_{};
	std::atomic<std::uint64_t> count_{0}, sum_ns_{0}, max_ns_{0};
};

struct Costs {
	Histogram hook, lock_wait, lock_hold;
	Histogram hook_cpu, lock_cpu; /* processor time of hook and lock_hold */
	/* sums, for the share of the time under locks and for budgets */
	std::atomic<std::uint64_t> held_ns{0}, worked_ns{0};
	std::atomic<std::uint64_t> refused{0}, duplicates_refused{0}, sink_contacts{0},
		sink_refused{0}, reconnects{0}, queue_drops{0};
};

} // namespace slurmkube::plugin

#endif
