/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link.h - the thread that reports to an agent (doc/design/protocol.md, section 2). Each Kubernetes
 * cluster has an agent and a link.
 *
 * The plugin connects to the agent, so that slurmctld needs no port for it, and a new slurmctld
 * process needs nothing from the old one. The link sends hello, waits for the agent's welcome, and
 * sends a snapshot, then changes and, every 5 s, the plugin's own costs. Any failure closes the
 * connection; the next one starts from the beginning.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_LINK_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_LINK_H

#include "src/base/result.h"
#include "src/plugins/job_submit/kube/budget.h"
#include "src/plugins/job_submit/kube/costs.h"
#include "src/plugins/job_submit/kube/feed.h"

#include <functional>

namespace slurmkube::plugin
{

class Link
{
      public:
	struct Setup {
		std::string socket;           /* its length was checked when kube.conf was read */
		std::uint32_t slurm_user = 0; /* the agent must run as this user or as root */
		std::function<core::PluginHello()> hello;
		std::function<core::PluginStats()> stats;
		std::function<bool()> is_in_control; /* this slurmctld; takes no lock */
	};
	Link(Setup setup, FeedReader &feed, Costs &costs, const Stop &stop);

	/* The body of the thread. */
	void run();

      private:
	void connect_once();
	Result<UniqueFd> connect() const;
	Status check_peer(int fd) const;
	/* Serves one connection until it breaks, and returns the reason. */
	std::string serve(UniqueFd fd);
	std::string send_snapshot(const codec::Welcome &welcome);
	std::string refuse(const std::string &why);
	std::string why_not_taken();
	std::string send_all(const std::vector<codec::LinkMessage> &messages);
	std::string send(const codec::LinkMessage &message);
	std::string flush();
	std::string read_input();
	std::string take_line(std::string_view line);
	std::string wait_and_send();
	void report(const std::string &what);

	Setup setup_;
	FeedReader &feed_;
	Costs &costs_;
	const Stop &stop_;
	Backoff backoff_;
	std::uint32_t random_ = static_cast<std::uint32_t>(now_ns());
	std::string last_report_; /* the same trouble is logged only once */
	core::PluginHello told_;

	/* state of the connection */
	UniqueFd fd_;
	std::uint64_t seq_ = 0;
	std::string out_, in_;
	std::int64_t stats_at_ = 0, alive_at_ = 0;
	bool welcomed_ = false;
};

} // namespace slurmkube::plugin

#endif
