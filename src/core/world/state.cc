/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/state.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace slurmkube::core
{

namespace
{

template <class Map, class Key> auto *find_in(const Map &map, const Key &key)
{
	const auto found = map.find(key);
	return found == map.end() ? nullptr : &found->second;
}

bool names_job(const Pod &pod, JobId job)
{
	const auto found = pod.annotations.find(names::k_allocation_job_id);
	return found != pod.annotations.end() && found->second == std::to_string(job.number);
}

/* The same for a gang, whose job has nodes for all that are bound. */
bool stands_for_members(const Group &lead, const SlurmJob &job)
{
	if (job_side(&job) == JobSide::pending)
		return job.marker.attempt > lead.member_attempt;
	if (!is_live(job))
		return job.state == JobState::cancelled || !lead.strays.contains(job.id);
	std::unordered_set<std::string_view> there;
	for (const NodeAllocation &node : job.nodes)
		there.insert(node.node);
	return there.empty() || std::ranges::all_of(lead.member_nodes, [&](const std::string &name) { return there.contains(name); });
}

} // namespace

const Group *State::group(const PodUid &uid) const
{
	return find_in(groups, uid);
}

const Pod *State::pod(const PodUid &uid) const
{
	const Group *found = group(uid);
	return found && found->pod ? &*found->pod : nullptr;
}

const SlurmJob *State::job(JobId id) const
{
	return find_in(jobs, id);
}

const KubeNode *State::kube_node(const std::string &name) const
{
	return find_in(kube_nodes, name);
}

const SlurmNode *State::slurm_node(const std::string &name) const
{
	return find_in(slurm_nodes, name);
}

const Group &State::lead_of(const Group &group) const
{
	const Group *lead = group.gang ? this->group(*group.gang) : nullptr;
	return lead ? *lead : group;
}

const Gang *State::gang_of(const Group &group) const
{
	return group.gang ? find_in(gangs, *group.gang) : nullptr;
}

bool State::is_known() const
{
	return sync.is_listed() && sync.is_fresh() && sync.has_link() && is_cluster_known() && clusters.of_other_clusters().empty();
}

bool stands_for_pod(const Group &group, const SlurmJob &job)
{
	if (!group.member_nodes.empty())
		return stands_for_members(group, job);
	if (!group.pod || group.pod->node_name.empty() || is_terminal(*group.pod))
		return true;
	switch (job_side(&job)) {
	case JobSide::pending:
		return job.marker.attempt > bound_attempt(*group.pod);
	case JobSide::allocated:
		return job.nodes.empty() || job.nodes.front().node == group.pod->node_name;
	case JobSide::none:
	case JobSide::ended:
		break;
	}
	return job.state == JobState::cancelled || !group.strays.contains(job.id);
}

/* Live before ended; the one that the pod's Binding names; then the highest attempt, the lowest id. */
const SlurmJob *State::current_job(const Group &group) const
{
	const SlurmJob *best = nullptr;
	const auto rank = [&](const SlurmJob &one) {
		return std::tuple(is_live(one), group.pod && names_job(*group.pod, one.id), one.marker.attempt, ~one.id.number);
	};
	for (const JobId id : group.jobs) {
		const SlurmJob *found = job(id);
		if (found && stands_for_pod(group, *found) && (!best || rank(*found) > rank(*best)))
			best = found;
	}
	return best;
}

} // namespace slurmkube::core
