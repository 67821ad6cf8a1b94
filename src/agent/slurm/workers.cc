/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/workers.h"

#include "src/base/guard.h"
#include "src/base/log.h"

#include <csignal>
#include <pthread.h>
#include <string>
#include <utility>

namespace slurmkube::slurm
{

namespace
{

void run_guarded(const Workers::Task &task)
{
	(void)guard(
		0, [](const char *what) { log_error("slurm call threw what=%s", what); },
		[&] {
			task();
			return 0;
		});
}

} // namespace

Workers::Workers(int count, std::size_t queue_max) : queue_max_(queue_max)
{
	/* A thread starts with the signal mask of its maker. */
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < count; i++) {
		threads_.emplace_back([this] { work(); });
		const std::string name = "slurm-call-" + std::to_string(i);
		(void)pthread_setname_np(threads_.back().native_handle(), name.c_str()); /* only for ps and gdb */
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

bool Workers::add(Task task)
{
	{
		const std::lock_guard lock(mutex_);
		if (queue_.size() >= queue_max_)
			return false;
		queue_.push_back(std::move(task));
	}
	changed_.notify_one();
	return true;
}

std::size_t Workers::waiting() const
{
	const std::lock_guard lock(mutex_);
	return queue_.size();
}

void Workers::work()
{
	std::unique_lock lock(mutex_);
	for (;;) {
		changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
		if (stopping_)
			return;
		Task task = std::move(queue_.front());
		queue_.pop_front();
		lock.unlock();
		run_guarded(task);
		task = nullptr; /* what it holds goes without the lock */
		lock.lock();
	}
}

} // namespace slurmkube::slurm
