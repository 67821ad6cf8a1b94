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
bool is_placeless(const MemberFacts &m)
{
	const bool is_forbidden = m.side == PodSide::waiting && m.has_seat && !m.forbidden.empty();
	return is_crowded_out(m) || (is_forbidden && !m.node.empty());
}

} // namespace

bool World::is_room_late(const PodUid &uid, Group &group, const GroupFacts &f, Now now)
{
	if (f.has_room) {
		group.room_wait_since_us = 0;
		return false;
	}
	if (group.room_wait_since_us < sync_.synced_us() || group.room_wait_since_us == 0) {
		group.room_wait_since_us = now.mono_us;
		look_later(uid, now.mono_us + settings_.room_wait_us);
	}
	return now.mono_us - group.room_wait_since_us >= settings_.room_wait_us;
}

/* While nothing of the gang runs: what runs may be what the others wait for. */
bool World::is_gang_room_late(const PodUid &lead, Group &group, const GangFacts &f, Now now)
{
	const bool is_so = job_side(f.job) == JobSide::allocated && is_untouched(f) && std::ranges::any_of(f.members, is_crowded_out);
	if (group.room_wait_since_us < sync_.synced_us())
		group.room_wait_since_us = 0;
	return is_over(lead, is_so, group.room_wait_since_us, settings_.room_wait_us, now);
}

/*
 * While others of the gang are bound. They may do well without it, so none of them is ended for
 * it; alone it gets the next node that is free, or waits without being charged.
 */
void World::note_placeless(const PodUid &lead, Gang &gang, GangFacts &f, Now now)
{
	const bool is_held = job_side(f.job) == JobSide::allocated && !is_untouched(f);
	const std::int64_t limit_us = settings_.gang_wait_us;
	for (MemberFacts &m : f.members) {
		if (m.side != PodSide::waiting)
			continue;
		Group &group = groups_.at(m.uid);
		if (group.room_wait_since_us < sync_.synced_us())
			group.room_wait_since_us = 0;
		const bool is_so = is_held && is_placeless(m) && !m.busy.bind && !m.busy.remove;
		m.is_placeless_long = is_over(lead, is_so, group.room_wait_since_us, limit_us, now);
		if (!m.is_placeless_long || group.unbound_at_us < group.room_wait_since_us + limit_us)
			continue;
		group.room_wait_since_us = 0;
		note_crowded(group, {m.node, std::nullopt});
		if (gang.minimum == 0)
			gang.standalone.insert(m.seat);
		leave(gang, m.uid);
	}
	const auto has_left = [&](const MemberFacts &m) { return !gang.members.contains(m.uid); };
	std::erase_if(f.members, has_left);
}

void World::note_crowded(Group &group, Crowded crowded)
{
	std::erase_if(group.crowded, [&](const Crowded &one) { return one.node == crowded.node; });
	if (group.crowded.size() >= k_crowded_most)
		group.crowded.erase(group.crowded.begin());
	group.crowded.push_back(std::move(crowded));
}

/* All such nodes, and what the pods that were to go there need together. */
void World::note_crowded(Group &lead, const GangFacts &f)
{
	std::map<std::string, Occupancy> wanted;
	for (const MemberFacts &m : f.members) {
		if (is_placeless(m))
			(void)wanted[m.node];
	}
	for (const MemberFacts &m : f.members) {
		const auto node = m.side == PodSide::waiting ? wanted.find(m.node) : wanted.end();
		if (node != wanted.end())
			(void)node->second.take(m.node, m.uid, m.pod->requests);
	}
	for (const auto &[node, pods] : wanted)
		note_crowded(lead, {node, pods.held(node)});
}

/* Who is in the way there; one that is ending before one that runs. */
std::string World::holder_text(const std::string &node) const
{
	const Group *running = nullptr;
	for (const PodUid &uid : occupancy_.holders(node)) {
		const auto found = groups_.find(uid);
		if (found == groups_.end() || !found->second.pod)
			continue;
		if (found->second.pod->deleting)
			return "an earlier pod is still ending: " + name_of(*found->second.pod);
		running = &found->second;
	}
	if (!running)
		return {};
	const std::string text = "an earlier pod still runs: " + name_of(*running->pod);
	const SlurmJob *job = job_of(*running);
	if (job_side(job) != JobSide::allocated)
		return text;
	const std::string number = std::to_string(job->id.number);
	if (job->state == JobState::suspended)
		return text + ". Slurm has suspended its job " + number + ", which stops no pod: an administrator should set PreemptMode=CANCEL for its partition";
	return text + ", and its job " + number + " runs as well: has the partition OverSubscribe=FORCE?";
}

/* Why the node cannot take it now; empty: it can. */
std::string World::crowded_text(const Crowded &crowded, const Pod &pod) const
{
	const std::string &node = crowded.node;
	const auto kube = kube_nodes_.find(node);
	if (kube == kube_nodes_.end())
		return "is not managed in Kubernetes";
	if (!kube->second.ready)
		return "is not Ready in Kubernetes";
	if (const auto refusal = cordon_refuses(pod, kube->second))
		return refusal->why;
	if (!occupancy_.has_room(node, room_on(kube->second), crowded.need.value_or(pod.requests)))
		return "has no room, and its allocation was given back: " + holder_text(node);
	return {};
}

/* What Slurm gives to nobody need not be excluded: the job keeps its place in the queue. */
void World::exclude_crowded(const PodUid &uid, const Pod &pod, Places &places)
{
	std::vector<Crowded> &crowded = groups_.at(uid).crowded;
	std::erase_if(crowded, [&](const Crowded &one) {
		return !slurm_nodes_.contains(one.node) || crowded_text(one, pod).empty();
	});
	for (const Crowded &one : crowded) {
		waiters_[one.node].insert(uid);
		const SlurmNode &record = slurm_nodes_.at(one.node);
		if (record.drain || record.base == NodeBase::down)
			continue;
		const auto place = std::ranges::lower_bound(places.excluded, one.node);
		if (place != places.excluded.end() && *place == one.node)
			continue;
		places.excluded.insert(place, one.node);
		places.candidates += kube_nodes_.contains(one.node) ? 0U : 1U;
		places.reasons[crowded_text(one, pod)]++;
	}
}

void World::partitions_refused(std::map<std::string, std::string> refused)
{
	if (refused == refused_partitions_)
		return;
	refused_partitions_ = std::move(refused);
	place_changed();
}

/* partitions: as for sbatch, with commas */
Status World::is_fit_for_pods(const std::string &partitions) const
{
	for (std::size_t at = 0; at < partitions.size() && !refused_partitions_.empty();) {
		const std::size_t end = std::min(partitions.find(',', at), partitions.size());
		const auto refused = refused_partitions_.find(partitions.substr(at, end - at));
		if (refused != refused_partitions_.end())
			return Error{Errc::invalid, "partition '" + refused->first + "' " + refused->second};
		at = end + 1;
	}
	return Ok{};
}

} // namespace slurmkube::core
