/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * extended_claim.h - claims for extended resources: what the agent writes to create one, and to
 * tell the kubelet of it in the pod's status. resource_claim.h has all else about claims.
 *
 * Pure.
 */
#ifndef SLURMKUBE_CODEC_EXTENDED_CLAIM_H
#define SLURMKUBE_CODEC_EXTENDED_CLAIM_H

#include "src/core/device/steps.h"

#include <string>

namespace slurmkube::codec
{

/* Body of a POST. */
std::string extended_claim_body(const core::CreateClaim &step);
/* JSON merge patch of the pod's status. */
std::string mappings_patch(const core::MapRequests &step);

} // namespace slurmkube::codec

#endif
