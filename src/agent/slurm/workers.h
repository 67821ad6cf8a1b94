/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workers.h - a few threads, and one bounded queue between them and the loop.
 *
 * The threads run the tasks in the order of core/world/call_order.h, with all signals blocked. The
 * destructor drops tasks that have not begun, and waits for those that run.
 */
#ifndef SLURMKUBE_AGENT_SLURM_WORKERS_H
#define SLURMKUBE_AGENT_SLURM_WORKERS_H

#include "src/core/world/call_order.h"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace slurmkube::slurm
{

class Workers
{
      public:
	/* Returns whether slurmctld answered; false: a request was sent, and no answer came. */
	using Task = std::function<bool()>;

	/* Starts count + spare threads. At most count of them run tasks of namespaces at a time, so
	 * that other tasks always find a thread. */
	Workers(int count, std::size_t queue_max, int spare = 0);
	Workers(const Workers &) = delete;
	Workers &operator=(const Workers &) = delete;
	~Workers();

	/* false: the queue is full and the task was dropped. name_space: that of the pod; empty:
	 * the task goes first. Any thread. */
	[[nodiscard]] bool add(Task task, const std::string &name_space = "");
	[[nodiscard]] std::size_t waiting() const;

      private:
	void work();
	/* The lock must be held. nullopt: the thread must end. */
	std::optional<core::CallOrder::Id> wait_for_one(std::unique_lock<std::mutex> &lock);

	mutable std::mutex mutex_;
	std::condition_variable changed_;
	core::CallOrder order_;                     /* guarded by mutex_ */
	std::map<core::CallOrder::Id, Task> tasks_; /* guarded by mutex_ */
	bool stopping_ = false;                     /* guarded by mutex_ */
	std::vector<std::thread> threads_;
};

} // namespace slurmkube::slurm

#endif
