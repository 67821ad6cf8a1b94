/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/protobuf.h"

namespace slurmkube::codec
{

namespace
{

constexpr std::string_view k_magic("k8s\0", 4);
constexpr unsigned k_varint_bits = 64;
constexpr std::uint32_t k_number_most = (1U << 29) - 1;

/* runtime.Unknown */
constexpr std::uint32_t k_type_meta = 1, k_raw = 2, k_content_encoding = 3;
/* runtime.TypeMeta */
constexpr std::uint32_t k_kind = 2;

std::string_view kind_of(std::string_view type_meta)
{
	WireReader reader(type_meta);
	std::string_view kind;
	for (WireField field; reader.next(field);) {
		if (field.number == k_kind)
			kind = field.bytes;
	}
	return kind;
}

} // namespace

bool WireReader::varint(std::uint64_t &value)
{
	value = 0;
	for (unsigned shift = 0; shift < k_varint_bits && !left_.empty(); shift += 7) {
		const auto byte = static_cast<unsigned char>(left_.front());
		left_.remove_prefix(1);
		value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

bool WireReader::bytes(std::uint64_t size, std::string_view &out)
{
	if (size > left_.size())
		return false;
	out = left_.substr(0, size);
	left_.remove_prefix(size);
	return true;
}

bool WireReader::value(WireField &field)
{
	std::uint64_t size = 0;
	switch (field.type) {
	case WireType::varint:
		return varint(field.value);
	case WireType::fixed64:
		return bytes(8, field.bytes);
	case WireType::fixed32:
		return bytes(4, field.bytes);
	case WireType::bytes:
		return varint(size) && bytes(size, field.bytes);
	}
	return false;
}

bool WireReader::next(WireField &field)
{
	if (left_.empty() || !ok_)
		return false;
	std::uint64_t tag = 0;
	field = {};
	ok_ = varint(tag) && tag >> 3 != 0 && tag >> 3 <= k_number_most;
	field.number = static_cast<std::uint32_t>(tag >> 3);
	field.type = static_cast<WireType>(tag & 7U);
	ok_ = ok_ && value(field);
	return ok_;
}

bool is_enveloped(std::string_view bytes)
{
	return bytes.starts_with(k_magic);
}

Result<Envelope> open_envelope(std::string_view bytes)
{
	if (!is_enveloped(bytes))
		return Error{Errc::invalid, "not an object in protobuf"};
	Envelope envelope;
	bool is_whole = false;
	WireReader reader(bytes.substr(k_magic.size()));
	for (WireField field; reader.next(field);) {
		if (field.number == k_type_meta) {
			envelope.kind = kind_of(field.bytes);
		} else if (field.number == k_raw) {
			envelope.raw = field.bytes;
			is_whole = true;
		} else if (field.number == k_content_encoding && !field.bytes.empty()) {
			return Error{Errc::invalid, "an object in protobuf with a contentEncoding"};
		}
	}
	if (!reader.ok() || !is_whole)
		return Error{Errc::invalid, "not an object in protobuf: its envelope is broken"};
	return envelope;
}

} // namespace slurmkube::codec
