/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the agent carries out actions through the executor. Each action is reported to the oracle
 * first. */
#include "testsuite/sim/agent.h"

namespace slurmkube::sim
{

/* The current life. Answers to its requests do not reach a later one. */
Life Agent::life()
{
	Life life;
	life.agent = number_;
	life.number = life_;
	life.goes_on = [this, number = life_] { return number == life_; };
	life.hear = [this, number = life_](Timeline::Call call) {
		struct Delivery {
			Agent *agent;
			std::uint64_t life;
			Timeline::Call call;
			void operator()() const
			{
				if (life == agent->life_ && !agent->defer(*this))
					call();
			}
		};
		Delivery{this, number, std::move(call)}();
	};
	return life;
}

void Agent::begins(const core::PodUid &pod, const core::Action &action)
{
	const auto acts = [this](const char *what) { oracle_.acts(number_, has_snapshot_, what); };
	if (std::holds_alternative<core::Submit>(action))
		acts("submits a job");
	if (std::holds_alternative<core::Cancel>(action) ||
		std::holds_alternative<core::Complete>(action))
		acts("ends a job");
	if (const auto *bind = std::get_if<core::Bind>(&action)) {
		acts("binds a pod");
		oracle_.binds(pod.text, *bind);
	}
	if (!std::holds_alternative<core::DeletePod>(action))
		return;
	acts("deletes a pod");
	if (world_->state().pod(pod))
		oracle_.removes(pod.text);
}

void Agent::carry_out(const core::PodUid &pod, const core::Action &action)
{
	begins(pod, action);
	slurm_side_->set_pod(pod);
	executor_->carry_out(pod, action);
}

void Agent::carry_out(const core::NodeAction &action)
{
	oracle_.acts(number_, has_snapshot_, "changes a node");
	executor_->carry_out(action);
}

} // namespace slurmkube::sim
