/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.h - the plugin while it is loaded: configuration, registry, three threads, and the
 * decisions of the hooks.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_PLUGIN_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_PLUGIN_H

#include "src/plugins/job_submit/kube/foreign_partitions.h"
#include "src/plugins/job_submit/kube/guard.h"
#include "src/plugins/job_submit/kube/keeper.h"
#include "src/plugins/job_submit/kube/kube_conf.h"
#include "src/plugins/job_submit/kube/link.h"
#include "src/plugins/job_submit/kube/sink.h"

#include <memory>
#include <mutex>

namespace slurmkube::plugin
{

/* Reads kube.conf; wrong lines are logged. */
Config load_config();

class Plugin
{
      public:
	explicit Plugin(Config config);

	bool start();
	/* False: a thread did not end, so the object must not be freed. */
	bool stop();

	/* Called in hooks, under slurmctld's locks. Both fill verdict. */
	void judge_submission(const kube_submit_facts &facts, kube_verdict &verdict);
	void judge_change(const kube_modify_facts &facts, kube_verdict &verdict);
	[[nodiscard]] bool is_for_pods(std::string_view partition) const noexcept;
	/* Whether the request must be refused after an internal error in the functions above.
	 * Allocates no memory. */
	[[nodiscard]] bool concerns_us(const kube_submit_facts &facts) const noexcept;
	[[nodiscard]] bool concerns_us(const kube_modify_facts &facts) const noexcept;

	Costs costs;

      private:
	void judge_marker(const core::Marker &marker, kube_verdict &verdict);
	[[nodiscard]] std::string native_partition(const Rules &rules, std::string_view list) const;
	struct Kinds {
		bool external = false, hybrid = false;
	};
	[[nodiscard]] Kinds kinds_in(std::string_view list);
	[[nodiscard]] std::string mixed_partitions(std::string_view list);
	[[nodiscard]] std::string foreign_partition(
		std::string_view list, const MarkerTexts &texts);
	/* What may change while the plugin runs. Hooks, keeper and link each copy the pointer. */
	struct Live {
		Rules rules;
		std::string error;
	};

	void read_config_again();
	[[nodiscard]] std::shared_ptr<const Live> live() const noexcept;
	[[nodiscard]] core::PluginHello hello(const std::string &cluster) const;
	/* What the plugin held of locks when a link last asked. */
	struct Period {
		std::uint64_t held_ns = 0;
		std::int64_t since_ns = now_ns();
	};
	/* The link to the agent of one cluster, and its thread. */
	struct Channel {
		Channel(Plugin &plugin, const ClusterSocket &to);

		Period period; /* used by the link alone */
		FeedReader reader;
		Link link;
		Thread thread;
	};
	[[nodiscard]] core::PluginStats stats(Period &period) const;
	void open_channels();

	/* Read once: a greeting that changes closes the link, and without free descriptors it could
	 * not be read. */
	struct Process {
		int id = 0;
		std::int64_t start = 0; /* clock ticks since the host's start; 0: not known */
		std::string host;
	};
	static Process this_process();

	const Process process_ = this_process();
	Config config_; /* as read at the start */
	kube_host host_ = {};
	std::string cluster_, submit_plugins_;
	mutable std::mutex live_mutex_; /* held only for a copy of the pointer */
	std::shared_ptr<const Live> live_;
	Stop stop_;
	SubmissionRegistry registry_;
	Feed feed_;
	Keeper keeper_;
	Sink sink_;
	ForeignPartitions foreign_partitions_;
	std::vector<std::unique_ptr<Channel>> channels_;
	Thread keeper_thread_, sink_thread_;
};

} // namespace slurmkube::plugin

#endif
