/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/loop.h"

#include "src/base/guard.h"
#include "src/base/log.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <utility>

namespace slurmkube::agent
{

namespace
{

constexpr int k_events_per_round = 64;
constexpr int k_longest_wait_ms = 60'000;

/* If a callback throws, the agent's state may be inconsistent, and going on might bind a pod twice.
 * systemd restarts the agent, which then builds its state anew from Kubernetes and Slurm. */
template <class F> void call_guarded(F &&body)
{
	const bool fine = guard(
		false,
		[](const char *what) {
			log_error("internal error in a callback, giving up: %s", what);
		},
		[&] {
			body();
			return true;
		});
	if (!fine)
		std::abort();
}

} // namespace

std::int64_t wall_us()
{
	const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
	return std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
}

core::Now now()
{
	const auto since_boot = Clock::now().time_since_epoch();
	return {.mono_us =
			std::chrono::duration_cast<std::chrono::microseconds>(since_boot).count(),
		.wall_s = std::time(nullptr)};
}

Loop::Loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	epoll_event event{};
	event.events = EPOLLIN;
	event.data.fd = wake_.get();
	if (!epoll_ || !wake_ || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
		log_error("cannot make an epoll instance: no file descriptors left?");
		std::abort();
	}
}

void Loop::set(int fd, std::uint32_t epoll_events, OnReady on_ready)
{
	const bool known = ready_.contains(fd);
	epoll_event event{};
	event.events = epoll_events;
	event.data.fd = fd;
	int rc = epoll_ctl(epoll_.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
	if (rc != 0 && known && errno == ENOENT) /* the number was closed and opened again */
		rc = epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
	if (rc != 0)
		log_error("cannot watch a descriptor: fd=%d errno=%d", fd, errno);
	ready_[fd] = std::make_shared<OnReady>(std::move(on_ready));
}

void Loop::remove(int fd)
{
	if (ready_.erase(fd) > 0)
		/* fails if the descriptor is closed already */
		(void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

Loop::TimerId Loop::after(Clock::duration delay, Call call)
{
	const TimerId id = next_timer_++;
	const Clock::time_point due = Clock::now() + delay;
	timers_.emplace(due, Timer{id, std::move(call)});
	due_.emplace(id, due);
	return id;
}

void Loop::cancel(TimerId timer)
{
	const auto found = due_.find(timer);
	if (found == due_.end())
		return;
	auto [first, last] = timers_.equal_range(found->second);
	for (; first != last; ++first) {
		if (first->second.id == timer) {
			timers_.erase(first);
			break;
		}
	}
	due_.erase(found);
}

void Loop::post(Call call)
{
	{
		const std::lock_guard lock(mutex_);
		posted_.push_back(std::move(call));
	}
	wake();
}

void Loop::stop()
{
	{
		const std::lock_guard lock(mutex_);
		stopping_ = true;
	}
	wake();
}

void Loop::wake() const
{
	const std::uint64_t one = 1;
	/* fails if the counter is full: then a wake-up is pending already */
	(void)!write(wake_.get(), &one, sizeof(one));
}

int Loop::timeout_ms() const
{
	if (timers_.empty())
		return k_longest_wait_ms;
	const auto left =
		std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - Clock::now())
			.count();
	if (left <= 0)
		return 0;
	return left < k_longest_wait_ms ? static_cast<int>(left) : k_longest_wait_ms;
}

void Loop::run_timers()
{
	const Clock::time_point now = Clock::now();
	while (!timers_.empty() && timers_.begin()->first <= now) {
		Timer timer = std::move(timers_.begin()->second);
		timers_.erase(timers_.begin());
		due_.erase(timer.id);
		call_guarded(timer.call);
	}
}

void Loop::run_posted()
{
	std::vector<Call> calls;
	{
		const std::lock_guard lock(mutex_);
		calls.swap(posted_);
	}
	for (const Call &call : calls)
		call_guarded(call);
}

void Loop::run()
{
	std::array<epoll_event, k_events_per_round> events{};
	for (;;) {
		{
			const std::lock_guard lock(mutex_);
			if (stopping_)
				return;
		}
		const int count =
			epoll_wait(epoll_.get(), events.data(), k_events_per_round, timeout_ms());
		for (int i = 0; i < count; i++) {
			const epoll_event &event = events.at(static_cast<std::size_t>(i));
			if (event.data.fd == wake_.get()) {
				std::uint64_t ignored = 0;
				(void)!read(wake_.get(), &ignored, sizeof(ignored));
				continue;
			}
			/* an earlier callback of this round may have removed the descriptor */
			const auto found = ready_.find(event.data.fd);
			if (found == ready_.end())
				continue;
			const std::shared_ptr<OnReady> on_ready = found->second;
			const std::uint32_t what = event.events;
			call_guarded([&] { (*on_ready)(what); });
		}
		run_posted();
		run_timers();
	}
}

} // namespace slurmkube::agent
