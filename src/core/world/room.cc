/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about an allocation that cannot take its pods. A pod that cannot be bound must not be
 * charged for long (decision 11).
 *
 * Slurm may start a job where another pod still is: that pod is ending, its job was suspended
 * (which stops no pod), or the partition gives out CPUs twice. Or the node is away, together with
 * so many others that this is not believed. The admission check before the binding then holds the
 * pod back, while Slurm charges the job and its time limit runs. So the allocation is given back
 * after a while, and the pod's next jobs exclude the node until it can take the pod. Partitions
 * that give out CPUs twice are refused from the start. If pods of a gang are bound, its allocation
 * cannot be given back: a pod without a place gets a job of its own.
 */
#include "src/core/placement/placement.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"
#include "src/core/world/peers.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* After a binding that an earlier one of the same round has made impossible. */
constexpr std::int64_t k_room_again_us = 1'000'000;
constexpr std::size_t k_crowded_most = 64; /* given-back nodes that a pod avoids */

/* Whatever keeps the pod off the node of its rank. */
bool is_placeless(const RankFacts &r)
{
	const bool is_forbidden =
		r.side == PodSide::waiting && r.holds_rank && !r.node.forbidden.empty();
	return is_crowded_out(r) || (is_forbidden && !r.node.name.empty());
}

/* is_more: the node is none of those that were judged for the pod's template */
void exclude(
	const std::string &node, const std::string &why, bool is_more, NodeExclusions &exclusions)
{
	const auto place = std::ranges::lower_bound(exclusions.excluded, node);
	if (place != exclusions.excluded.end() && *place == node)
		return;
	exclusions.excluded.insert(place, node);
	exclusions.candidates += is_more ? 1U : 0U;
	exclusions.reasons[why]++;
}

} // namespace

/* Only while nothing of the component runs, because the others may wait for what runs. */
bool FactsReader::is_room_late(const PodUid &key, const ComponentFacts &f) const
{
	const bool is_so = job_side(f.job) == JobSide::allocated && is_untouched(f) &&
		std::ranges::any_of(f.ranks, is_crowded_out);
	return found_.is_over(
		key, Clock::room, is_so, state_.settings.room_wait_us, state_.sync.synced_us());
}

bool FactsReader::has_hybrid_nodes(const SlurmJob &job) const
{
	return std::ranges::any_of(job.nodes,
		[&](const NodeAllocation &one) { return is_hybrid(state_.slurm_node(one.node)); });
}

/* A slurmd that is killed during Prolog, and a slurmctld that is killed before it has saved the end
 * of Prolog, never tell that it is over. */
bool FactsReader::is_prolog_late(const PodUid &key, const ComponentFacts &f) const
{
	const bool is_so = job_side(f.job) == JobSide::allocated && f.job->configuring &&
		is_untouched(f) && has_hybrid_nodes(*f.job);
	return found_.is_over(
		key, Clock::prolog, is_so, state_.settings.prolog_wait_us, state_.sync.synced_us());
}

/* A Prolog that fails drains the nodes, as Slurm does it for a batch job, which it then holds. A
 * job whose Prolog fails everywhere must not get all nodes out of service. */
std::int64_t FactsReader::pause_after(
	const SlurmJob &job, std::uint32_t next_attempt, unsigned failures) const
{
	if (ended_with_prolog(job) && next_attempt > 2 && has_hybrid_nodes(job))
		failures = std::max(failures, next_attempt - 2);
	return std::max(pause_before(next_attempt), pause_after_failed_bindings(failures));
}

/* A binding may fail for good: a policy of the site forbids it, the agent has lost its rights, or a
 * webhook does not answer. Requests in flight do not stop the clock, because the binding is tried
 * again. */
bool FactsReader::is_unbindable_long(const PodUid &key, const ComponentFacts &f) const
{
	const auto is_failing = [](const RankFacts &r) {
		return r.bind_failure && (r.busy.bind || r.side == PodSide::waiting);
	};
	const auto is_confirmed = [](const RankFacts &r) { return is_bound(r) && !r.busy.bind; };
	const bool is_so = job_side(f.job) == JobSide::allocated &&
		std::ranges::none_of(f.ranks, is_confirmed) &&
		std::ranges::any_of(f.ranks, is_failing);
	return found_.is_over(key, Clock::unbindable, is_so, state_.settings.room_wait_us,
		state_.sync.synced_us());
}

/*
 * For pods without a place while others of the gang are bound. The others may do well without such
 * a pod, so they are not ended for it. Alone, it gets the next free node, or waits without being
 * charged.
 */
void FactsReader::note_placeless(ComponentFacts &f) const
{
	const bool is_held = job_side(f.job) == JobSide::allocated && !is_untouched(f);
	const std::int64_t limit_us = state_.settings.gang_wait_us;
	for (RankFacts &r : f.ranks) {
		if (r.side != PodSide::waiting)
			continue;
		const bool is_so = is_held && is_placeless(r) && !r.busy.bind && !r.busy.remove;
		r.is_placeless_long = found_.is_over(
			r.uid, Clock::placeless, is_so, limit_us, state_.sync.synced_us());
		const std::int64_t since_us = clocks_.since(r.uid, Clock::placeless);
		if (!r.is_placeless_long ||
			state_.pods.at(r.uid).unbound_at_us < since_us + limit_us)
			continue;
		found_.stop(r.uid, Clock::placeless);
		found_.leaving.push_back({r.uid, r.rank, r.node.name});
	}
	drop_leaving(f, found_);
}

void note_crowded(Component &component, Crowded crowded)
{
	std::erase_if(
		component.crowded, [&](const Crowded &one) { return one.node == crowded.node; });
	if (component.crowded.size() >= k_crowded_most)
		component.crowded.erase(component.crowded.begin());
	component.crowded.push_back(std::move(crowded));
}

namespace
{

/* Notes all nodes that cannot take their pods, with what the pods that were to go there request
 * together. */
void note_all_crowded(Component &component, const ComponentFacts &f)
{
	std::map<std::string, Occupancy> wanted;
	for (const RankFacts &r : f.ranks) {
		if (is_placeless(r))
			(void)wanted[r.node.name];
	}
	for (const RankFacts &r : f.ranks) {
		const auto node =
			r.side == PodSide::waiting ? wanted.find(r.node.name) : wanted.end();
		if (node != wanted.end())
			(void)node->second.take(r.node.name, r.uid, r.pod->requests);
	}
	for (const auto &[node, pods] : wanted)
		note_crowded(component, {node, pods.held(node)});
}

/* Each pod would get such a node, because nothing else uses it, and each would be charged until it
 * gives it back. */
bool note_recordless(State &state, const ComponentFacts &f)
{
	const std::size_t before = state.recordless_nodes.size();
	for (const RankFacts &r : f.ranks) {
		if (r.side == PodSide::waiting && !r.node.has_record &&
			state.kube_nodes.contains(r.node.name) &&
			state.recordless_nodes.size() < k_crowded_most)
			state.recordless_nodes.insert(r.node.name);
	}
	return state.recordless_nodes.size() > before;
}

} // namespace

bool note_nodes_given_back(State &state, Component &component, const ComponentFacts &f)
{
	note_all_crowded(component, f);
	return note_recordless(state, f);
}

/* The pod that takes up the room there; one that is ending is preferred to one that runs. */
std::string FactsReader::holder_text(const std::string &node) const
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

/* Why the node cannot take the pod at present; empty: it can. */
std::string FactsReader::crowded_text(const Crowded &crowded, const Pod &pod) const
{
	const std::string &node = crowded.node;
	const auto kube = state_.kube_nodes.find(node);
	if (kube == state_.kube_nodes.end())
		return "is not managed in Kubernetes";
	if (!kube->second.ready)
		return "is not Ready in Kubernetes";
	if (const auto refusal = cordon_refuses(pod, kube->second))
		return refusal->why;
	if (!state_.occupancy.has_room(node, filter_.room_on(state_, kube->second),
		    crowded.need.value_or(pod.requests)))
		return "has no room, and its allocation was given back: " + holder_text(node);
	return {};
}

/* A node that Slurm gives to no job need not be excluded, and the job keeps its place in the
 * queue. */
void FactsReader::exclude_crowded(
	const PodUid &uid, const Pod &pod, NodeExclusions &exclusions) const
{
	for (const Crowded &one : state_.components.at(uid).crowded) {
		const std::string why = state_.slurm_nodes.contains(one.node)
			? crowded_text(one, pod)
			: std::string();
		if (why.empty()) {
			found_.nodes_with_room.push_back(one.node);
			continue;
		}
		found_.waits_for_nodes.push_back(one.node);
		const SlurmNode &record = state_.slurm_nodes.at(one.node);
		if (record.drain || record.base == NodeBase::down)
			continue;
		exclude(one.node, why, !state_.kube_nodes.contains(one.node), exclusions);
	}
}

void FactsReader::exclude_recordless(NodeExclusions &exclusions) const
{
	for (const std::string &node : state_.recordless_nodes) {
		found_.waits_for_nodes.push_back(node);
		exclude(node,
			"is no external node of this Kubernetes cluster in Slurm (skube check, "
			"line nodes)",
			true, exclusions);
	}
}

/* Whether the binding has become impossible. Bindings of the same round take room that the next one
 * may need, and may keep it off its node. */
bool World::take_back(const PodUid &key, const Bind &bind, const PodUid &uid, Now now)
{
	const auto node = state_.kube_nodes.find(bind.node);
	const PodEntry &entry = state_.pods.at(uid);
	if (is_concerned(state_, *entry.pod) && node != state_.kube_nodes.end() &&
		state_.gangs.contains(key)) {
		PlaceFacts again;
		again.has_room = true;
		filter_.check(state_, uid, entry, node->second, again);
		if (!again.forbidden.empty() || !again.has_room) {
			look_later(key, now.mono_us + k_room_again_us);
			return true;
		}
	}
	if (state_.pods.at(uid).held_node == bind.node)
		return false; /* counted already */
	if (node != state_.kube_nodes.end() &&
		state_.occupancy.has_room(bind.node, filter_.room_on(state_, node->second),
			state_.pods.at(uid).pod->requests))
		return false;
	waiters_[bind.node].insert(key);
	return true;
}

} // namespace slurmkube::core
