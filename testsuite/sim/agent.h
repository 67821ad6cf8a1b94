/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent.h - drives the real core::World as src/agent/app.cc, sources.cc and execute.cc do, against the models.
 *
 * An agent may be killed and started at any moment: its World goes, what it had sent goes on. The oracle hears of each action when it is begun.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_AGENT_H
#define SLURMKUBE_TESTSUITE_SIM_AGENT_H

#include "testsuite/sim/calls.h"
#include "testsuite/sim/oracle.h"

namespace slurmkube::sim
{

class Agent
{
      public:
	Agent(Stage &stage, unsigned number, Kube &kube, Slurm &slurm, Api &api, Rpc &rpc, Oracle &oracle);

	void start();
	void kill();
	void freeze(Micros until);
	/* Of lives to come: a selector that selects no node; the kubeconfig of a cluster that has none of these nodes;
	 * lists without pods; the kubeconfig of a cluster that has nothing of ours. */
	enum class Sight { right, none_selected, no_nodes, no_pods, other_cluster };
	void set_sight(Sight sight);
	void see_again(); /* restarted, if it has to be */
	[[nodiscard]] bool is_alive() const { return world_ != nullptr; }
	[[nodiscard]] const core::World &world() const { return *world_; }
	Stream<core::Pod> pods;
	Stream<core::KubeNode> nodes;

	static core::Settings settings();

      private:
	template <class T> StreamSink<T> sink_for();
	LinkPort port();
	[[nodiscard]] bool sees_nodes() const { return sight_ == Sight::right || sight_ == Sight::no_pods; }
	[[nodiscard]] bool sees_pods() const { return sight_ != Sight::no_pods && sight_ != Sight::other_cluster; }
	void pods_listed(const std::set<std::string> &all);
	void ask_for_cluster();
	void pod_changed(const Change<core::Pod> &change);
	void node_changed(const Change<core::KubeNode> &change);
	void opened(const core::PluginHello &hello, std::uint64_t link);
	void job_told(core::SlurmJob job);
	bool defer(Timeline::Call call);

	void want_round();
	void round();
	void tick(std::uint64_t life);
	void plan_next_look();

	void carry_out(const core::PodUid &pod, const core::Action &action);
	void carry_out(const core::NodeAction &action);
	void submit(const core::PodUid &pod, const core::Submit &action);
	void end_job(const core::PodUid &pod, core::JobId job, std::optional<std::uint32_t> wait_status, bool for_absence);
	void bind(const core::PodUid &pod, const core::Bind &action);
	void post_binding(const core::PodUid &pod, const BindRequest &request, unsigned tries);
	void look_at_binding(const core::PodUid &pod, const BindRequest &request, unsigned tries);
	void ask_for(const core::OwnerId &id);
	void ask_for_node(const std::string &name);
	void look_up(const core::PodUid &pod, const core::LookUp &action);
	void remove(const core::PodUid &pod, const core::Remove &action);
	void report(const core::PodUid &pod, const core::Report &action);
	/* For answers: only if this life of the agent goes on; later if it is frozen. */
	template <class F> auto heard(F body);
	void answer(const std::function<void(core::World &)> &body);

	Stage &stage_;
	const unsigned number_;
	const std::uint64_t key_;
	Kube &kube_;
	Slurm &slurm_;
	Api &api_;
	Rpc &rpc_;
	Oracle &oracle_;
	std::unique_ptr<core::World> world_;
	std::uint64_t life_ = 0, link_ = 0, look_ = 0;
	Micros frozen_until_ = 0;
	bool round_wanted_ = false, was_restarted_ = false;
	Sight sight_ = Sight::right;
	bool cluster_asked_ = false;
	bool has_snapshot_ = false; /* the link's, by what was really delivered */
	std::map<std::uint32_t, std::string> first_markers_; /* for Plant::stale_marker */
	std::set<std::string> submitted_here_;		     /* for Plant::dropped_complete */
};

} // namespace slurmkube::sim

#endif
