/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of World that knows which taints are tolerated by a pod of ours. While nobody tolerates it a taint drains its node,
 * as people expect to see in sinfo; else the node is in service, and each pod is kept off it or not.
 *
 * Bounded by the taints that nodes have, never by what pods write. Only pods whose namespace may use Slurm count.
 */
#include "src/core/placement/placement.h"
#include "src/core/model/outcome.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* So long a taint may be taken for tolerated after the last pod that did: not each short pod is to drain and undrain a node. */
constexpr std::int64_t k_review_us = 600'000'000, k_soon_us = 1'000'000;

} // namespace

bool World::counts_for_taints(const Pod &pod) const
{
	return !pod.demands.tolerations.empty() && !is_terminal(pod) && settings_.policy.rule_of(pod.name_space).ok();
}

bool World::is_tolerated_by_any(const Taint &taint) const
{
	const auto tolerates_it = [&](const Pod &pod) { return tolerates(pod.demands.tolerations, taint) && counts_for_taints(pod); };
	for (const auto &[uid, group] : groups_) {
		if (group.pod && tolerates_it(*group.pod))
			return true;
	}
	for (const auto &[lead, gang] : gangs_) {
		for (const Role &role : gang.roles) {
			if (role.pod_template && tolerates_it(*role.pod_template))
				return true;
		}
	}
	return false;
}

/* Nodes with it go into service or out of it. */
void World::taint_changed(const Taint &taint)
{
	known_places_.clear();
	for (const auto &[name, node] : kube_nodes_) {
		if (std::ranges::find(node.taints, taint) != node.taints.end())
			dirty_nodes_.insert(name);
	}
}

void World::note_tolerations(const Pod &pod)
{
	if (!counts_for_taints(pod))
		return;
	for (auto &[taint, is_tolerated] : taints_) {
		if (is_tolerated || !tolerates(pod.demands.tolerations, taint))
			continue;
		is_tolerated = true;
		taint_changed(taint);
	}
}

void World::note_taints(const KubeNode &node)
{
	for (const Taint &taint : node.taints) {
		const bool keeps_off = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
		if (keeps_off && !taints_.contains(taint))
			taints_[taint] = is_tolerated_by_any(taint);
	}
}

bool World::is_tolerated(const Taint &taint) const
{
	const auto found = taints_.find(taint);
	return found != taints_.end() && found->second;
}

/* Whose pods may use Slurm is known of more namespaces now. */
void World::review_taints_soon()
{
	taints_review_us_ = std::min(taints_review_us_, seen_us_ + k_soon_us);
}

void World::review_taints(Now now)
{
	if (!is_known() || now.mono_us < taints_review_us_)
		return;
	taints_review_us_ = now.mono_us + k_review_us;
	std::set<Taint> there;
	for (const auto &[name, node] : kube_nodes_)
		there.insert(node.taints.begin(), node.taints.end());
	std::erase_if(taints_, [&there](const auto &each) { return !there.contains(each.first); });
	for (auto &[taint, was_tolerated] : taints_) {
		const bool is_tolerated = is_tolerated_by_any(taint);
		if (std::exchange(was_tolerated, is_tolerated) != is_tolerated)
			taint_changed(taint);
	}
}

} // namespace slurmkube::core
