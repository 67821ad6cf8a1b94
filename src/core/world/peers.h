/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peers.h - which pods are near each other: on a node, in a zone, or about to be there.
 *
 * A pod with constraints on other pods is submitted when the pods that concern it have their nodes,
 * or are known to wait (decision 10). If allocations violate a constraint all the same, that is
 * found before the binding, when the bound pods count.
 */
#ifndef SLURMKUBE_CORE_WORLD_PEERS_H
#define SLURMKUBE_CORE_WORLD_PEERS_H

#include "src/core/placement/pod_topology.h"
#include "src/core/world/state.h"

namespace slurmkube::core
{

/* The pods that matter for the placement of a pod, besides those that hold a share of the node. */
struct NearbyPods {
	/* By node: pods that have an allocation there and are not bound yet. For a pod without
	 * constraints of its own, also bound pods whose anti-affinity may exclude it. */
	std::map<std::string, Holders> there;
	PodTopology topology;
};

/* Whether other pods may decide where the pod may run. */
bool is_concerned(const State &state, const Pod &pod);
/* Pods that hold a share of the node, of any scheduler. except: a pod that does not count. */
Holders holders_of(const State &state, const std::string &node, const PodUid &except);
/* The same without pods that are being deleted. */
Holders staying_on(const State &state, const std::string &node, const PodUid &except);
/* with_allocated: include pods that have an allocation and are not bound yet. at_once: number of
 * the gang's pods that come to one node together. */
NearbyPods nearby_pods_of(const State &state, const PodUid &uid, const Pod &pod,
	bool with_allocated, std::uint32_t at_once);
/* Whether the submission has to wait for another pod. Two pods that concern each other are not
 * submitted at the same moment, because the second has to know the node of the first. */
bool must_wait_for_other(const State &state, const PodUid &uid, const Pod &pod);

} // namespace slurmkube::core

#endif
