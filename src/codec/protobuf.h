/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protobuf.h - the wire format of protocol buffers, field by field, and the envelope that the
 * Kubernetes API puts around objects in it.
 *
 * Pure; foreign input: every length is checked against what is there. Views point into the bytes
 * given. Sources: protobuf.dev "Encoding"; k8s.io/apimachinery pkg/runtime/serializer/protobuf and
 * pkg/runtime/generated.proto (Unknown).
 */
#ifndef SLURMKUBE_CODEC_PROTOBUF_H
#define SLURMKUBE_CODEC_PROTOBUF_H

#include "src/base/result.h"

#include <cstdint>
#include <string_view>

namespace slurmkube::codec
{

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
	std::uint32_t number = 0;
	WireType type = WireType::varint;
	std::uint64_t value = 0; /* of a varint */
	std::string_view bytes;  /* of bytes: a text, a message, packed numbers */
};

class WireReader
{
      public:
	explicit WireReader(std::string_view message) : left_(message) {}
	/* false: the end, or no protobuf. */
	bool next(WireField &field);
	/* So far nothing was met that is no protobuf. Groups are none: nobody has sent them since
	 * proto3. */
	[[nodiscard]] bool ok() const { return ok_; }

      private:
	bool varint(std::uint64_t &value);
	bool bytes(std::uint64_t size, std::string_view &out);
	bool value(WireField &field);

	std::string_view left_;
	bool ok_ = true;
};

/* An object of the Kubernetes API as its servers send it in protobuf. */
struct Envelope {
	std::string_view kind; /* "Pod", "PodList", "Status" */
	std::string_view raw;  /* the message */
};

/* It begins as such objects do: "k8s" and a 0. */
bool is_enveloped(std::string_view bytes);
/* invalid: no such object, or encoded once more (contentEncoding). */
Result<Envelope> open_envelope(std::string_view bytes);

} // namespace slurmkube::codec

#endif
