/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop.h - the agent's one thread: descriptors, timers, and results from other threads.
 *
 * Everything but post() and stop() is called on the thread that runs run(). A callback may add and
 * remove anything, itself included; after remove() returns its callback is not called again.
 * Callbacks must not block and must not throw (a throw ends the process with a log line).
 */
#ifndef SLURMKUBE_AGENT_LOOP_H
#define SLURMKUBE_AGENT_LOOP_H

#include "src/base/owned.h"
#include "src/core/model/now.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace slurmkube::agent
{

using Clock = std::chrono::steady_clock;

/* The only functions of the agent that read a clock, with Clock's. now() is the core's. */
core::Now now();
std::int64_t wall_us(); /* since the epoch, for time stamps */

class Loop
{
      public:
	using OnReady = std::function<void(std::uint32_t epoll_events)>;
	using Call = std::function<void()>;
	using TimerId = std::uint64_t; /* 0 is no timer */

	Loop();

	/* The descriptor stays the caller's. set() registers or changes; remove() before closing
	 * it. */
	void set(int fd, std::uint32_t epoll_events, OnReady on_ready);
	void remove(int fd);

	/* One shot. cancel() of a timer that has fired, or of 0, does nothing. */
	TimerId after(Clock::duration delay, Call call);
	void cancel(TimerId timer);

	/* Runs call soon on the loop's thread, in the order of posting. Any thread. */
	void post(Call call);

	void run();
	/* any thread, and signal-safe enough for a callback: run() returns after the present
	 * round */
	void stop();

      private:
	struct Timer {
		TimerId id;
		Call call;
	};
	void run_timers();
	void run_posted();
	void wake() const;
	[[nodiscard]] int timeout_ms() const;

	UniqueFd epoll_, wake_;
	/* Shared so that a callback may remove itself while it runs. */
	std::map<int, std::shared_ptr<OnReady>> ready_;
	std::multimap<Clock::time_point, Timer> timers_;
	std::map<TimerId, Clock::time_point> due_;
	TimerId next_timer_ = 1;
	std::mutex mutex_;
	std::vector<Call> posted_; /* guarded by mutex_ */
	bool stopping_ = false;    /* guarded by mutex_ */
};

} // namespace slurmkube::agent

#endif
