/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop.h - the agent's event loop: descriptors, timers, and results from other threads.
 *
 * Everything but post() and stop() must be called on the thread that runs run(). A callback may add
 * and remove any callback, including itself. When remove() has returned, the descriptor's callback
 * is not called again. Callbacks must not block and must not throw (an exception ends the process
 * with a log line).
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

/* The agent reads clocks only with these functions and Clock::now() (testsuite/lint/clocks.py).
 * Core takes the time in the form that now() returns. */
core::Now now();
std::int64_t wall_us(); /* microseconds since the epoch, for time stamps */

class Loop
{
      public:
	using OnReady = std::function<void(std::uint32_t epoll_events)>;
	using Call = std::function<void()>;
	using TimerId = std::uint64_t; /* 0 is no timer */

	Loop();

	/* Registers the descriptor, or changes its registration. The caller keeps ownership and
	 * must call remove() before closing the descriptor. */
	void set(int fd, std::uint32_t epoll_events, OnReady on_ready);
	void remove(int fd);

	/* Fires once. cancel() of 0, or of a timer that has fired, does nothing. */
	TimerId after(Clock::duration delay, Call call);
	void cancel(TimerId timer);

	/* Runs call on the loop's thread, in the order of the post() calls. May be called on any
	 * thread. */
	void post(Call call);

	void run();
	/* run() returns when the current round is over. May be called on any thread, but not in a
	 * signal handler: it takes a mutex. */
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
	/* shared, because a callback may remove itself while it runs */
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
