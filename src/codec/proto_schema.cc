/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/proto_schema.h"

#include "src/codec/protobuf.h"
#include "src/codec/time.h"

#include <string>

namespace slurmkube::codec
{

namespace
{

/* field numbers of a map entry, of metav1.Time and of resource.Quantity */
constexpr std::uint32_t k_key = 1, k_value = 2, k_seconds = 1, k_quantity = 1;

json_object *text_of(std::string_view text)
{
	return json_object_new_string_len(text.data(), static_cast<int>(text.size()));
}

void put_constant(json_object *into, const char *key, json_object *value)
{
	json_object_object_add_ex(into, key, value, JSON_C_OBJECT_KEY_IS_CONSTANT);
}

/* The member with that name, which is created if there is none. */
json_object *grown(json_object *into, const char *key, json_object *(*make)())
{
	json_object *found = get(into, key);
	if (found == nullptr)
		put_constant(into, key, found = make());
	return found;
}

/* Finds the bytes of the last field with that number. */
bool find_bytes(std::string_view message, std::uint32_t number, std::string_view &out)
{
	WireReader reader(message);
	for (WireField field; reader.next(field);) {
		if (field.number == number)
			out = field.bytes;
	}
	return reader.ok();
}

bool take_time(json_object *into, const char *name, std::string_view message)
{
	WireReader reader(message);
	std::int64_t seconds = 0;
	for (WireField field; reader.next(field);) {
		if (field.number == k_seconds)
			seconds = static_cast<std::int64_t>(field.value);
	}
	if (!message.empty())
		put_constant(into, name, text_of(format_time(seconds)));
	return reader.ok();
}

bool take_entry(json_object *map, std::string_view entry, bool is_amount)
{
	std::string_view key, value, amount;
	if (!find_bytes(entry, k_key, key) || !find_bytes(entry, k_value, value))
		return false;
	if (is_amount && !find_bytes(value, k_quantity, amount))
		return false;
	json_object_object_add(map, std::string(key).c_str(), text_of(is_amount ? amount : value));
	return true;
}

bool fill(json_object *into, std::string_view message, const ProtoSchema &schema);

bool take_object(json_object *into, const Member &member, std::string_view message)
{
	Json object = new_object();
	const bool good = fill(object.get(), message, *member.schema);
	if (member.as == As::objects)
		append(grown(into, member.name, json_object_new_array), std::move(object));
	else
		put_constant(into, member.name, object.release());
	return good;
}

void take_text(json_object *into, const Member &member, std::string_view text)
{
	if (member.as == As::texts)
		append(grown(into, member.name, json_object_new_array), text);
	else if (!text.empty())
		put_constant(into, member.name, text_of(text));
}

bool take_number(json_object *into, const Member &member, std::uint64_t value)
{
	if (member.as == As::boolean)
		put_constant(into, member.name, json_object_new_boolean(value != 0 ? 1 : 0));
	else if (member.as == As::integer)
		put_constant(
			into, member.name, json_object_new_int64(static_cast<std::int64_t>(value)));
	return member.as == As::boolean || member.as == As::integer;
}

bool take_bytes(json_object *into, const Member &member, std::string_view bytes)
{
	switch (member.as) {
	case As::text:
	case As::texts:
		take_text(into, member, bytes);
		return true;
	case As::time:
		return take_time(into, member.name, bytes);
	case As::object:
	case As::objects:
		return take_object(into, member, bytes);
	case As::inlined:
		return fill(into, bytes, *member.schema);
	case As::text_map:
	case As::amount_map:
		return take_entry(grown(into, member.name, json_object_new_object), bytes,
			member.as == As::amount_map);
	case As::integer:
	case As::boolean:
		break;
	}
	return false;
}

const Member *member_of(const ProtoSchema &schema, std::uint32_t number)
{
	for (const Member &member : schema.members) {
		if (member.number == number)
			return &member;
	}
	return nullptr;
}

bool fill(json_object *into, std::string_view message, const ProtoSchema &schema)
{
	WireReader reader(message);
	for (WireField field; reader.next(field);) {
		const Member *member = member_of(schema, field.number);
		if (member == nullptr)
			continue;
		const bool good = field.type == WireType::varint
			? take_number(into, *member, field.value)
			: field.type == WireType::bytes ? take_bytes(into, *member, field.bytes)
							: false;
		if (!good)
			return false;
	}
	return reader.ok();
}

} // namespace

Result<Json> object_of(std::string_view message, const ProtoSchema &schema)
{
	Json object = new_object();
	if (!fill(object.get(), message, schema))
		return Error{Errc::invalid,
			"not protobuf, or not of the fields that such an object has"};
	return object;
}

} // namespace slurmkube::codec
