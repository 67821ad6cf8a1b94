/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names in Slurm under which pods run. Both sides must say so: the pod's binding, which has the
 * name of its node, and Slurm's job, whose marker names the pod. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"

#include <algorithm>
#include <charconv>

namespace slurmkube::core
{

namespace
{

/* The job that the pod was bound under, while Slurm has it; nullptr: none. */
const SlurmJob *job_of_binding(const State &state, const PodUid &uid, const Pod &pod)
{
	const auto id = number_in(pod, names::k_allocation_job_id);
	const SlurmJob *job = id ? state.job(JobId{*id}) : nullptr;
	const bool holds_nodes = job && (is_live(*job) || job->completing);
	return holds_nodes && job->marker.uid == state.component_key_of(uid).text ? job : nullptr;
}

std::string name_at_binding(const State &state, const Pod &pod)
{
	const auto name = pod.annotations.find(names::k_allocation_slurm_node);
	return name == pod.annotations.end() ? state.settings.nodes.names.prefix + pod.node_name
					     : name->second;
}

} // namespace

NamesInUse names_in_use(const State &state)
{
	const NodeNames &names = state.settings.nodes.names;
	NamesInUse found;
	for (const auto &[uid, entry] : state.pods) {
		if (!entry.pod || entry.pod->node_name.empty())
			continue;
		const SlurmJob *job = job_of_binding(state, uid, *entry.pod);
		if (!job)
			continue;
		const std::string bound = name_at_binding(state, *entry.pod);
		const auto is_it = [&](const NodeAllocation &one) {
			return names.in_slurm(one.node) == bound;
		};
		if (std::ranges::any_of(job->nodes, is_it))
			found[entry.pod->node_name].insert(bound);
	}
	return found;
}

bool has_name_of_binding(const State &state, const Pod &pod)
{
	return state.settings.nodes.names.in_slurm(pod.node_name) == name_at_binding(state, pod);
}

bool has_record_of_binding(const State &state, const PodEntry &bound)
{
	return state.slurm_node(bound_node_of(bound)) && has_name_of_binding(state, *bound.pod);
}

} // namespace slurmkube::core
