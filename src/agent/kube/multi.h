/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * multi.h - libcurl's multi interface on the agent's loop: it waits for libcurl and tells what
 * moved.
 *
 * The owner is called after libcurl has returned, so it may add and remove handles as it likes, but
 * not destroy the multi.
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
	/* Something was read or written; finished handles have left the multi already. */
	using OnProgress = std::function<void(const std::vector<Finished> &)>;

	/* max_connections counts where the server does not speak HTTP/2. */
	Multi(agent::Loop &loop, long max_connections, OnProgress on_progress);
	Multi(const Multi &) = delete;
	Multi &operator=(const Multi &) = delete;
	~Multi();

	Status add(CURL *easy);
	void remove(CURL *easy);
	/* Transfers that wait to see whether they can share another one's connection look again,
	 * where libcurl lets them sleep. */
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
	agent::Clock::time_point last_ready_; /* of any socket */
	unsigned asked_again_ = 0;            /* since then */
	std::set<curl_socket_t> watched_;
	Owned<CURLM, curl_multi_cleanup> multi_;
};

} // namespace slurmkube::kube

#endif
