/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claim.h - converts PersistentVolumeClaim, PersistentVolume and StorageClass from JSON to core's
 * values.
 *
 * Input from the API server, which users have written: fields of a wrong type count as absent, and
 * wrong quantities are errors that name the object. A selector or a node affinity that cannot be
 * read matches nothing.
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
