/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claim.h - PersistentVolumeClaim, PersistentVolume and StorageClass in JSON to core's values.
 *
 * Foreign input: wrong types count as absent, wrong quantities are errors that name the object.
 * What a selector or node affinity says beyond what can be read matches nothing.
 */
#ifndef SLURMKUBE_CODEC_CLAIM_H
#define SLURMKUBE_CODEC_CLAIM_H

#include "src/base/result.h"
#include "src/codec/json.h"
#include "src/core/placement/claims.h"

namespace slurmkube::codec
{

Result<core::Claim> claim_from_json(json_object *object);
Result<core::Volume> volume_from_json(json_object *object);
Result<core::StorageClass> storage_class_from_json(json_object *object);

} // namespace slurmkube::codec

#endif
