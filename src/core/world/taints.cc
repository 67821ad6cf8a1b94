/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that determines which taints our pods tolerate. Only pods whose namespace may
 * use Slurm count. */
#include "src/core/model/outcome.h"
#include "src/core/placement/placement.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

bool World::counts_for_taints(const Pod &pod) const
{
	return !pod.constraints.tolerations.empty() && !is_terminal(pod) &&
		state_.settings.policy.rule_of(pod.name_space).ok();
}

bool World::is_tolerated_by_any(const Taint &taint) const
{
	const auto tolerates_it = [&](const Pod &pod) {
		return tolerates(pod.constraints.tolerations, taint) && counts_for_taints(pod);
	};
	for (const auto &[uid, entry] : state_.pods) {
		if (entry.pod && tolerates_it(*entry.pod))
			return true;
	}
	for (const auto &[key, gang] : state_.gangs) {
		for (const Role &role : gang.roles) {
			if (role.pod_template && tolerates_it(*role.pod_template))
				return true;
		}
	}
	return false;
}

/* Nodes with one of these taints go into service or out of it. */
void World::taints_changed(const std::vector<Taint> &taints)
{
	if (taints.empty())
		return;
	filter_.forget_exclusions();
	const auto is_changed = [&](const Taint &taint) {
		return std::ranges::find(taints, taint) != taints.end();
	};
	for (const auto &[name, node] : state_.kube_nodes) {
		if (std::ranges::any_of(node.taints, is_changed))
			nodes_.mark(name);
	}
}

void World::note_tolerations(const Pod &pod)
{
	if (counts_for_taints(pod))
		taints_changed(state_.taints.tolerated_by(pod.constraints.tolerations));
}

void World::review_taints(Now now)
{
	if (state_.is_known())
		taints_changed(state_.taints.review(
			state_.kube_nodes,
			[this](const Taint &taint) { return is_tolerated_by_any(taint); }, now));
}

} // namespace slurmkube::core
