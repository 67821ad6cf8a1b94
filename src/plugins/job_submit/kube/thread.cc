/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/thread.h"

#include "src/base/guard.h"
#include "src/base/log.h"

#include <csignal>
#include <ctime>

#include <poll.h>
#include <sys/eventfd.h>

namespace slurmkube::plugin
{

Event::Event() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (!fd_)
		log_error("cannot make an eventfd");
}

void Event::set()
{
	(void)eventfd_write(fd_.get(), 1); /* fails only if it is set already */
}

void Event::clear()
{
	eventfd_t value = 0;
	(void)eventfd_read(fd_.get(), &value); /* fails only if it is not set */
}

void Stop::set()
{
	set_.store(true, std::memory_order_release);
	event_.set();
}

bool Stop::wait(std::int64_t ns, Event *wake) const
{
	pollfd fds[] = {{event_.fd(), POLLIN, 0}, {wake ? wake->fd() : -1, POLLIN, 0}};
	timespec timeout = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
	if (!is_set() && ppoll(fds, 2, &timeout, nullptr) > 0 && fds[1].revents != 0)
		wake->clear();
	return !is_set();
}

bool Thread::start(const char *name, std::function<void()> body)
{
	name_ = name;
	body_ = std::move(body);
	sigset_t all, before;
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits the mask */
	started_ = pthread_create(&handle_, nullptr, run, this) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
	return started_;
}

void *Thread::run(void *self) noexcept
{
	auto *thread = static_cast<Thread *>(self);
	(void)pthread_setname_np(pthread_self(), thread->name_); /* only for ps and gdb */
	guard(
		0,
		[&](const char *what) {
			log_error("internal error in thread %s: %s", thread->name_, what);
		},
		[&] {
			thread->body_();
			return 0;
		});
	return nullptr;
}

void Thread::go_on(
	const Stop &stop, const std::function<void()> &act, const std::function<void()> &tidy_up)
{
	constexpr std::int64_t k_rest = 1'000'000'000;
	while (!stop.is_set()) {
		const bool is_well = guard(
			false,
			[](const char *what) {
				log_error(
					"internal error in a thread, which goes on in a second: %s",
					what);
			},
			[&] {
				act();
				return true;
			});
		if (is_well)
			continue;
		tidy_up();
		stop.wait(k_rest);
	}
}

bool Thread::join(int timeout_ms)
{
	if (!started_)
		return true;
	timespec until = {};
	/* pthread_timedjoin_np() needs this clock; if it jumps, the wait is shorter or longer */
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1'000'000L;
	until.tv_sec += until.tv_nsec / 1'000'000'000L;
	until.tv_nsec %= 1'000'000'000L;
	if (pthread_timedjoin_np(handle_, nullptr, &until) != 0)
		return false;
	started_ = false;
	return true;
}

} // namespace slurmkube::plugin
