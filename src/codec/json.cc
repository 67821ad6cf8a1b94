/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/json.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <optional>

namespace slurmkube::codec
{

namespace
{

using Tokener = Owned<json_tokener, json_tokener_free>;

bool only_blanks(std::string_view text)
{
	return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

struct Attempt {
	Json object;
	json_tokener_error error;
	std::size_t used; /* bytes */
};

/* strict: JSON_TOKENER_STRICT or 0. With 0 json-c also accepts comments and trailing commas, which
 * nobody sends on purpose. */
std::optional<Attempt> attempt(std::string_view text, int strict)
{
	const Tokener tokener(json_tokener_new_ex(k_json_depth_max));
	if (!tokener)
		return std::nullopt;
	json_tokener_set_flags(tokener.get(), strict | JSON_TOKENER_ALLOW_TRAILING_CHARS);
	Attempt done{Json(json_tokener_parse_ex(
			     tokener.get(), text.data(), static_cast<int>(text.size()))),
		json_tokener_get_error(tokener.get()), json_tokener_get_parse_end(tokener.get())};
	if (done.error == json_tokener_continue && !text.empty()) {
		/* a number or literal at the end is complete only when another character follows */
		done.object.reset(json_tokener_parse_ex(tokener.get(), "\n", 1));
		done.error = json_tokener_get_error(tokener.get());
		done.used = text.size();
	}
	return done;
}

/* In strict mode json-c 0.18 takes every character beyond ASCII for a control character
 * (https://github.com/json-c/json-c/issues/875). */
bool may_be_too_strict(json_tokener_error error, std::string_view text)
{
	return error == json_tokener_error_parse_string &&
		std::any_of(
			text.begin(), text.end(), [](unsigned char byte) { return byte >= 0x80; });
}

/* The shortest text that is read as the same number: 0.022, not 0.021999999999999999. */
std::string shortest(double value)
{
	char text[64];
	const auto done = std::to_chars(text, text + sizeof(text), value);
	std::string number(text, done.ptr);
	return number.find_first_of(".en") == std::string::npos ? number + ".0" : number;
}

} // namespace

Result<Json> parse_json(std::string_view text, std::size_t max_bytes)
{
	if (text.size() > max_bytes || text.size() > INT_MAX)
		return Error{
			Errc::too_large, "JSON text of " + std::to_string(text.size()) + " bytes"};
	auto done = attempt(text, JSON_TOKENER_STRICT);
	if (done && may_be_too_strict(done->error, text))
		done = attempt(text, 0);
	if (!done)
		return Error{Errc::internal, "out of memory"};
	if (done->error != json_tokener_success)
		return Error{Errc::invalid,
			std::string("not JSON: ") + json_tokener_error_desc(done->error) +
				" at byte " + std::to_string(done->used)};
	if (!only_blanks(text.substr(done->used)))
		return Error{Errc::invalid,
			"not JSON: text after the value at byte " + std::to_string(done->used)};
	return std::move(done->object);
}

std::string to_text(json_object *object)
{
	std::size_t length = 0;
	const char *text = json_object_to_json_string_length(
		object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
	return text ? std::string(text, length) : std::string();
}

json_object *get(json_object *object, const char *key)
{
	json_object *member = nullptr;
	if (!json_object_is_type(object, json_type_object) ||
		!json_object_object_get_ex(object, key, &member))
		return nullptr;
	return member;
}

std::string get_string(json_object *object, const char *key, std::string_view fallback)
{
	json_object *member = get(object, key);
	if (!json_object_is_type(member, json_type_string))
		return std::string(fallback);
	return {json_object_get_string(member),
		static_cast<std::size_t>(json_object_get_string_len(member))};
}

std::int64_t get_int(json_object *object, const char *key, std::int64_t fallback)
{
	json_object *member = get(object, key);
	return json_object_is_type(member, json_type_int) ? json_object_get_int64(member)
							  : fallback;
}

double get_double(json_object *object, const char *key, double fallback)
{
	json_object *member = get(object, key);
	if (json_object_is_type(member, json_type_double) ||
		json_object_is_type(member, json_type_int))
		return json_object_get_double(member);
	return fallback;
}

bool get_bool(json_object *object, const char *key, bool fallback)
{
	json_object *member = get(object, key);
	return json_object_is_type(member, json_type_boolean) ? json_object_get_boolean(member) != 0
							      : fallback;
}

std::map<std::string, std::string> get_strings(
	json_object *object, bool (*wanted)(std::string_view name))
{
	std::map<std::string, std::string> strings;
	if (!json_object_is_type(object, json_type_object))
		return strings;
	json_object_object_foreach(object, key, value)
	{
		if (!wanted || wanted(key))
			strings[key] = get_string(object, key);
		(void)value; /* the macro's second variable */
	}
	return strings;
}

std::size_t array_size(json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

json_object *array_at(json_object *array, std::size_t i)
{
	return i < array_size(array) ? json_object_array_get_idx(array, i) : nullptr;
}

Json new_object()
{
	return Json(json_object_new_object());
}

Json new_array()
{
	return Json(json_object_new_array());
}

void put(json_object *object, const char *key, std::string_view value)
{
	json_object_object_add(object, key,
		json_object_new_string_len(value.data(), static_cast<int>(value.size())));
}

void put(json_object *object, const char *key, std::int64_t value)
{
	json_object_object_add(object, key, json_object_new_int64(value));
}

void put(json_object *object, const char *key, double value)
{
	json_object_object_add(
		object, key, json_object_new_double_s(value, shortest(value).c_str()));
}

void put(json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value ? 1 : 0));
}

void put(json_object *object, const char *key, Json value)
{
	json_object_object_add(object, key, value.release());
}

void append(json_object *array, Json value)
{
	json_object_array_add(array, value.release());
}

void append(json_object *array, std::string_view value)
{
	json_object_array_add(
		array, json_object_new_string_len(value.data(), static_cast<int>(value.size())));
}

} // namespace slurmkube::codec
