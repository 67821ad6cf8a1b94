/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/kube/multi.h"

#include "src/agent/kube/curl_versions.h"
#include "src/base/guard.h"
#include "src/base/log.h"

#include <sys/epoll.h>

namespace slurmkube::kube
{

namespace
{

using namespace std::chrono_literals;

/* If libcurl leaves data aside (curl_versions.h), quiet sockets are treated as readable a few more
 * times. */
constexpr agent::Clock::duration k_quiet = 20ms; /* doubled each time */
constexpr unsigned k_most_asked_again = 6;

void report_bug(const char *what)
{
	log_error("internal error in a libcurl callback: %s", what);
}

/* libcurl is initialised once per process, before the first handle. */
CURLM *new_multi()
{
	static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
	return ready == CURLE_OK ? curl_multi_init() : nullptr;
}

std::uint32_t epoll_events(int what)
{
	const std::uint32_t in = what == CURL_POLL_IN || what == CURL_POLL_INOUT ? EPOLLIN : 0U;
	const std::uint32_t out = what == CURL_POLL_OUT || what == CURL_POLL_INOUT ? EPOLLOUT : 0U;
	return in | out;
}

int curl_events(std::uint32_t epoll)
{
	int events = 0;
	if ((epoll & (EPOLLIN | EPOLLHUP)) != 0)
		events |= CURL_CSELECT_IN;
	if ((epoll & EPOLLOUT) != 0)
		events |= CURL_CSELECT_OUT;
	if ((epoll & EPOLLERR) != 0)
		events |= CURL_CSELECT_ERR;
	return events;
}

} // namespace

Multi::Multi(agent::Loop &loop, long max_connections, OnProgress on_progress)
    : loop_(loop), on_progress_(std::move(on_progress)), multi_(new_multi())
{
	if (!multi_)
		return; /* add() reports the error */
	void *self = this;
	(void)curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &Multi::on_socket);
	(void)curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, self);
	(void)curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &Multi::on_timer);
	(void)curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, self);
	(void)curl_multi_setopt(
		multi_.get(), CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
	(void)curl_multi_setopt(multi_.get(), CURLMOPT_MAX_HOST_CONNECTIONS, max_connections);
}

Multi::~Multi()
{
	loop_.cancel(timer_);
	loop_.cancel(again_timer_);
	for (const curl_socket_t fd : watched_)
		loop_.remove(fd);
	if (!multi_)
		return;
	/* Closing the connections would call back into this object, which is being destroyed. */
	(void)curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, nullptr);
	(void)curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, nullptr);
}

Status Multi::add(CURL *easy)
{
	const CURLMcode code =
		multi_ ? curl_multi_add_handle(multi_.get(), easy) : CURLM_OUT_OF_MEMORY;
	if (code != CURLM_OK)
		return Error{Errc::internal,
			std::string("libcurl refused a request: ") + curl_multi_strerror(code)};
	return Ok{};
}

void Multi::remove(CURL *easy)
{
	/* fails only for handles that are not in the multi */
	(void)curl_multi_remove_handle(multi_.get(), easy);
}

/* libcurl wakes the waiting transfers whenever a handle is removed, even one that has not begun. */
void Multi::wake_waiting()
{
	if (!curl_lets_transfers_sleep())
		return;
	const Owned<CURL, curl_easy_cleanup> nothing(curl_easy_init());
	if (nothing && add(nothing.get()))
		remove(nothing.get());
}

void Multi::ready(curl_socket_t fd, int events)
{
	last_ready_ = agent::Clock::now();
	asked_again_ = 0;
	if (again_timer_ == 0 && curl_leaves_data_aside())
		ask_again_after(k_quiet);
	act(fd, events);
}

void Multi::ask_again_after(agent::Clock::duration wait)
{
	again_timer_ = loop_.after(wait, [this] {
		again_timer_ = 0;
		ask_again();
	});
}

void Multi::ask_again()
{
	const agent::Clock::duration quiet = agent::Clock::now() - last_ready_,
				     wanted = k_quiet * (1U << asked_again_);
	if (quiet < wanted) {
		ask_again_after(wanted - quiet);
		return;
	}
	if (++asked_again_ < k_most_asked_again)
		ask_again_after(wanted);
	for (const curl_socket_t fd : std::set<curl_socket_t>(watched_))
		act(fd, CURL_CSELECT_IN);
}

void Multi::act(curl_socket_t fd, int events)
{
	int running = 0;
	const CURLMcode code = curl_multi_socket_action(multi_.get(), fd, events, &running);
	if (code != CURLM_OK)
		log_error("libcurl failed: %s", curl_multi_strerror(code));
	on_progress_(collect());
}

std::vector<Multi::Finished> Multi::collect()
{
	std::vector<Finished> finished;
	int left = 0;
	while (const CURLMsg *message = curl_multi_info_read(multi_.get(), &left)) {
		if (message->msg == CURLMSG_DONE)
			finished.push_back({message->easy_handle, message->data.result});
	}
	for (const Finished &one : finished)
		remove(one.easy); /* after the loop: this invalidates the message */
	return finished;
}

void Multi::watch(curl_socket_t fd, int what)
{
	if (what == CURL_POLL_REMOVE) {
		watched_.erase(fd);
		loop_.remove(fd);
		return;
	}
	watched_.insert(fd);
	loop_.set(fd, epoll_events(what),
		[this, fd](std::uint32_t events) { ready(fd, curl_events(events)); });
}

void Multi::wake_after(long milliseconds)
{
	loop_.cancel(timer_);
	timer_ = 0;
	if (milliseconds >= 0)
		timer_ = loop_.after(std::chrono::milliseconds(milliseconds),
			[this] { act(CURL_SOCKET_TIMEOUT, 0); });
}

int Multi::on_socket(CURL *, curl_socket_t fd, int what, void *self, void *) noexcept
{
	return guard(-1, report_bug, [&] {
		static_cast<Multi *>(self)->watch(fd, what);
		return 0;
	});
}

int Multi::on_timer(CURLM *, long milliseconds, void *self) noexcept
{
	return guard(-1, report_bug, [&] {
		static_cast<Multi *>(self)->wake_after(milliseconds);
		return 0;
	});
}

} // namespace slurmkube::kube
