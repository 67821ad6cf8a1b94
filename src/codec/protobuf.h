/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protobuf.h - reads the wire format of protocol buffers field by field, and the envelope that the
 * Kubernetes API puts around objects in protobuf.
 *
 * Pure; input from other programs: every length is checked against the bytes that are left. Views
 * point into the given bytes. Sources: protobuf.dev "Encoding"; k8s.io/apimachinery
 * pkg/runtime/serializer/protobuf and pkg/runtime/generated.proto (Unknown).
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
	std::uint64_t value = 0; /* for varint */
	/* for all other types: a text, a message, packed numbers, or the bytes of a fixed number */
	std::string_view bytes;
};

class WireReader
{
      public:
	explicit WireReader(std::string_view message) : left_(message) {}
	/* false: the end, or not protobuf; ok() tells which. */
	bool next(WireField &field);
	/* Whether everything so far was protobuf. Groups count as invalid, because proto3 does not
	 * have them. */
	[[nodiscard]] bool ok() const { return ok_; }

      private:
	bool varint(std::uint64_t &value);
	bool bytes(std::uint64_t size, std::string_view &out);
	bool value(WireField &field);

	std::string_view left_;
	bool ok_ = true;
};

/* An object in protobuf as the API server sends it. The views are borrowed. */
struct Envelope {
	std::string_view kind; /* "Pod", "PodList", "Status" */
	std::string_view raw;  /* the message */
};

/* Whether the bytes begin like such an object: with "k8s" and a 0 byte. */
bool is_enveloped(std::string_view bytes);
/* invalid: not such an object, or its content has an additional encoding (contentEncoding). */
Result<Envelope> open_envelope(std::string_view bytes);

} // namespace slurmkube::codec

#endif
