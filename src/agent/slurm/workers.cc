/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/workers.h"

#include "src/agent/loop.h"
#include "src/base/guard.h"
#include "src/base/log.h"

#include <chrono>
#include <csignal>
#include <pthread.h>
#include <string>
#include <utility>

namespace slurmkube::slurm
{

namespace
{

bool run_guarded(const Workers::Task &task)
{
	return guard(
		true, [](const char *what) { log_error("slurm call threw what=%s", what); },
		[&] { return task(); });
}

} // namespace

Workers::Workers(int count, std::size_t queue_max, int spare) : order_(count, queue_max)
{
	/* threads inherit the signal mask */
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < count + spare; i++) {
		threads_.emplace_back([this] { work(); });
		const std::string name = "slurm-call-" + std::to_string(i);
		/* only for ps and gdb */
		(void)pthread_setname_np(threads_.back().native_handle(), name.c_str());
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Workers::~Workers()
{
	{
		const std::lock_guard lock(mutex_);
		stopping_ = true;
	}
	changed_.notify_all();
	for (std::thread &thread : threads_)
		thread.join();
}

bool Workers::add(Task task, const std::string &name_space)
{
	{
		const std::lock_guard lock(mutex_);
		const auto id = order_.add(name_space);
		if (!id)
			return false;
		tasks_.emplace(*id, std::move(task));
	}
	changed_.notify_one();
	return true;
}

std::size_t Workers::waiting() const
{
	const std::lock_guard lock(mutex_);
	return order_.waiting();
}

std::optional<core::CallOrder::Id> Workers::wait_for_one(std::unique_lock<std::mutex> &lock)
{
	while (!stopping_) {
		if (const auto id = order_.take(agent::now().mono_us))
			return id;
		if (const auto until = order_.rests_until(agent::now().mono_us))
			(void)changed_.wait_for(
				lock, std::chrono::microseconds(*until - agent::now().mono_us));
		else
			changed_.wait(lock);
	}
	return std::nullopt;
}

/* The end of a task may allow more than one waiting task to run: this thread takes one and wakes
 * another thread. */
void Workers::work()
{
	std::unique_lock lock(mutex_);
	while (const auto id = wait_for_one(lock)) {
		Task task = std::move(tasks_.extract(*id).mapped());
		lock.unlock();
		const bool is_answered = run_guarded(task);
		task = nullptr; /* destroys the captured objects without the lock */
		lock.lock();
		order_.done(*id, is_answered, agent::now().mono_us);
		if (order_.waiting() > 0)
			changed_.notify_one();
	}
}

} // namespace slurmkube::slurm
