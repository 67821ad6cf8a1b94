/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resource_claim.h - claims for devices: ResourceClaim of resource.k8s.io/v1.
 *
 * Pure: json-c objects in, values out; texts for the API server. A field that could change which
 * device a pod gets, and that is not understood, is noted in `unsupported`.
 */
#ifndef SLURMKUBE_CODEC_RESOURCE_CLAIM_H
#define SLURMKUBE_CODEC_RESOURCE_CLAIM_H

#include "src/base/result.h"
#include "src/codec/json.h"
#include "src/core/device/steps.h"

#include <string>

namespace slurmkube::codec
{

/* invalid: not a claim. The object is borrowed. */
Result<core::ResourceClaim> resource_claim_from_json(json_object *object);

/* JSON merge patches: of the claim, and of its status. */
std::string protect_patch(const core::ProtectClaim &step);
std::string allocation_patch(const core::AllocateDevices &step);
std::string release_patch(const core::ReleaseDevices &step);

/* Strategic merge patches of its status, which leave other reservations as they are: for more pods,
 * and for the one that is leaving. */
std::string reservation_patch(const core::ReserveClaim &step);
std::string leaving_patch(const core::ReleaseDevices &step);

} // namespace slurmkube::codec

#endif
