/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names in Slurm under which pods run. Both sides must say so: the pod's binding, which has the
 * name of its node, and Slurm's job, whose marker names the pod. */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/native_pods.h"
#include "src/core/world/parts.h"

namespace slurmkube::core
{

namespace
{

/* Of the job within which the pod runs. Only its annotation says so. */
void note_native(
	const State &state, const PodEntry &entry, const std::string &bound, NamesInUse &found)
{
	const auto mark = native_mark_of(entry);
	const NativeAnswer *answer = mark ? state.native_jobs.answer(mark->job) : nullptr;
	if (!answer || !*answer)
		return;
	for (const std::string &node : (**answer).nodes) {
		if (state.settings.nodes.names.in_slurm(node) == bound)
			found.likely.insert(bound);
	}
}

/* Any of the pod's jobs: one that slurmctld has lost has a successor. */
void note_names(const State &state, const PodUid &uid, const PodEntry &entry, NamesInUse &found)
{
	const NodeNames &names = state.settings.nodes.names;
	const std::string bound = name_at_binding(state, *entry.pod);
	note_native(state, entry, bound, found);
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

std::string name_at_binding(const State &state, const Pod &pod)
{
	const auto name = pod.annotations.find(names::k_allocation_slurm_node);
	return name == pod.annotations.end() ? state.settings.nodes.names.prefix + pod.node_name
					     : name->second;
}

InUse names_in_use(const State &state)
{
	InUse found;
	for (const auto &[uid, entry] : state.pods) {
		if (entry.pod && !entry.pod->node_name.empty())
			note_names(state, uid, entry, found[entry.pod->node_name]);
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
