/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names in Slurm under which pods run. Both sides must say so: the pod's binding, which has the
 * name of its node, and Slurm's job, whose marker names the pod. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/parts.h"

namespace slurmkube::core
{

namespace
{

std::string name_at_binding(const State &state, const Pod &pod)
{
	const auto name = pod.annotations.find(names::k_allocation_slurm_node);
	return name == pod.annotations.end() ? state.settings.nodes.names.prefix + pod.node_name
					     : name->second;
}

/* Any of the pod's jobs: one that slurmctld has lost has a successor. */
void note_names(const State &state, const PodUid &uid, const Pod &pod, NamesInUse &found)
{
	const NodeNames &names = state.settings.nodes.names;
	const std::string bound = name_at_binding(state, pod);
	for (const JobId id : state.component_of(uid).jobs) {
		const SlurmJob *job = state.job(id);
		if (!job || !(is_live(*job) || job->completing))
			continue;
		for (const NodeAllocation &one : job->nodes) {
			if (names.in_slurm(one.node) == bound)
				(job->nodes.size() == 1 ? found.sure : found.likely).insert(bound);
		}
	}
}

} // namespace

InUse names_in_use(const State &state)
{
	InUse found;
	for (const auto &[uid, entry] : state.pods) {
		if (entry.pod && !entry.pod->node_name.empty())
			note_names(state, uid, *entry.pod, found[entry.pod->node_name]);
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
