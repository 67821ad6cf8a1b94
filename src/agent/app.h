/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * app.h - the agent: its parts, and how facts, decisions and actions flow between them.
 *
 *	pods, nodes (watches) ─┐                                ┌─► Calls (libslurm) ───┐
 *	jobs, nodes (link) ────┼─► World ─► actions ─► Executor ┴─► Client (Kubernetes) ┤
 *	                       └──────────────────────── answers ◄──────────────────────┘
 *
 * Everything runs on the loop's thread. A source reports to World and asks for a round; a round
 * takes all actions that World has decided on and starts them. No other method may be called before
 * start() has returned ok.
 */
#ifndef SLURMKUBE_AGENT_APP_H
#define SLURMKUBE_AGENT_APP_H

#include "src/agent/config.h"
#include "src/agent/ctl/server.h"
#include "src/agent/event_recorder.h"
#include "src/agent/executor.h"
#include "src/agent/http_service.h"
#include "src/agent/kube/credentials.h"
#include "src/agent/lease_keeper.h"
#include "src/agent/link/server.h"
#include "src/agent/links.h"
#include "src/agent/look.h"
#include "src/agent/slurm/calls.h"
#include "src/agent/slurm_metrics.h"
#include "src/agent/sources.h"
#include "src/agent/watch/hub.h"
#include "src/agent/watch/watched_world.h"
#include "src/core/world/round_pace.h"
#include "src/core/world/world.h"

#include <memory>

namespace slurmkube::agent
{

class App : private link::LinkSink
{
      public:
	App(Loop &loop, const Config &config, kube::Access access);
	App(const App &) = delete;
	App &operator=(const App &) = delete;
	~App() override = default;

	Status start();
	/* Takes over what a running agent can, and logs which other keys have changed. */
	void reload(const Config &fresh);
	/* Why the last reload rejected the configuration file; empty: the file was accepted. */
	void set_file_trouble(std::string text) { troubles_.file = std::move(text); }
	[[nodiscard]] const std::string &file_trouble() const { return troubles_.file; }

	/* Keys whose change takes effect after a restart only: "cluster, slurm". */
	[[nodiscard]] const std::string &keys_for_restart_only() const { return troubles_.restart; }

	/* Accessors for replies.cc and checks*.cc. */
	[[nodiscard]] const core::World &world() const { return world_; }
	[[nodiscard]] const kube::Client &client() const { return client_; }
	[[nodiscard]] const kube::Credentials &credentials() const { return credentials_; }
	[[nodiscard]] const slurm::SharingPartitions &sharing_partitions() const
	{
		return sharing_partitions_;
	}
	[[nodiscard]] const Sources &sources() const { return sources_; }
	[[nodiscard]] const core::PluginStats &plugin_stats() const { return plugin_stats_; }
	[[nodiscard]] const core::EventQueue &events() const { return recorder_.queue(); }
	[[nodiscard]] const LastBinding &last_binding() const { return executor_.last_binding(); }
	/* Why the uid of the cluster could not be read; empty: the uid is known, or the question
	 * has not been answered yet. */
	[[nodiscard]] const std::string &cluster_unknown() const
	{
		return executor_.cluster_unknown();
	}
	/* Why the plugin that connected last was refused; empty: it was not. */
	[[nodiscard]] const std::string &link_refusal() const { return link_.refusal(); }
	[[nodiscard]] bool link_waits() const { return link_.is_waiting(); }
	[[nodiscard]] const HttpService &http() const { return http_; }
	[[nodiscard]] HttpService &http() { return http_; }
	[[nodiscard]] watch::Hub &watchers() { return watching_.hub; }
	/* Slurm's own metrics. */
	[[nodiscard]] SlurmMetrics &slurm_metrics() { return slurm_metrics_; }
	/* Asks Kubernetes and Slurm. done is called once, later, within k_look_time. */
	void look(Look::Done done);
	void ask_for_nodes(std::function<void(const std::string &trouble)> done);
	[[nodiscard]] const Config &config() const { return config_; }
	[[nodiscard]] std::int64_t uptime_seconds() const;
	[[nodiscard]] const core::Now &started() const { return started_; }

      private:
	void opened(const core::PluginHello &hello) override;
	void arrived(codec::LinkMessage told) override;
	void closed() override;

	void want_round();
	void round();
	void plan_next_look();
	void tick();
	void look_around();
	void look_at_partitions();
	void ask_for_native_job();

	void note_lease(const core::LeaseState &state);
	void note_cluster_trouble();
	void take_names();
	[[nodiscard]] slurm::KubeNodes kube_nodes() const; /* with Slurm's names */

	Loop &loop_;
	Config config_;
	struct Troubles {
		std::string file;               /* why the configuration file was rejected */
		std::string restart;            /* changed keys that need a restart */
		std::string cluster;            /* the text that was logged last */
		std::vector<std::string> names; /* likewise */
	} troubles_;
	core::World world_;
	kube::Client client_;
	kube::Credentials credentials_;
	EventRecorder recorder_{client_};
	slurm::Calls calls_;
	ApiServer api_server_{client_, recorder_};
	Controller controller_{calls_, world_.state().settings.nodes.names};
	Executor executor_;
	SlurmMetrics slurm_metrics_;
	slurm::SharingPartitions sharing_partitions_; /* polled every 15 s */
	link::Server link_;
	struct Watching {
		Watching(Loop &loop, core::World &from) : world(from), hub(loop, world, {}) {}
		watch::WatchedWorld world;
		watch::Hub hub;
	} watching_;
	ctl::Server control_;
	HttpService http_;
	Sources sources_;
	LeaseKeeper lease_;
	core::PluginStats plugin_stats_;
	Look look_;
	struct NextRound {
		bool is_wanted = false;
		Loop::TimerId timer = 0;
		core::RoundPace pace;
	} next_round_;
	core::Now started_;
};

core::Settings settings_of(const Config &config);

} // namespace slurmkube::agent

#endif
