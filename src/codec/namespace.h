/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * namespace.h - converts a v1 Namespace from JSON. Only its metadata is read, so whole objects and
 * PartialObjectMetadata are read in the same way.
 */
#ifndef SLURMKUBE_CODEC_NAMESPACE_H
#define SLURMKUBE_CODEC_NAMESPACE_H

#include "src/base/result.h"
#include "src/codec/json.h"
#include "src/core/policy/identity_rules.h"

namespace slurmkube::codec
{

/* invalid: the object has no name or no uid. */
Result<core::Namespace> namespace_from_json(json_object *object);

} // namespace slurmkube::codec

#endif
