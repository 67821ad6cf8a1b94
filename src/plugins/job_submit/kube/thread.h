/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread.h - threads inside somebody else's daemon, and the events that wake and stop them.
 *
 * A thread of ours has a name and all signals blocked (slurmctld handles signals in one thread of
 * its own), lets no exception out, is never cancelled and always joined.
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

/* An eventfd: set by anybody, waited for by one thread. */
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

/* Set once. */
class Stop
{
      public:
	[[nodiscard]] bool is_set() const { return set_.load(std::memory_order_acquire); }
	[[nodiscard]] int fd() const { return event_.fd(); }
	void set();
	/* False: stopped. Ends early when wake (if any) is set. */
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
	/* For a body: act again and again until stopped. After an error of ours (no memory) it
	 * tidies up and rests a second: the thread must not be gone for good. */
	static void go_on(const Stop &stop, const std::function<void()> &act,
		const std::function<void()> &tidy_up);
	/* False: it did not end in time and still runs. True also for one that was never
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
