/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent.h - a model agent: it drives the real core::World as src/agent/app.cc and sources.cc do,
 * and the shipped executor, against the model cluster.
 *
 * An agent can be killed and started at any moment. A kill destroys its World; requests that the
 * agent has already sent still take effect. The agent reports each action to the oracle before the
 * action is carried out.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_AGENT_H
#define SLURMKUBE_TESTSUITE_SIM_AGENT_H

#include "src/agent/executor.h"
#include "testsuite/sim/sides.h"

namespace slurmkube::sim
{

class Agent
{
      public:
	Agent(unsigned number, const Models &models);

	void start();
	void kill();
	void freeze(Micros until);
	using PodLookup = sim::PodLookup; /* the setting applies to later lives */
	void set_sight(PodLookup sight);
	void reload();
	void see_again(); /* restarts the agent if its view was wrong */
	[[nodiscard]] bool is_alive() const { return world_ != nullptr; }
	[[nodiscard]] const core::World &world() const { return *world_; }
	Stream<core::Pod> pods;
	Stream<core::KubeNode> nodes;
	Stream<core::ResourceClaim> claims;
	Stream<core::ResourceSlice> slices;

      private:
	[[nodiscard]] core::Settings settings() const;
	void restart_streams();
	/* without the calls for changes and lists */
	template <class T> StreamSink<T> sink();
	StreamSink<core::Pod> pod_sink();
	StreamSink<core::KubeNode> node_sink();
	StreamSink<core::ResourceClaim> claim_sink();
	StreamSink<core::ResourceSlice> slice_sink();
	LinkPort port();
	[[nodiscard]] bool sees_nodes() const
	{
		return sight_ == PodLookup::right || sight_ == PodLookup::no_pods;
	}
	[[nodiscard]] bool sees_pods() const
	{
		return sight_ != PodLookup::no_pods && sight_ != PodLookup::other_cluster;
	}
	void pods_listed(const std::set<std::string> &all);
	void pod_changed(const Change<core::Pod> &change);
	void node_changed(const Change<core::KubeNode> &change);
	void opened(const core::PluginHello &hello, std::uint64_t link);
	void job_told(core::SlurmJob job);
	bool defer(Timeline::Call call);

	void want_round();
	void round();
	void tick(std::uint64_t life);
	void plan_next_look();

	[[nodiscard]] Life life();
	/* Reports the action to the oracle before the executor carries it out. */
	void begins(const core::PodUid &pod, const core::Action &action);
	void carry_out(const core::PodUid &pod, const core::Action &action);
	void carry_out(const core::NodeAction &action);

	const Models models_;
	Stage &stage_;
	const unsigned number_;
	const std::uint64_t key_;
	Kube &kube_;
	Devices &devices_;
	Slurm &slurm_;
	Api &api_;
	Oracle &oracle_;
	std::unique_ptr<core::World> world_;
	std::unique_ptr<ModelKube> kube_side_;
	std::unique_ptr<ModelSlurm> slurm_side_;
	std::unique_ptr<agent::Executor> executor_;
	std::uint64_t life_ = 0, link_ = 0, look_ = 0;
	Micros frozen_until_ = 0;
	bool round_wanted_ = false;
	PodLookup sight_ = PodLookup::right;
	bool has_snapshot_ = false; /* of the current link, as really delivered */
	std::map<std::uint32_t, std::string> first_markers_; /* for Plant::stale_marker */
};

template <class T> StreamSink<T> Agent::sink()
{
	StreamSink<T> out;
	out.defer = [this](Timeline::Call call) { return defer(std::move(call)); };
	out.may_connect = [this] {
		return is_alive() && !api_.is_away() && stage_.now() >= api_.stalled_until &&
			stage_.now() >= frozen_until_;
	};
	return out;
}

} // namespace slurmkube::sim

#endif
