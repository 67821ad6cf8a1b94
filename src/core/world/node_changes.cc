/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of World that looks again at where Kubernetes allows a pod (node_exclusions.cc) when
 * that has changed.
 *
 * Before a submission this determines the nodes that Slurm must not choose; before a binding,
 * whether the node is still allowed. Slurm itself queues for CPUs, memory and GRES, so a passing
 * shortage of these is left to Slurm. Labels, taints, ports, nearby pods, and resources that Slurm
 * does not know are judged here.
 */
#include "src/core/model/host_list.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

void World::note_constraints(const Pod &pod)
{
	state_.peers.note(pod);
	state_.claims.note(pod);
	state_.resource_claims.note(pod);
	note_tolerations(pod);
}

void World::forget_constraints(const PodUid &uid)
{
	state_.peers.forget(uid);
	by_namespaces_.erase(uid);
	placing_.forget(uid);
	state_.claims.forget(uid);
	state_.resource_claims.forget(uid);
}

void World::others_changed(const std::set<std::string> &nodes)
{
	for (const std::string &node : nodes) {
		wake_waiters(node);
		filter_.forget(node);
	}
	if (!nodes.empty())
		place_changed();
}

void World::foreign_seen(Pod pod)
{
	select_namespaces(pod);
	others_changed(state_.foreign.seen(std::move(pod)));
}

void World::foreign_gone(const PodUid &uid)
{
	others_changed(state_.foreign.gone(uid));
}

void World::foreign_listed(const std::set<std::string> &live_uids)
{
	others_changed(state_.foreign.listed(live_uids));
	state_.sync.listed(Sync::List::foreign);
	retry_all();
}

void World::place_changed()
{
	placing_.changed();
	reviews_.add_all();
}

/* Our own pods come and go all the time; only pods with constraints on others are judged again. */
void World::nearby_pods_changed()
{
	placing_.changed();
	reviews_.add_constrained(!state_.peers.constrained().empty());
}

void World::wake_waiting_for_peer()
{
	if (const auto next = placing_.take_waiting_for_peer())
		queue_.mark(*next);
}

void World::namespaces_changed()
{
	if (by_namespaces_.empty())
		return;
	for (const PodUid &uid : std::set<PodUid>(by_namespaces_)) {
		const auto entry = state_.pods.find(uid);
		if (entry != state_.pods.end() && entry->second.pod)
			select_namespaces(*entry->second.pod);
		else if (state_.foreign.all().contains(uid))
			foreign_seen(state_.foreign.all().at(uid));
		else
			by_namespaces_.erase(uid);
	}
	place_changed();
}

void World::partitions_refused(std::map<std::string, std::string> refused)
{
	if (filter_.set_refused_partitions(std::move(refused)))
		place_changed();
}

} // namespace slurmkube::core
