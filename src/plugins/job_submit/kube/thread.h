/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread.h - threads inside slurmctld, and the events that wake and stop them.
 *
 * Each thread has a name, blocks all signals (slurmctld handles signals in a thread of its own),
 * lets no exception escape, is never cancelled and always joined.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_THREAD_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_THREAD_H

#include "src/base/owned.h"

#include <atomic>
#include <cstdint>
#include <functional>

#include <pthread.h>

namespace slurmkube::plugin
{

/* An eventfd: any thread may set it, one thread waits for it. */
class Event
{
      public:
	Event();
	[[nodiscard]] int fd() const { return fd_.get(); }
	void set();
	void clear();

      private:
	UniqueFd fd_;
};

/* Cannot be reset. */
class Stop
{
      public:
	[[nodiscard]] bool is_set() const { return set_.load(std::memory_order_acquire); }
	[[nodiscard]] int fd() const { return event_.fd(); }
	void set();
	/* False: stopped. Returns early if wake (optional) is set. */
	bool wait(std::int64_t ns, Event *wake = nullptr) const;

      private:
	std::atomic<bool> set_{false};
	Event event_;
};

class Thread
{
      public:
	Thread() = default;
	Thread(const Thread &) = delete;
	Thread &operator=(const Thread &) = delete;
	~Thread() = default;

	bool start(const char *name, std::function<void()> body);
	/* Calls act repeatedly until stopped. After an internal error (no memory) it calls tidy_up
	 * and waits a second, so that the thread survives. */
	static void go_on(const Stop &stop, const std::function<void()> &act,
		const std::function<void()> &tidy_up);
	/* False: the thread did not end in time and still runs. True also for a thread that was not
	 * started. */
	bool join(int timeout_ms);

      private:
	static void *run(void *self) noexcept;
	pthread_t handle_ = {};
	bool started_ = false;
	const char *name_ = "";
	std::function<void()> body_;
};

} // namespace slurmkube::plugin

#endif
