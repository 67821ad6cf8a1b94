/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keeper.h - the thread that watches jobs and nodes and takes slurmd's part.
 *
 * Wakes every 2 ms while there are external jobs, to look at some counters without a lock; locks
 * only when they moved, or on the slow looks of its two watches. Does nothing while this slurmctld
 * is not in control.
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

	/* The thread's body. */
	void run();

	/* A hook let an external job through: look soon. Any thread. */
	void wake()
	{
		/* else it looks in 2 ms anyway, and the hook saves a system call */
		if (dozes_.load(std::memory_order_relaxed))
			wake_.set();
	}
	/* Any thread. */
	[[nodiscard]] std::string unmarked() const
	{
		std::lock_guard lock(unmarked_mutex_);
		return unmarked_;
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
	std::int64_t configured_ = 0;        /* second in which slurm.conf was read */
	bool is_young_ = false;              /* that second was not over at the last look */
	Event wake_;
	DutyBudget budget_;
	Meter meter_;
	JobWatch jobs_;
	NodeWatch nodes_;
	bool in_control_ = false;
	std::int64_t rest_ = 0; /* after an error of ours */
	Kicks kicks_;
	std::int64_t began_ = now_ns();
	std::atomic<bool> dozes_{true}; /* the next look is more than 2 ms away */
	std::atomic<std::uint64_t> placeholders_{0}, external_nodes_{0};
	mutable std::mutex unmarked_mutex_; /* held for a copy */
	std::string unmarked_;
};

} // namespace slurmkube::plugin

#endif
