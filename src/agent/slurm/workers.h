/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workers.h - a few threads and one bounded queue between them and the loop.
 *
 * A task is run by one of the threads, all signals blocked. Destruction drops tasks that have not begun and waits for those that have.
 */
#ifndef SLURMKUBE_AGENT_SLURM_WORKERS_H
#define SLURMKUBE_AGENT_SLURM_WORKERS_H

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace slurmkube::slurm
{

class Workers
{
      public:
	using Task = std::function<void()>;

	Workers(int count, std::size_t queue_max);
	Workers(const Workers &) = delete;
	Workers &operator=(const Workers &) = delete;
	~Workers();

	/* false: the queue is full and the task was dropped. Any thread. */
	[[nodiscard]] bool add(Task task);
	[[nodiscard]] std::size_t waiting() const;

      private:
	void work();

	const std::size_t queue_max_;
	mutable std::mutex mutex_;
	std::condition_variable changed_;
	std::deque<Task> queue_; /* guarded by mutex_ */
	bool stopping_ = false;	 /* guarded by mutex_ */
	std::vector<std::thread> threads_;
};

} // namespace slurmkube::slurm

#endif
