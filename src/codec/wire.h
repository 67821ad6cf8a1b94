/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire.h - what the API server sends, in JSON or in protobuf, to one kind of object.
 *
 * Which of both it is shows in the first bytes; a server that cannot do protobuf sends JSON.
 * Without managedFields: most of a pod's JSON, and nobody reads them. Of protobuf only what
 * pod_schema.h names. Pure; foreign input.
 */
#ifndef SLURMKUBE_CODEC_WIRE_H
#define SLURMKUBE_CODEC_WIRE_H

#include "src/codec/json.h"

namespace slurmkube::codec
{

/* An object, a list, a Status. invalid: neither, or a kind that is not read in protobuf; too_large:
 * longer than max_bytes. */
Result<Json> object_from_wire(std::string_view bytes, std::size_t max_bytes);

/* One frame of a watch: {"type":TEXT,"object":OBJECT}. Errors as above. */
Result<Json> event_from_wire(std::string_view frame, std::size_t max_bytes);

} // namespace slurmkube::codec

#endif
