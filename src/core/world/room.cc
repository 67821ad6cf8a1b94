/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/room.cc - the part of World that sees to it that nothing is charged for a pod that cannot be bound.
 *
 * Slurm may start a job where another pod still is: that one is ending, its job was suspended
 * (no pod is), or the partition gives CPUs out twice. Or the node is away, and so many others
 * with it that it is not believed. The binding gate holds the pod back while Slurm charges its
 * job and its time limit runs. So the allocation is given back after a while, and until the node
 * can take the pod it is excluded for it. Partitions that give CPUs out twice are refused from
 * the start. Of a gang of which pods are bound nothing can be given back: who has no place gets
 * a job of its own (doc/design/decisions/0011).
 */
#include "src/core/placement/placement.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_crowded_most = 64; /* nodes that a pod has given back and avoids */

std::string name_of(const Pod &pod)
{
	return pod.name_space + "/" + pod.name;
}

/* Whatever it is that keeps it off the node of its seat. */
bool is_placeless(const RankFacts &r)
{
	const bool is_forbidden = r.side == PodSide::waiting && r.has_seat && !r.node.forbidden.empty();
	return is_crowded_out(r) || (is_forbidden && !r.node.name.empty());
}

} // namespace

/* While nothing of it runs: what runs may be what the others wait for. */
bool World::is_room_late(const PodUid &key, const ComponentFacts &f, Now now)
{
	const bool is_so = job_side(f.job) == JobSide::allocated && is_untouched(f) && std::ranges::any_of(f.ranks, is_crowded_out);
	clocks_.stop_before(key, Clock::room, state_.sync.synced_us());
	return is_over(key, Clock::room, is_so, state_.settings.room_wait_us, now);
}

/*
 * While others of the gang are bound. They may do well without it, so none of them is ended for
 * it; alone it gets the next node that is free, or waits without being charged.
 */
void World::note_placeless(Gang &gang, ComponentFacts &f, Now now)
{
	const bool is_held = job_side(f.job) == JobSide::allocated && !is_untouched(f);
	const std::int64_t limit_us = state_.settings.gang_wait_us;
	for (RankFacts &r : f.ranks) {
		if (r.side != PodSide::waiting)
			continue;
		clocks_.stop_before(r.uid, Clock::placeless, state_.sync.synced_us());
		const bool is_so = is_held && is_placeless(r) && !r.busy.bind && !r.busy.remove;
		r.is_placeless_long = is_over(r.uid, Clock::placeless, is_so, limit_us, now);
		if (!r.is_placeless_long || state_.pods.at(r.uid).unbound_at_us < clocks_.since(r.uid, Clock::placeless) + limit_us)
			continue;
		clocks_.stop(r.uid, Clock::placeless);
		note_crowded(state_.components[r.uid], {r.node.name, std::nullopt});
		if (gang.minimum == 0)
			gang.standalone.insert(r.seat);
		leave(gang, r.uid);
	}
	const auto has_left = [&](const RankFacts &r) { return !gang.members.contains(r.uid); };
	std::erase_if(f.ranks, has_left);
}

void World::note_crowded(Component &component, Crowded crowded)
{
	std::erase_if(component.crowded, [&](const Crowded &one) { return one.node == crowded.node; });
	if (component.crowded.size() >= k_crowded_most)
		component.crowded.erase(component.crowded.begin());
	component.crowded.push_back(std::move(crowded));
}

/* All such nodes, and what the pods that were to go there need together. */
void World::note_crowded(Component &component, const ComponentFacts &f)
{
	std::map<std::string, Occupancy> wanted;
	for (const RankFacts &r : f.ranks) {
		if (is_placeless(r))
			(void)wanted[r.node.name];
	}
	for (const RankFacts &r : f.ranks) {
		const auto node = r.side == PodSide::waiting ? wanted.find(r.node.name) : wanted.end();
		if (node != wanted.end())
			(void)node->second.take(r.node.name, r.uid, r.pod->requests);
	}
	for (const auto &[node, pods] : wanted)
		note_crowded(component, {node, pods.held(node)});
}

/* Who is in the way there; one that is ending before one that runs. */
std::string World::holder_text(const std::string &node) const
{
	const Pod *running = nullptr;
	for (const PodUid &uid : state_.occupancy.holders(node)) {
		const Pod *pod = state_.pod(uid);
		if (!pod)
			continue;
		if (pod->deleting)
			return holder_ends(name_of(*pod));
		running = pod;
	}
	if (!running)
		return {};
	const SlurmJob *job = state_.job_of(running->uid);
	return holder_runs(name_of(*running), job_side(job) == JobSide::allocated ? job : nullptr);
}

/* Why the node cannot take it now; empty: it can. */
std::string World::crowded_text(const Crowded &crowded, const Pod &pod) const
{
	const std::string &node = crowded.node;
	const auto kube = state_.kube_nodes.find(node);
	if (kube == state_.kube_nodes.end())
		return "is not managed in Kubernetes";
	if (!kube->second.ready)
		return "is not Ready in Kubernetes";
	if (const auto refusal = cordon_refuses(pod, kube->second))
		return refusal->why;
	if (!state_.occupancy.has_room(node, filter_.room_on(state_, kube->second), crowded.need.value_or(pod.requests)))
		return "has no room, and its allocation was given back: " + holder_text(node);
	return {};
}

/* What Slurm gives to nobody need not be excluded: the job keeps its place in the queue. */
void World::exclude_crowded(const PodUid &uid, const Pod &pod, Places &places)
{
	std::vector<Crowded> &crowded = state_.components.at(uid).crowded;
	std::erase_if(crowded, [&](const Crowded &one) {
		return !state_.slurm_nodes.contains(one.node) || crowded_text(one, pod).empty();
	});
	for (const Crowded &one : crowded) {
		waiters_[one.node].insert(uid);
		const SlurmNode &record = state_.slurm_nodes.at(one.node);
		if (record.drain || record.base == NodeBase::down)
			continue;
		const auto place = std::ranges::lower_bound(places.excluded, one.node);
		if (place != places.excluded.end() && *place == one.node)
			continue;
		places.excluded.insert(place, one.node);
		places.candidates += state_.kube_nodes.contains(one.node) ? 0U : 1U;
		places.reasons[crowded_text(one, pod)]++;
	}
}

void World::partitions_refused(std::map<std::string, std::string> refused)
{
	if (filter_.set_refused_partitions(std::move(refused)))
		place_changed();
}

} // namespace slurmkube::core
