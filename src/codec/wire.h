/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire.h - converts what the API server sends, in JSON or in protobuf, to JSON objects.
 *
 * The first bytes show the encoding; servers without protobuf send JSON. managedFields are left
 * out: they are most of a pod's JSON and are not read. From protobuf only the fields in
 * pod_schema.h are read. Pure; input from other programs.
 */
#ifndef SLURMKUBE_CODEC_WIRE_H
#define SLURMKUBE_CODEC_WIRE_H

#include "src/codec/json.h"

namespace slurmkube::codec
{

/* An object, a list or a Status. invalid: not JSON or protobuf, or a kind that is not read in
 * protobuf; too_large: longer than max_bytes. */
Result<Json> object_from_wire(std::string_view bytes, std::size_t max_bytes);

/* One frame of a watch: {"type":TEXT,"object":OBJECT}. Errors as above. */
Result<Json> event_from_wire(std::string_view frame, std::size_t max_bytes);

} // namespace slurmkube::codec

#endif
