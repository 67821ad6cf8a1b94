/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/wire.h"

#include "src/codec/managed_fields.h"
#include "src/codec/pod_schema.h"
#include "src/codec/protobuf.h"

namespace slurmkube::codec
{

namespace
{

/* field numbers of metav1.WatchEvent and of the RawExtension in it */
constexpr std::uint32_t k_type = 1, k_object = 2, k_raw_field = 1;

Result<Json> object_of(const Envelope &envelope)
{
	const ProtoSchema *schema = schema_of(envelope.kind);
	if (schema == nullptr)
		return Error{Errc::invalid,
			"an object in protobuf of kind '" +
				std::string(envelope.kind.substr(0, 64)) + "'"};
	return object_of(envelope.raw, *schema);
}

Result<Json> json_of(std::string_view text, std::size_t max_bytes)
{
	return parse_json(without_managed_fields(text), max_bytes);
}

Error too_large(std::size_t size)
{
	return {Errc::too_large, "an object of " + std::to_string(size) + " bytes"};
}

std::string_view raw_of(std::string_view extension)
{
	WireReader reader(extension);
	std::string_view raw;
	for (WireField field; reader.next(field);) {
		if (field.number == k_raw_field)
			raw = field.bytes;
	}
	return raw;
}

Result<Json> event_of(std::string_view type, std::string_view raw)
{
	const auto envelope = open_envelope(raw);
	if (!envelope)
		return envelope.error();
	auto object = object_of(*envelope);
	if (!object)
		return object;
	Json event = new_object();
	put(event.get(), "type", type);
	put(event.get(), "object", std::move(*object));
	return event;
}

} // namespace

Result<Json> object_from_wire(std::string_view bytes, std::size_t max_bytes)
{
	if (bytes.size() > max_bytes)
		return too_large(bytes.size());
	if (!is_enveloped(bytes))
		return json_of(bytes, max_bytes);
	const auto envelope = open_envelope(bytes);
	return envelope ? object_of(*envelope) : Result<Json>(envelope.error());
}

Result<Json> event_from_wire(std::string_view frame, std::size_t max_bytes)
{
	if (frame.size() > max_bytes)
		return too_large(frame.size());
	if (frame.starts_with('{'))
		return json_of(frame, max_bytes);
	WireReader reader(frame);
	std::string_view type, raw;
	for (WireField field; reader.next(field);) {
		if (field.number == k_type)
			type = field.bytes;
		else if (field.number == k_object)
			raw = raw_of(field.bytes);
	}
	return reader.ok() ? event_of(type, raw)
			   : Result<Json>(Error{Errc::invalid, "neither JSON nor protobuf"});
}

} // namespace slurmkube::codec
