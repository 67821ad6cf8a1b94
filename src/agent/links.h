/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * links.h - the agent's implementations of KubeSide and SlurmSide: the API server, and slurmctld by
 * libslurm. The simulator has others.
 */
#ifndef SLURMKUBE_AGENT_LINKS_H
#define SLURMKUBE_AGENT_LINKS_H

#include "src/agent/event_recorder.h"
#include "src/agent/kube/client.h"
#include "src/agent/sides.h"
#include "src/agent/slurm/calls.h"

namespace slurmkube::agent
{

class ApiServer final : public KubeSide
{
      public:
	ApiServer(kube::Client &client, EventRecorder &recorder)
	    : client_(client), recorder_(recorder)
	{
	}

	void bind(kube::BindPod bind, Done done) override;
	void set_conditions(const kube::SetConditions &write, Done done) override;
	void report_drain(
		const core::ReportDrain &what, std::int64_t transition_time, Done done) override;
	void remove(const DeletePod &what, Done done) override;
	void provide(const core::ClaimStep &step, Done done) override;
	void tell(const core::Pod &pod, bool warning, const char *action,
		const core::Condition &what) override;
	void get_pod(const std::string &name_space, const std::string &name,
		Answer<core::Pod> done) override;
	void find_pod(const std::string &name_space, std::function<bool(const core::Pod &)> is_it,
		Answer<bool> done) override;
	void get_owner(const core::OwnerId &id, Answer<std::optional<core::Owner>> done) override;
	void look_at_node(const std::string &name, Answer<core::NodeLookup> done) override;
	void cluster_uid(Answer<std::string> done) override;
	void after(std::chrono::milliseconds delay, std::function<void()> call) override;

      private:
	kube::Client &client_;
	EventRecorder &recorder_;
};

class Controller final : public SlurmSide
{
      public:
	/* names: of the nodes in Slurm at any time; must outlive the object */
	Controller(slurm::Calls &calls, const core::NodeNames &names) : calls_(calls), names_(names)
	{
	}

	void submit(const core::JobSpec &spec, Answer<core::Submitted> done) override;
	void update(core::JobId job, const core::Update &change, Done done) override;
	void complete(const core::MarkedJob &job, std::uint32_t wait_status, Done done) override;
	void expire(const core::MarkedJob &job, Done done) override;
	void cancel(const core::MarkedJob &job, Done done) override;
	void give_up(const core::MarkedJob &job, Done done) override;
	void create_node(const core::NodeSpec &spec, core::Family family, Done done) override;
	void delete_node(const std::string &name, Done done) override;
	void set_node_state(const core::SetNodeState &change, Done done) override;
	void set_node_extra(const core::SetNodeExtra &change, Done done) override;

      private:
	slurm::Calls &calls_;
	const core::NodeNames &names_;
};

} // namespace slurmkube::agent

#endif
