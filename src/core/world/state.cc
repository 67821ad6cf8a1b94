/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/state.h"

#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"

#include <algorithm>
#include <deque>
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

/* The same for a gang, whose job must have the nodes of all bound pods. */
bool stands_for_members(const NodeNames &names, const Component &component, const SlurmJob &job)
{
	if (job_side(&job) == JobSide::pending)
		return job.marker.attempt > component.bound_attempt;
	if (!is_live(job))
		return job.state == JobState::cancelled || !component.strays.contains(job.id);
	if (job.nodes.empty())
		return true;
	std::unordered_set<std::string_view> there;
	for (const NodeAllocation &node : job.nodes)
		there.insert(node.node);
	const auto is_there = [&](const std::string &name) { return there.contains(name); };
	if (std::ranges::all_of(component.bound_nodes, is_there))
		return true;
	/* their names may be others now */
	std::deque<std::string> made;
	there.clear();
	for (const NodeAllocation &node : job.nodes)
		there.insert(made.emplace_back(names.in_slurm(node.node)));
	return !component.bound_names.empty() &&
		std::ranges::all_of(component.bound_names, is_there);
}

} // namespace

const PodEntry *State::entry(const PodUid &uid) const
{
	return find_in(pods, uid);
}

const Pod *State::pod(const PodUid &uid) const
{
	const PodEntry *found = entry(uid);
	return found && found->pod ? &*found->pod : nullptr;
}

const Component *State::component(const PodUid &key) const
{
	return find_in(components, key);
}

const SlurmJob *State::job(JobId id) const
{
	return find_in(jobs, id);
}

Marker State::marker_of(const PodUid &key, JobId id) const
{
	if (const SlurmJob *known = job(id))
		return known->marker;
	if (const Component *owner = component(key)) {
		for (const MarkedJob &one : owner->unheard_of) {
			if (one.id == id)
				return one.marker;
		}
	}
	return {};
}

const KubeNode *State::kube_node(const std::string &name) const
{
	return find_in(kube_nodes, name);
}

const SlurmNode *State::slurm_node(const std::string &name) const
{
	return find_in(slurm_nodes, name);
}

const PodUid &State::component_key_of(const PodUid &uid) const
{
	const PodEntry *found = entry(uid);
	return found && found->component ? *found->component : uid;
}

const Component &State::component_of(const PodUid &uid) const
{
	static const Component nothing;
	const Component *found = component(component_key_of(uid));
	return found ? *found : nothing;
}

const Gang *State::gang_of(const PodEntry &entry) const
{
	return entry.component ? find_in(gangs, *entry.component) : nullptr;
}

bool State::is_known() const
{
	return sync.is_listed() && sync.is_fresh() && sync.has_link() && is_cluster_known() &&
		!holds_other_cluster() && has_lease();
}

bool State::stands_for(const PodUid &key, const Component &component, const SlurmJob &job) const
{
	const NodeNames &names = settings.nodes.names;
	if (!component.bound_nodes.empty())
		return stands_for_members(names, component, job);
	const Pod *pod = this->pod(key);
	if (!pod || pod->node_name.empty() || is_terminal(*pod))
		return true;
	switch (job_side(&job)) {
	case JobSide::pending:
		return job.marker.attempt > bound_attempt(*pod);
	case JobSide::allocated:
		/* who may write annotations must not make a pod independent of its job */
		return job.nodes.empty() || job.nodes.front().node == pod->node_name ||
			names.in_slurm(job.nodes.front().node) == name_at_binding(*this, *pod);
	case JobSide::none:
	case JobSide::ended:
		break;
	}
	return job.state == JobState::cancelled || !component.strays.contains(job.id);
}

/* A live job before an ended one, the job that the pod's binding names before others; then the
 * highest attempt, and the lowest id. */
const SlurmJob *State::current_job(const PodUid &key) const
{
	const Component *component = this->component(key);
	if (!component || component->jobs.empty())
		return nullptr;
	const SlurmJob *best = nullptr;
	const Pod *pod = this->pod(key);
	const auto rank = [&](const SlurmJob &one) {
		return std::tuple(is_live(one), pod && names_job(*pod, one.id), one.marker.attempt,
			~one.id.number);
	};
	for (const JobId id : component->jobs) {
		const SlurmJob *found = job(id);
		if (found && stands_for(key, *component, *found) &&
			(!best || rank(*found) > rank(*best)))
			best = found;
	}
	return best;
}

} // namespace slurmkube::core
