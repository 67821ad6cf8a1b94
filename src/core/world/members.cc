/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that says which pods are members of a gang: pods that leave, and pods that a
 * new agent finds bound. */
#include "src/core/model/names.h"
#include "src/core/model/natural_order.h"
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

namespace slurmkube::core
{

namespace
{

/* Key of the gang under whose job the pod was bound; empty: none. */
std::string gang_annotation(const Pod &pod)
{
	const auto found = pod.annotations.find(names::k_allocation_gang);
	return found == pod.annotations.end() || pod.node_name.empty() ? "" : found->second;
}

} // namespace

std::optional<std::uint32_t> number_in(const Pod &pod, const char *annotation)
{
	const auto found = pod.annotations.find(annotation);
	std::uint32_t number = 0;
	if (found == pod.annotations.end() ||
		std::from_chars(
			found->second.data(), found->second.data() + found->second.size(), number)
				.ec != std::errc())
		return std::nullopt;
	return number;
}

std::optional<std::uint32_t> rank_annotation(const Pod &pod)
{
	return number_in(pod, names::k_allocation_rank);
}

/* The job is submitted or about to be, so Slurm has been asked for this shape. */
bool World::is_asked_for(const PodUid &key) const
{
	const Component *component = state_.component(key);
	return has_live_job(state_, key) || (component && component->busy.slurm);
}

/* The pod gets a job of its own. */
void World::leave(Gang &gang, const PodUid &uid)
{
	const auto member = gang.members.find(uid);
	const auto rank = member == gang.members.end() ? std::nullopt : member->second;
	gang.members.erase(uid);
	PodEntry &entry = state_.pods.at(uid);
	note_standalone(*entry.component, uid, entry, rank);
	entry.component.reset();
	queue_.mark(uid);
}

void World::note_standalone(
	const PodUid &key, const PodUid &uid, PodEntry &entry, std::optional<std::uint32_t> rank)
{
	entry.standalone_of = key;
	entry.standalone_rank = rank;
	state_.standalone[key].insert(uid);
}

void World::note_marks(PodEntry &entry)
{
	entry.pod_attempt = bound_attempt(*entry.pod);
	entry.pod_rank = rank_annotation(*entry.pod);
	entry.restart = restart_of(*entry.pod);
}

bool is_bound_member(const PodEntry &entry)
{
	return !entry.assumed_node.empty() || (!entry.pod->node_name.empty() && entry.pod_rank);
}

std::size_t pods_of(const State &state, const Gang &gang, const PodUid &key)
{
	const auto counts = [&](const PodUid &uid) {
		const Pod *pod = state.pod(uid);
		return pod && !pod->gated && !pod->deleting;
	};
	auto sum =
		std::ranges::count_if(gang.members, [&](const auto &m) { return counts(m.first); });
	const auto others = state.standalone.find(key);
	if (others != state.standalone.end())
		sum += std::ranges::count_if(others->second, counts);
	return static_cast<std::size_t>(sum);
}

/* Without the policies of policies.yaml, anybody may write the annotation. So it counts only for
 * the uid of an owner, never that of a pod, and within one namespace. */
bool World::may_be_gang(const PodUid &key, const std::string &name_space) const
{
	if (!is_component_key(key.text))
		return false;
	for (const PodUid &one : components_of_workload(state_, key)) {
		if (const auto gang = state_.gangs.find(one);
			gang != state_.gangs.end() && gang->second.id.name_space != name_space)
			return false;
	}
	const PodEntry *entry = state_.entry(key);
	const Component *component = state_.component(key);
	if (entry && (entry->pod || entry->last))
		return false;
	return !component || std::ranges::none_of(component->jobs, [&](JobId id) {
		const auto job = state_.jobs.find(id);
		return job != state_.jobs.end() &&
			(job->second.marker.kind == k_pod_kind ||
				job->second.marker.name_space != name_space);
	});
}

/*
 * A pod that was bound as a member stays one, whatever has happened to its owners, because the job
 * must not end under it. The annotation counts only within a namespace.
 */
bool World::rejoin(const PodUid &uid, PodEntry &entry, Now now)
{
	const PodUid key{gang_annotation(*entry.pod)};
	if (key.text.empty() || is_terminal(*entry.pod) || !may_be_gang(key, entry.pod->name_space))
		return false;
	Gang &gang = gang_at(key,
		{.key = key.text, .kind = "", .name_space = entry.pod->name_space, .name = ""},
		now);
	entry.component = key;
	const auto annotated = rank_annotation(*entry.pod);
	gang.members[uid] = annotated ? rank_in_component(gang, *annotated) : std::nullopt;
	gang.was_seen = true;
	queue_.mark(key);
	return true;
}

} // namespace slurmkube::core
