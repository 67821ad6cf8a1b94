/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * multi.h - libcurl's multi interface on the agent's loop: waits for libcurl's sockets and timers,
 * and reports progress.
 *
 * The owner is called after libcurl has returned. It may then add and remove handles, but must not
 * destroy the multi.
 */
#ifndef SLURMKUBE_AGENT_KUBE_MULTI_H
#define SLURMKUBE_AGENT_KUBE_MULTI_H

#include "src/agent/loop.h"
#include "src/base/owned.h"
#include "src/base/result.h"

#include <curl/curl.h>

#include <functional>
#include <set>
#include <vector>

namespace slurmkube::kube
{

class Multi
{
      public:
	struct Finished {
		CURL *easy;
		CURLcode code;
	};
	/* Called when bytes may have been read or written. Finished handles have been removed from
	 * the multi. */
	using OnProgress = std::function<void(const std::vector<Finished> &)>;

	/* max_connections applies if the server does not speak HTTP/2. */
	Multi(agent::Loop &loop, long max_connections, OnProgress on_progress);
	Multi(const Multi &) = delete;
	Multi &operator=(const Multi &) = delete;
	~Multi();

	Status add(CURL *easy);
	void remove(CURL *easy);
	/* Wakes transfers that wait for the chance to share a connection, for versions of libcurl
	 * that do not (curl_lets_transfers_sleep()). */
	void wake_waiting();

      private:
	void ready(curl_socket_t fd, int events);
	void act(curl_socket_t fd, int events);
	void ask_again_after(agent::Clock::duration wait);
	void ask_again();
	std::vector<Finished> collect();
	void watch(curl_socket_t fd, int what);
	void wake_after(long milliseconds);
	static int on_socket(CURL *, curl_socket_t fd, int what, void *self, void *) noexcept;
	static int on_timer(CURLM *, long milliseconds, void *self) noexcept;

	agent::Loop &loop_;
	OnProgress on_progress_;
	agent::Loop::TimerId timer_ = 0, again_timer_ = 0;
	agent::Clock::time_point last_ready_; /* the last time that any socket was ready */
	unsigned asked_again_ = 0;            /* calls of ask_again() since then */
	std::set<curl_socket_t> watched_;
	Owned<CURLM, curl_multi_cleanup> multi_;
};

} // namespace slurmkube::kube

#endif
