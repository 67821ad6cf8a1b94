/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink.h - receives slurmctld's messages to nodes without slurmd.
 *
 * In the emulated family NodeAddr and Port of external nodes point to the sink. Without a listener
 * each message would occupy one of slurmctld's agent threads for 10 s; with the sink the message is
 * answered (the end of a job) or fails within milliseconds. The sink listens on loopback only, but
 * any local user can connect. So it serves many connections at once, each for at most 2 s, and only
 * those of root and of slurmctld's own user; other connections cost no verification of credentials.
 * If the kernel does not report the user of a connection, each connection has 0.1 s, and the sink
 * pauses after a bad message.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SINK_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SINK_H

#include "src/plugins/job_submit/kube/costs.h"
#include "src/plugins/job_submit/kube/socket_owner.h"
#include "src/plugins/job_submit/kube/thread.h"

#include <mutex>
#include <string>
#include <vector>

#include <poll.h>

namespace slurmkube::plugin
{

class Sink
{
      public:
	Sink(int port, Costs &costs, const Stop &stop) : port_(port), costs_(costs), stop_(stop) {}

	/* The body of the thread. */
	void run();
	/* Why the sink has not listened for some seconds; empty: it listens. Any thread. */
	[[nodiscard]] std::string trouble() const;

      private:
	struct Connection {
		UniqueFd fd;
		std::int64_t until; /* deadline (ns) */
		/* a part of the message has arrived; checked again after a while, because poll()
		 * would return at once */
		bool is_partial = false;
	};
	void listen_once();
	UniqueFd listen_socket();
	void serve(const UniqueFd &listener);
	void wait(const UniqueFd &listener);
	void take_in(const UniqueFd &listener);
	[[nodiscard]] bool may_speak(int connection);
	void answer(int connection);
	/* True: the connection can be closed. */
	[[nodiscard]] bool is_done(Connection &connection, bool is_readable);
	void set_trouble(std::string what);

	int port_;
	Costs &costs_;
	const Stop &stop_;
	std::vector<Connection> connections_;
	std::vector<pollfd> polled_; /* stop, listener, then connections_ in the same order */
	std::int64_t failing_since_ = 0, silent_until_ = 0;
	std::optional<SocketOwners> owners_; /* set while there is a listener */
	mutable std::mutex mutex_;
	std::string trouble_;
};

} // namespace slurmkube::plugin

#endif
