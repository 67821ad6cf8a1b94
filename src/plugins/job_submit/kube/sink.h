/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink.h - where slurmctld's messages to nodes without slurmd end.
 *
 * NodeAddr and Port of external nodes point here in the emulated family. Without a listener each message would hold one of slurmctld's agent
 * threads for 10 s; with it the message fails in milliseconds, and nothing waits for an answer. Loopback only.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SINK_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SINK_H

#include "src/plugins/job_submit/kube/costs.h"
#include "src/plugins/job_submit/kube/thread.h"

#include <mutex>
#include <string>

namespace slurmkube::plugin
{

class Sink
{
      public:
	Sink(int port, Costs &costs, const Stop &stop) : port_(port), costs_(costs), stop_(stop) {}

	/* The thread's body. */
	void run();
	/* Why it does not listen; empty while it does. Any thread. */
	[[nodiscard]] std::string trouble() const;

      private:
	UniqueFd listen_socket();
	void serve(const UniqueFd &listener);
	void swallow(const UniqueFd &connection);
	void set_trouble(std::string what);

	int port_;
	Costs &costs_;
	const Stop &stop_;
	mutable std::mutex mutex_;
	std::string trouble_;
};

} // namespace slurmkube::plugin

#endif
