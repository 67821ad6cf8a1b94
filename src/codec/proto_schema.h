/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proto_schema.h - converts protobuf messages to the JSON objects that the API would have sent, as
 * far as slurm-kube reads them.
 *
 * A ProtoSchema lists the fields of a message that are read, and what they are in JSON. All other
 * fields are skipped without a copy, including managedFields, so the cost of an object depends only
 * on what is read. Code that reads JSON can thus read both encodings. A ProtoSchema does not
 * contain itself, so its depth limits the use of the stack. Empty values become absent, as in JSON,
 * because servers send empty texts and times for fields that are not set.
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
	texts,   /* repeated text; each is an element */
	integer, /* int32, int64 */
	boolean,
	time,    /* metav1.Time; the zero time is absent */
	object,  /* a message */
	objects, /* repeated message */
	/* a message whose members belong to the outer one in JSON, like VolumeSource in Volume */
	inlined,
	text_map,  /* map<string, string> */
	amount_map /* map<string, Quantity> */
};

struct ProtoSchema;

struct Member {
	std::uint32_t number;
	As as;
	const char *name; /* must have static storage */
	const ProtoSchema *schema = nullptr;
};

struct ProtoSchema {
	std::span<const Member> members;
};

/* invalid: not protobuf, or a field of the schema has another type. */
Result<Json> object_of(std::string_view message, const ProtoSchema &schema);

} // namespace slurmkube::codec

#endif
