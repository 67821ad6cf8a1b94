/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer.h - takes the agent's place: accepts the plugin's connection, checks each line, keeps a copy
 * of the jobs, and misbehaves when told to.
 */
#ifndef SLURMKUBE_TESTSUITE_COMPONENT_HOST_PEER_H
#define SLURMKUBE_TESTSUITE_COMPONENT_HOST_PEER_H

#include "src/base/owned.h"
#include "src/core/model/job.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace slurmkube::host
{

enum class Manner {
	polite, /* reads everything and sends a welcome */
	deaf,   /* accepts, and reads nothing for a while */
	rude,   /* answers with garbage */
	hasty,  /* closes after the first bytes */
	coming, /* changes its manner with each connection */
};

class Peer
{
      public:
	explicit Peer(std::string path);
	Peer(const Peer &) = delete;
	Peer &operator=(const Peer &) = delete;
	~Peer();

	void behave(Manner manner) { manner_ = manner; }
	[[nodiscard]] std::map<std::uint32_t, core::JobState> jobs() const;
	[[nodiscard]] unsigned connections() const { return connections_; }
	[[nodiscard]] unsigned lines() const { return lines_; }
	/* The last value of "unmarked" in the plugin's statistics. */
	[[nodiscard]] std::string unmarked() const;
	/* An error that no plugin may make: a line that cannot be decoded, or a gap in the
	 * sequence numbers. */
	[[nodiscard]] std::string fault() const;

      private:
	void run();
	void serve(int fd, Manner manner);
	bool take(const std::string &line);

	std::string path_;
	UniqueFd listener_;
	std::atomic<Manner> manner_{Manner::polite};
	std::atomic<bool> stop_{false};
	std::atomic<unsigned> connections_{0}, lines_{0};
	mutable std::mutex mutex_;
	std::map<std::uint32_t, core::JobState> jobs_;
	std::string fault_, unmarked_;
	std::uint64_t seq_ = 0;
	std::thread thread_;
};

} // namespace slurmkube::host

#endif
