/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proto_schema.h - messages in protobuf to the JSON objects that the API would have sent, as far as
 * somebody reads them.
 *
 * A ProtoSchema says which fields of a message are wanted and what they are in JSON; all others are
 * passed over without a copy, managedFields among them. So readers of JSON read both, and an object
 * costs what is read of it. Shapes do not contain themselves: their depth bounds the stack. As in
 * JSON, what is empty is absent: servers send empty texts and times for fields that are not set.
 */
#ifndef SLURMKUBE_CODEC_PROTO_SCHEMA_H
#define SLURMKUBE_CODEC_PROTO_SCHEMA_H

#include "src/codec/json.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace slurmkube::codec
{

enum class As : std::uint8_t {
	text,    /* empty: absent */
	texts,   /* repeated text, each an element */
	integer, /* int32, int64 */
	boolean,
	time,      /* metav1.Time; the zero time is absent */
	object,    /* a message */
	objects,   /* repeated message */
	inlined,   /* a message whose members are the outer one's, as VolumeSource's are Volume's */
	text_map,  /* map<string, string> */
	amount_map /* map<string, Quantity> */
};

struct ProtoSchema;

struct Member {
	std::uint32_t number;
	As as;
	const char *name; /* of static storage */
	const ProtoSchema *schema = nullptr;
};

struct ProtoSchema {
	std::span<const Member> members;
};

/* invalid: not protobuf, or a wanted field has another type. */
Result<Json> object_of(std::string_view message, const ProtoSchema &schema);

} // namespace slurmkube::codec

#endif
