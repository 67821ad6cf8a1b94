/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_claims.h - what the volume claims of pods and gangs allow. placement/claims.h has the steps
 * of binding a claim; this file adds which other pods use it.
 */
#ifndef SLURMKUBE_CORE_WORLD_POD_CLAIMS_H
#define SLURMKUBE_CORE_WORLD_POD_CLAIMS_H

#include "src/core/world/state.h"

namespace slurmkube::core
{

/* A pod that uses the claim, or has a job and will use it. Neither `except` nor a pod of the same
 * component counts. nullptr: none. */
const Pod *user_of(const State &state, const ClaimId &id, const PodUid &except);
/* Why the claims do not allow any node at present, as text for users; empty: they do. */
std::string claim_trouble(const State &state, const PodUid &uid, const Pod &pod);
std::string claim_trouble_of_gang(const State &state, const Gang &gang);
/* Why the claims do not allow the pod on this node; nullopt: they do. */
std::optional<Refusal> claims_refuse(const State &state, const Pod &pod, const KubeNode &node);
/* Adds nodes that cannot reach the volumes of all members: it is not known beforehand which member
 * gets which node. */
void exclude_for_claims(const State &state, const Gang &gang, std::set<std::string> &excluded);

} // namespace slurmkube::core

#endif
