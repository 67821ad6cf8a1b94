/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world_room.cc - the part of World that sees to it that nothing is charged for a pod that cannot be bound.
 *
 * Slurm may start a job where another pod still is: that one is ending, its job was suspended (no pod is), or the partition gives CPUs out twice. The binding
 * gate holds the pod back while Slurm charges its job and its time limit runs. So the allocation is given back after a while, and until there is room the node
 * is excluded for this pod. Partitions that give CPUs out twice are refused from the start.
 */
#include "src/core/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

std::string name_of(const Pod &pod)
{
	return pod.name_space + "/" + pod.name;
}

} // namespace

bool World::is_room_late(const PodUid &uid, Group &group, const GroupFacts &f, Now now)
{
	if (!f.node_usable || f.has_room) {
		group.room_wait_since_us = 0;
		return false;
	}
	if (group.room_wait_since_us < synced_us_ || group.room_wait_since_us == 0) {
		group.room_wait_since_us = now.mono_us;
		look_later(uid, now.mono_us + settings_.room_wait_us);
	}
	return now.mono_us - group.room_wait_since_us >= settings_.room_wait_us;
}

namespace
{

bool is_crowded_out(const MemberFacts &m)
{
	return m.side == PodSide::waiting && m.has_seat && m.node_usable && !m.has_room;
}

} // namespace

/* While nothing of the gang runs: what runs may be what the others wait for. */
bool World::is_gang_room_late(const PodUid &lead, Group &group, const GangFacts &f, Now now)
{
	const bool is_so = job_side(f.job) == JobSide::allocated && is_untouched(f) && std::ranges::any_of(f.members, is_crowded_out);
	if (group.room_wait_since_us < synced_us_)
		group.room_wait_since_us = 0;
	return is_over(lead, is_so, group.room_wait_since_us, settings_.room_wait_us, now);
}

/* The first such node, and what the pods that were to go there need together. */
void World::note_crowded(Group &lead, const GangFacts &f)
{
	const auto first = std::ranges::find_if(f.members, is_crowded_out);
	if (lead.room_wait_since_us == 0 || first == f.members.end())
		return;
	lead.crowded_node = first->node;
	Occupancy wanted;
	for (const MemberFacts &m : f.members) {
		if (m.side == PodSide::waiting && m.node == first->node)
			(void)wanted.take(m.node, m.uid, m.pod->requests);
	}
	lead.crowded_need = wanted.held(lead.crowded_node);
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

void World::exclude_crowded(const PodUid &uid, const Pod &pod, Places &places)
{
	std::string &crowded = groups_.at(uid).crowded_node;
	const Resources &need = groups_.at(uid).crowded_need ? *groups_.at(uid).crowded_need : pod.requests;
	const auto node = kube_nodes_.find(crowded);
	if (node == kube_nodes_.end() || !slurm_nodes_.contains(crowded) || occupancy_.has_room(crowded, room_on(node->second), need)) {
		crowded.clear();
		return;
	}
	waiters_[crowded].insert(uid);
	const auto place = std::ranges::lower_bound(places.excluded, crowded);
	if (place != places.excluded.end() && *place == crowded)
		return;
	places.excluded.insert(place, crowded);
	places.reasons["has no room, and its allocation was given back: " + holder_text(crowded)]++;
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
