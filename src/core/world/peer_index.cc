/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/peer_index.h"

#include "src/core/placement/pod_topology.h"

namespace slurmkube::core
{

void PeerIndex::note(const Pod &pod)
{
	if (has_pod_constraints(pod))
		constrained_.insert(pod.uid);
	if (!pod.constraints.anti_affinity.empty())
		anti_affinity_.insert(pod.uid);
	if (constrains_topology(pod))
		topology_constrained_.insert(pod.uid);
}

void PeerIndex::forget(const PodUid &uid)
{
	for (auto *list : {&constrained_, &anti_affinity_, &topology_constrained_})
		list->erase(uid);
}

} // namespace slurmkube::core
