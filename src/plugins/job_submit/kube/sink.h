/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink.h - where slurmctld's messages to nodes without slurmd end.
 *
 * NodeAddr and Port of external nodes point here in the emulated family. Without a listener each
 * message would hold one of slurmctld's agent threads for 10 s; with it the message is answered
 * (the end of a job) or fails in milliseconds. Loopback only. Any local user can connect: many
 * connections are served at once, each for 2 s at most, and only those of root and of slurmctld's
 * own user: what others send costs no look at credentials. Where the kernel does not tell whose a
 * connection is, each has a tenth of a second, and one bad message is followed by a pause.
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

	/* The thread's body. */
	void run();
	/* Why it has not listened for some seconds; empty while it does. Any thread. */
	[[nodiscard]] std::string trouble() const;

      private:
	struct Connection {
		UniqueFd fd;
		std::int64_t until; /* no longer than that */
		/* part of a message is there: looked at again after a while, or poll() would not
		 * wait at all */
		bool is_partial = false;
	};
	void listen_once();
	UniqueFd listen_socket();
	void serve(const UniqueFd &listener);
	void wait(const UniqueFd &listener);
	void take_in(const UniqueFd &listener);
	[[nodiscard]] bool may_speak(int connection);
	void answer(int connection);
	/* True: done with it. */
	[[nodiscard]] bool is_done(Connection &connection, bool is_readable);
	void set_trouble(std::string what);

	int port_;
	Costs &costs_;
	const Stop &stop_;
	std::vector<Connection> connections_;
	std::vector<pollfd> polled_; /* stop, listener, then connections_ in their order */
	std::int64_t failing_since_ = 0, silent_until_ = 0;
	std::optional<SocketOwners> owners_; /* while there is a listener */
	mutable std::mutex mutex_;
	std::string trouble_;
};

} // namespace slurmkube::plugin

#endif
