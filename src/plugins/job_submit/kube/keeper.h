/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keeper.h - the thread that watches jobs and nodes and does the work of slurmd.
 *
 * While there are external jobs, the thread wakes every 2 ms to read some counters without a lock.
 * It takes a lock only if they have changed, or for the slow looks of its two watches. It does
 * nothing while this slurmctld is not in control.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_KEEPER_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_KEEPER_H

#include "src/plugins/job_submit/kube/job_watch.h"
#include "src/plugins/job_submit/kube/node_watch.h"

#include <mutex>

namespace slurmkube::plugin
{

class Keeper
{
      public:
	Keeper(const std::string &feature, const kube_host &host, SubmissionRegistry &registry,
		Feed &feed, Costs &costs, const Stop &stop, std::function<void()> reconfigured);

	/* The body of the thread. */
	void run();

	/* A hook has admitted an external job: look soon. Any thread. */
	void wake()
	{
		/* otherwise the thread looks within 2 ms anyway, and the hook saves a system
		 * call */
		if (dozes_.load(std::memory_order_relaxed))
			wake_.set();
	}
	/* Any thread. */
	[[nodiscard]] std::string unmarked() const
	{
		std::lock_guard lock(unmarked_mutex_);
		return unmarked_;
	}
	/* Since when this slurmctld is in control, microseconds since the epoch; 0: it is not. */
	[[nodiscard]] std::int64_t control_since_us() const
	{
		return control_since_us_.load(std::memory_order_relaxed);
	}
	[[nodiscard]] std::uint64_t placeholders() const
	{
		return placeholders_.load(std::memory_order_relaxed);
	}
	[[nodiscard]] std::uint64_t external_nodes() const
	{
		return external_nodes_.load(std::memory_order_relaxed);
	}

      private:
	void step();
	void start_over();
	void follow_configuration(std::int64_t configured);
	void take_control();
	void lose_control();
	void kick(const kube_pulse &pulse);
	void tell_unmarked();
	std::int64_t nap();

	SubmissionRegistry &registry_;
	Feed &feed_;
	const Stop &stop_;
	std::function<void()> reconfigured_; /* slurm.conf was read again; no lock is held */
	std::int64_t configured_ = 0;        /* the second in which slurm.conf was read */
	bool is_young_ = false;              /* that second was not over at the last look */
	Event wake_;
	DutyBudget budget_;
	Meter meter_;
	JobWatch jobs_;
	NodeWatch nodes_;
	bool in_control_ = false;
	std::int64_t rest_ = 0; /* pause after an internal error (ns) */
	Kicks kicks_;
	std::int64_t began_ = now_ns();
	std::atomic<bool> dozes_{true}; /* the next look is more than 2 ms away */
	std::atomic<std::uint64_t> placeholders_{0}, external_nodes_{0};
	std::atomic<std::int64_t> control_since_us_{0};
	mutable std::mutex unmarked_mutex_; /* held only for a copy */
	std::string unmarked_;
};

} // namespace slurmkube::plugin

#endif
