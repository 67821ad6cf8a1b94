/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owner.h - converts an object that owns pods from JSON to core::Owner. The kinds are those of
 * k_kinds in core/model/owner.cc, and field names those of the versions there. Kinds without a
 * row in take_workload() only pass options on.
 *
 * Input that users have written: counts out of range become the nearest value in range, fields of a
 * wrong type count as absent, and wrong quantities are errors that name the template.
 */
#ifndef SLURMKUBE_CODEC_OWNER_H
#define SLURMKUBE_CODEC_OWNER_H

#include "src/base/result.h"
#include "src/codec/json.h"
#include "src/core/model/owner.h"

namespace slurmkube::codec
{

/* invalid: no kind or name, no uid or one that cannot be a uid, more than 1000 templates, or a
 * wrong quantity. */
Result<core::Owner> owner_from_json(json_object *object);

} // namespace slurmkube::codec

#endif
