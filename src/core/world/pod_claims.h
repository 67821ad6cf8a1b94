/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_claims.h - what the volume claims of pods and gangs allow. The steps are those of
 * placement/claims.h; here is who else uses a claim.
 */
#ifndef SLURMKUBE_CORE_WORLD_POD_CLAIMS_H
#define SLURMKUBE_CORE_WORLD_POD_CLAIMS_H

#include "src/core/world/state.h"

namespace slurmkube::core
{

/* Another pod than this one and those of its gang that holds the claim, or has a job and will. */
const Pod *user_of(const State &state, const ClaimId &id, const PodUid &except);
/* Why no node will do now, or empty. */
std::string claim_trouble(const State &state, const PodUid &uid, const Pod &pod);
std::string claim_trouble_of_gang(const State &state, const Gang &gang);
std::optional<Refusal> claims_refuse(const State &state, const Pod &pod, const KubeNode &node);
/* Nobody knows which node each member will get: all of them must reach the volumes of all. */
void exclude_for_claims(const State &state, const Gang &gang, std::set<std::string> &excluded);

} // namespace slurmkube::core

#endif
