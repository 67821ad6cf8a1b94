/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulation.h - one run: the models, two agents and a script; then all faults end, and the oracle
 * does its final check.
 */
#ifndef SLURMKUBE_TESTSUITE_SIM_SIMULATION_H
#define SLURMKUBE_TESTSUITE_SIM_SIMULATION_H

#include "testsuite/sim/agent.h"
#include "testsuite/sim/script.h"

namespace slurmkube::sim
{

struct Outcome {
	std::string invariant, violation; /* empty: none */
	std::vector<std::string> story;
	std::uint64_t steps = 0;
};

class Simulation
{
      public:
	Simulation(std::uint64_t seed, Plant plant, bool tells);
	Outcome run(const Script &script);

      private:
	bool advance(Micros until);
	void happen(const Event &event);
	void happen_in_kube(const Event &event);
	void happen_to_nodes(const Event &event);
	void happen_to_api(const Event &event);
	void happen_in_slurm(const Event &event);
	void happen_to_parts(const Event &event);
	[[nodiscard]] std::uint64_t requests() const;
	void settle();
	void calm_down();
	void start_late_gangs();
	[[nodiscard]] PodTruth drawn_pod(const Event &event) const;
	[[nodiscard]] GangTruth drawn_gang(const Event &event) const;
	/* Each of these applies body to a pod, gang, job or node that qualifies, drawn by the
	 * event. */
	void with_pod(const Event &event, const std::function<bool(const PodTruth &)> &wanted,
		const std::function<void(PodTruth &)> &body);
	void with_gang(const Event &event, const std::function<bool(const GangTruth &)> &wanted,
		const std::function<void(const GangTruth &)> &body);
	void with_job(const Event &event, const std::function<bool(const JobTruth &)> &wanted,
		const std::function<void(std::uint32_t)> &body);
	void with_node(const Event &event, const std::function<bool(const NodeTruth &)> &wanted,
		const std::function<void(NodeTruth &)> &body);
	/* Applies act to one of the streams of an agent, drawn by the event. */
	template <class F> void with_stream(const Event &event, const F &act)
	{
		Agent &agent = agent_of(event);
		const std::uint64_t draw = devices_.are_there() ? mix(event.number + 9) % 4 : 2;
		if (draw < 2)
			draw == 0 ? act(agent.claims) : act(agent.slices);
		else
			event.number % 3 != 0 ? act(agent.pods) : act(agent.nodes);
	}
	Agent &agent_of(const Event &event) { return *agents_[mix(event.number + 5) % 2]; }
	/* A time from lowest to highest inclusive, drawn by the event. */
	static Micros span(const Event &event, Micros lowest, Micros highest);

	const std::uint64_t seed_;
	const bool is_dark_; /* at the end all nodes go away and stay away */
	const bool starts_gangs_;
	Stage stage_;
	Kube kube_;
	Devices devices_;
	Gangs gangs_;
	Slurm slurm_;
	Oracle oracle_;
	Api api_;
	Rpc rpc_;
	std::unique_ptr<Agent> agents_[2];
	std::uint64_t steps_ = 0;
};

} // namespace slurmkube::sim

#endif
