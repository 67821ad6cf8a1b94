/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resource_slice.h - converts ResourceSlice, DeviceClass and DeviceTaintRule of resource.k8s.io/v1
 * from JSON to core's values.
 *
 * Input from the API server, which drivers and administrators have written. Nothing is cut off:
 * what is too long, of a wrong type, or not known to us makes the device unsupported, with the name
 * of the field, because a device with less than it has would match selectors that it must not.
 */
#ifndef SLURMKUBE_CODEC_RESOURCE_SLICE_H
#define SLURMKUBE_CODEC_RESOURCE_SLICE_H

#include "src/base/result.h"
#include "src/codec/json.h"
#include "src/core/device/slice.h"

namespace slurmkube::codec
{

Result<core::ResourceSlice> resource_slice_from_json(json_object *object);
/* A criterion of its selector that is not known to us is left out, so that the rule concerns too
 * many devices rather than too few. */
Result<core::DeviceTaintRule> taint_rule_from_json(json_object *object);
Result<core::DeviceClass> device_class_from_json(json_object *object);

} // namespace slurmkube::codec

#endif
