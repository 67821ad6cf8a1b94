/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/peers.h"

#include "src/core/model/selectors.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* By this time after its submission, Slurm has looked at a job and says what it waits for. */
constexpr std::int64_t k_first_look_us = 3'000'000;

const Pod *known_pod(const PodEntry &entry)
{
	return entry.pod ? &*entry.pod : entry.last ? &*entry.last : nullptr;
}

/* Adds the pods that hold a share of any node. For a pod without topology constraints of its own,
 * only pods whose constraints may concern it count. */
void add_holders(const State &state, const PodUid &uid, const Pod &pod, PodTopology &out)
{
	const auto add = [&](const PodUid &other, const PodEntry &entry) {
		if (other != uid && !entry.held_node.empty() && known_pod(entry))
			out.add(*known_pod(entry), state.kube_node(entry.held_node));
	};
	if (is_topology_constrained(pod)) {
		for (const auto &[other, entry] : state.pods)
			add(other, entry);
		for (const auto &[other, foreign] : state.foreign.all())
			out.add(foreign, state.kube_node(foreign.node_name));
		return;
	}
	for (const PodUid &other : state.peers.topology_constrained()) {
		if (const auto entry = state.pods.find(other); entry != state.pods.end())
			add(other, entry->second);
	}
	for (const PodUid &other : state.foreign.topology_constrained())
		out.add(state.foreign.all().at(other),
			state.kube_node(state.foreign.all().at(other).node_name));
}

/* Adds bound pods whose anti-affinity may exclude others from their node. */
void add_anti_affinity(const State &state, const PodUid &uid, NearbyPods &out)
{
	for (const PodUid &other : state.peers.anti_affinity()) {
		const auto entry = state.pods.find(other);
		if (other != uid && entry != state.pods.end() && !entry->second.held_node.empty() &&
			known_pod(entry->second))
			out.there[entry->second.held_node].push_back(known_pod(entry->second));
	}
	for (const PodUid &other : state.foreign.anti_affinity())
		out.there[state.foreign.all().at(other).node_name].push_back(
			&state.foreign.all().at(other));
}

/* Slurm has not looked at the job yet. It starts all such jobs at once, next to each other. */
bool is_not_looked_at(const State &state, const PodUid &uid, const Component &component)
{
	if (component.submitted_us == 0 ||
		state.seen_us >= component.submitted_us + k_first_look_us)
		return false;
	const SlurmJob *job = state.current_job(uid);
	return job_side(job) == JobSide::pending && !job->held &&
		(job->reason.empty() || job->reason == "None");
}

} // namespace

Holders holders_of(const State &state, const std::string &node, const PodUid &except)
{
	Holders out = state.foreign.on(node);
	for (const PodUid &uid : state.occupancy.holders(node)) {
		const auto found = state.pods.find(uid);
		if (uid != except && found != state.pods.end() && known_pod(found->second))
			out.push_back(known_pod(found->second));
	}
	return out;
}

Holders staying_on(const State &state, const std::string &node, const PodUid &except)
{
	Holders out = holders_of(state, node, except);
	std::erase_if(out, [](const Pod *pod) { return pod->deleting; });
	return out;
}

NearbyPods nearby_pods_of(const State &state, const PodUid &uid, const Pod &pod,
	bool with_allocated, std::uint32_t at_once)
{
	NearbyPods out{.there = {}, .topology = PodTopology(pod, at_once)};
	if (!pod.constraints.spreads.empty()) {
		for (const auto &[name, node] : state.kube_nodes)
			out.topology.add_node(node);
	}
	add_holders(state, uid, pod, out.topology);
	if (!with_allocated)
		return out;
	if (!has_pod_constraints(pod))
		add_anti_affinity(state, uid, out);
	for (const PodUid &other : has_pod_constraints(pod) ? state.peers.constrained()
							    : state.peers.anti_affinity()) {
		const auto found = state.pods.find(other);
		if (other == uid || found == state.pods.end() || !found->second.pod ||
			!found->second.held_node.empty())
			continue;
		const SlurmJob *job = state.current_job(other);
		if (job_side(job) != JobSide::allocated || job->nodes.empty())
			continue;
		const std::string &node = job->nodes.front().node;
		out.there[node].push_back(&*found->second.pod);
		out.topology.add(*found->second.pod, state.kube_node(node));
	}
	return out;
}

bool must_wait_for_other(const State &state, const PodUid &uid, const Pod &pod)
{
	const auto is_first = [&](const PodUid &other) {
		const auto found = state.pods.find(other);
		if (other == uid || found == state.pods.end() || !found->second.pod ||
			!found->second.held_node.empty())
			return false;
		const Component *own = state.component(other);
		const Pod &first = *found->second.pod;
		return own &&
			((own->busy.slurm && concerns(first, pod)) ||
				(is_not_looked_at(state, other, *own) && spreads_over(pod, first)));
	};
	return std::ranges::any_of(
		has_pod_constraints(pod) ? state.peers.constrained() : state.peers.anti_affinity(),
		is_first);
}

bool is_concerned(const State &state, const Pod &pod)
{
	return has_pod_constraints(pod) || !state.peers.anti_affinity().empty() ||
		!state.foreign.anti_affinity().empty();
}

} // namespace slurmkube::core
