/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "testsuite/sim/script.h"

#include <array>

namespace slurmkube::sim
{

namespace
{

constexpr auto k_kinds = static_cast<std::size_t>(Kind::count_);

struct Row {
	Kind kind;
	unsigned weight;
	const char *text;
};

constexpr std::array<Row, k_kinds> k_rows{{
	{Kind::create_pod, 200, "a user creates a pod"},
	{Kind::create_owner, 30, "a user creates a Job or StatefulSet"},
	{Kind::create_gang, 25, "a user creates pods that start together"},
	{Kind::delete_gang, 6, "a user deletes the owner of a gang"},
	{Kind::suspend_gang, 3, "the owner of a gang is suspended"},
	{Kind::resume_gang, 8, "the owner of a gang is resumed"},
	{Kind::create_bound_pod, 8, "a user creates a pod with spec.nodeName"},
	{Kind::foreign_bind, 4, "somebody else binds a pod"},
	{Kind::open_gates, 20, "scheduling gates are opened"},
	{Kind::delete_pod, 60, "a user deletes a pod"},
	{Kind::force_delete_pod, 15, "a user deletes a pod by force"},
	{Kind::delete_namespace, 2, "a namespace is emptied"},
	{Kind::drop_finalizers, 20, "finalizers are removed"},
	{Kind::fail_unbound_pod, 3, "somebody sets a waiting pod Failed"},
	{Kind::end_containers, 60, "containers end"},
	{Kind::pressure_eviction, 8, "a kubelet evicts a pod"},
	{Kind::cordon, 6, "a node is cordoned"},
	{Kind::uncordon, 10, "a node is uncordoned"},
	{Kind::taint, 4, "a node's taints change"},
	{Kind::kubelet_stops, 6, "a kubelet stops"},
	{Kind::kubelet_returns, 14, "a kubelet returns"},
	{Kind::outage, 2, "all kubelets but one stop"},
	{Kind::delete_node, 3, "a node is deleted from Kubernetes"},
	{Kind::add_node, 8, "a node comes back to Kubernetes"},
	{Kind::unlabel_node, 2, "a node's managed label changes"},
	{Kind::unlabel_all, 1, "all nodes lose the managed label"},
	{Kind::label_all, 8, "all nodes get the managed label"},
	{Kind::api_away, 4, "the API server is away"},
	{Kind::api_trouble, 12, "the API server answers badly"},
	{Kind::api_stall, 4, "the API server stalls"},
	{Kind::refuse_bindings, 3, "bindings are refused"},
	{Kind::break_watch, 20, "a watch breaks"},
	{Kind::expire_watch, 10, "a watch expires"},
	{Kind::slow_watch, 12, "a watch is slow"},
	{Kind::repeat_events, 10, "a watch repeats events"},
	{Kind::scancel, 50, "scancel"},
	{Kind::hold, 8, "scontrol hold"},
	{Kind::release, 16, "scontrol release"},
	{Kind::preempt, 12, "a job is preempted"},
	{Kind::suspend, 3, "scontrol suspend"},
	{Kind::resume_job, 8, "scontrol resume"},
	{Kind::time_out, 8, "a job reaches its time limit"},
	{Kind::write_over_marker, 12, "a script writes over a marker"},
	{Kind::native_job, 20, "a native job comes or goes"},
	{Kind::other_clusters_job, 8, "a job of another Kubernetes cluster comes or goes"},
	{Kind::drain_node, 5, "an administrator drains a node"},
	{Kind::down_node, 4, "an administrator sets a node DOWN"},
	{Kind::resume_node, 14, "an administrator resumes a node"},
	{Kind::refuse_jobs, 5, "Slurm refuses jobs"},
	{Kind::full_queue, 5, "Slurm's queue is full"},
	{Kind::lose_answers, 6, "slurmctld's answers are lost"},
	{Kind::slurmctld_killed, 10, "slurmctld is killed"},
	{Kind::slurmctld_restored, 5, "slurmctld is restored from an older state"},
	{Kind::fail_over, 4, "slurmctld fails over"},
	{Kind::break_link, 10, "the link breaks"},
	{Kind::slow_link, 8, "the link is slow"},
	{Kind::kill_agent, 20, "an agent is killed"},
	{Kind::wrong_config, 3, "an agent is restarted with a wrong configuration"},
	{Kind::freeze_agent, 6, "an agent is frozen"},
	{Kind::step_clock, 4, "the host's clock steps"},
}};

/* Each seed has its own mix of events: some kinds never occur, some occur often. */
std::array<unsigned, k_kinds> climate(std::uint64_t seed)
{
	std::array<unsigned, k_kinds> weights{};
	for (std::size_t i = 0; i < k_kinds; i++) {
		const std::uint64_t draw = mix(seed ^ mix(i + 1)) % 10;
		const unsigned factor = draw < 2 ? 0 : draw < 8 ? 10 : 40;
		weights[i] = k_rows[i].weight * (k_rows[i].kind == Kind::create_pod ? 10 : factor);
	}
	return weights;
}

/* Bursts, pauses, and occasionally up to 40 seconds without an event. */
Micros pause_of(std::uint64_t number)
{
	const std::uint64_t sort = number % 100;
	const auto width = static_cast<Micros>((number >> 8) % 1000);
	if (sort < 40)
		return width * 10; /* up to 10 ms */
	if (sort < 85)
		return width * k_ms / 2; /* up to half a second */
	if (sort < 98)
		return width * 4 * k_ms; /* up to 4 s */
	return width * 40 * k_ms;        /* up to 40 s */
}

} // namespace

const char *text_of(Kind kind)
{
	return k_rows[static_cast<std::size_t>(kind)].text;
}

Script write_script(std::uint64_t seed, unsigned events)
{
	const auto weights = climate(mix(seed));
	std::uint64_t total = 0;
	for (const unsigned weight : weights)
		total += weight;
	Script script;
	Micros at = 3 * k_second;
	for (unsigned i = 0; i < events; i++) {
		const std::uint64_t number = mix(mix(seed) + i + 1);
		std::uint64_t rest = mix(number + 1) % total;
		std::size_t kind = 0;
		while (rest >= weights[kind])
			rest -= weights[kind++];
		at += pause_of(mix(number + 2));
		script.push_back({at, k_rows[kind].kind, number});
	}
	return script;
}

} // namespace slurmkube::sim
