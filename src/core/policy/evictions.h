/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evictions.h - the annotations by which autoscalers leave a pod where it runs.
 *
 * Each annotation costs the API server and all watchers of pods some 5 % of the rate at which pods
 * are bound, so Karpenter's is only for its own nodes. Karpenter evicts pods from no others: it
 * acts on nodes of its NodeClaims, and labels these before it takes its startup taint away
 * (registration.go and disruption/types.go of Karpenter 1.14.1). No such sign tells a node that
 * cluster-autoscaler may remove, because that depends on its cloud provider.
 */
#ifndef SLURMKUBE_CORE_POLICY_EVICTIONS_H
#define SLURMKUBE_CORE_POLICY_EVICTIONS_H

#include "src/core/model/node.h"

namespace slurmkube::core
{

/* By key. node: where the pod is to run; nullptr: not known, so any autoscaler may have it. */
std::map<std::string, std::string> not_to_evict(const KubeNode *node);

} // namespace slurmkube::core

#endif
