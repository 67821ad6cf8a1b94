/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * namespace.h - what we look at of a v1 Namespace: its metadata. Whole objects and
 * PartialObjectMetadata read alike.
 */
#ifndef SLURMKUBE_CODEC_NAMESPACE_H
#define SLURMKUBE_CODEC_NAMESPACE_H

#include "src/base/result.h"
#include "src/codec/json.h"
#include "src/core/policy/identity_rules.h"

namespace slurmkube::codec
{

/* invalid: it has no name or no uid. */
Result<core::Namespace> namespace_from_json(json_object *object);

} // namespace slurmkube::codec

#endif
