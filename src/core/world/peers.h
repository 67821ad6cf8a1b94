/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peers.h - who is beside whom: on a node, in its zone, or about to be there.
 *
 * Whoever minds others is asked for when those that concern it have got their nodes, or are known
 * to wait; what comes of it all the same is judged again before the binding, with those who are
 * bound.
 */
#ifndef SLURMKUBE_CORE_WORLD_PEERS_H
#define SLURMKUBE_CORE_WORLD_PEERS_H

#include "src/core/placement/pod_topology.h"
#include "src/core/world/state.h"

namespace slurmkube::core
{

/* Who matters to a pod that is to be placed, besides those who hold a share of the node. */
struct NearbyPods {
	/* by node: with an allocation there, not bound yet; to a pod that minds nobody, also those
	 * bound there that may mind it */
	std::map<std::string, Holders> there;
	PodTopology topology;
};

/* Whether it depends on other pods where it may run. */
bool is_concerned(const State &state, const Pod &pod);
Holders holders_of(const State &state, const std::string &node, const PodUid &except);
/* Pods that are not about to leave. */
Holders staying_on(const State &state, const std::string &node, const PodUid &except);
/* with_allocated: pods too that have an allocation and are not bound yet. at_once: so many of a
 * gang come to one node. */
NearbyPods nearby_pods_of(const State &state, const PodUid &uid, const Pod &pod,
	bool with_allocated, std::uint32_t at_once);
/* Two that concern each other are not asked for at the same moment: the second is told where the
 * first is. */
bool must_wait_for_other(const State &state, const PodUid &uid, const Pod &pod);

} // namespace slurmkube::core

#endif
