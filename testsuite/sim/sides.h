/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sides.h - the interfaces through which the shipped executor uses Kubernetes and Slurm,
 * implemented on the models.
 *
 * An instance belongs to one life of an agent. Requests outlive it: their effects refer to the
 * models only.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_SIDES_H
#define SLURMKUBE_TESTSUITE_SIM_SIDES_H

#include "src/agent/sides.h"
#include "testsuite/sim/calls.h"
#include "testsuite/sim/devices.h"
#include "testsuite/sim/oracle.h"

namespace slurmkube::sim
{

/* What an agent sees, in this order: the truth; a selector that selects no node; the kubeconfig
 * of a cluster without these nodes; lists without pods; the kubeconfig of a cluster without any
 * of our objects. */
enum class PodLookup { right, none_selected, no_nodes, no_pods, other_cluster };

struct Models {
	Stage &stage;
	Kube &kube;
	Devices &devices;
	Slurm &slurm;
	Api &api;
	Rpc &rpc;
	Oracle &oracle;
};

struct Life {
	unsigned agent = 0;
	std::uint64_t number = 0;
	std::function<bool()> goes_on;
	/* Runs the call at once, or when the agent is no longer frozen, or never if this life is
	 * over. */
	std::function<void(Timeline::Call)> hear;
};

/* Wraps done so that only this life of the agent receives the answer. */
template <class T> agent::Answer<T> heard(const Life &life, agent::Answer<T> done)
{
	return [hear = life.hear, done = std::move(done)](
		       const Result<T> &result) { hear([done, result] { done(result); }); };
}

class ModelKube final : public agent::KubeSide
{
      public:
	ModelKube(const Models &models, Life life, const PodLookup &sight)
	    : models_(models), life_(std::move(life)), sight_(sight)
	{
	}

	void bind(kube::BindPod bind, agent::Done done) override;
	void set_conditions(const kube::SetConditions &write, agent::Done done) override;
	/* nodes.report_drains is off */
	void report_drain(const core::ReportDrain &, std::int64_t, agent::Done) override {}
	void remove(const agent::DeletePod &what, agent::Done done) override;
	void provide(const core::ClaimStep &step, agent::Done done) override;
	void tell(const core::Pod &, bool, const char *, const core::Condition &) override {}
	void get_pod(const std::string &name_space, const std::string &name,
		agent::Answer<core::Pod> done) override;
	void find_pod(const std::string &name_space, std::function<bool(const core::Pod &)> is_it,
		agent::Answer<bool> done) override;
	void get_owner(
		const core::OwnerId &id, agent::Answer<std::optional<core::Owner>> done) override;
	void look_at_node(const std::string &name, agent::Answer<core::NodeLookup> done) override;
	void cluster_uid(agent::Answer<std::string> done) override;
	void after(std::chrono::milliseconds delay, std::function<void()> call) override;

      private:
	void post_binding(const kube::BindPod &bind, const kube::Done &done);
	template <class T>
	void ask(std::uint64_t key, std::function<Result<T>()> effect, agent::Answer<T> done);

	const Models models_;
	const Life life_;
	const PodLookup &sight_;
};

class ModelSlurm final : public agent::SlurmSide
{
      public:
	ModelSlurm(const Models &models, Life life) : models_(models), life_(std::move(life)) {}

	/* The pod whose action is carried out next. */
	void set_pod(const core::PodUid &pod) { pod_ = pod.text; }

	void submit(const core::JobSpec &spec, agent::Answer<core::Submitted> done) override;
	void update(core::JobId job, const core::Update &change, agent::Done done) override;
	void complete(
		const core::MarkedJob &job, std::uint32_t wait_status, agent::Done done) override;
	void expire(const core::MarkedJob &job, agent::Done done) override;
	void cancel(const core::MarkedJob &job, agent::Done done) override;
	void give_up(const core::MarkedJob &job, agent::Done done) override;
	void create_node(
		const core::NodeSpec &spec, core::Family family, agent::Done done) override;
	void delete_node(const std::string &name, agent::Done done) override;
	void set_node_state(const core::SetNodeState &change, agent::Done done) override;
	void set_node_extra(const core::SetNodeExtra &change, agent::Done done) override;

      private:
	void end_job(core::JobId job, std::optional<std::uint32_t> wait_status, bool for_absence,
		const agent::Done &done);

	const Models models_;
	const Life life_;
	std::string pod_;
	std::set<std::string> submitted_here_; /* for Plant::dropped_complete */
};

} // namespace slurmkube::sim

#endif
