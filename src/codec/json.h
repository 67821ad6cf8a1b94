/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - json-c with unique ownership, limits for parsing, and getters that check types.
 *
 * Getters return the fallback if the object is null, or the member absent or of a wrong type. JSON
 * from other programs is read field by field with them; in the Kubernetes API an absent field means
 * the same as a null one. Pointers from get() and array_at() point into the object and are valid as
 * long as it is.
 */
#ifndef SLURMKUBE_CODEC_JSON_H
#define SLURMKUBE_CODEC_JSON_H

#include "src/base/owned.h"
#include "src/base/result.h"

#include <json-c/json.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace slurmkube::codec
{

using Json = Owned<json_object, json_object_put>;

inline constexpr int k_json_depth_max = 64;

/* Parses one value, after which only blanks may follow. invalid: not JSON, or deeper than
 * k_json_depth_max; too_large: longer than max_bytes. */
Result<Json> parse_json(std::string_view text, std::size_t max_bytes);

/* Compact, on one line. */
std::string to_text(json_object *object);

/* get(o, "spec", "nodeName"): the member, or nullptr. Borrowed from the object. */
json_object *get(json_object *object, const char *key);
template <class... Keys> json_object *get(json_object *object, const char *key, Keys... rest)
{
	return get(get(object, key), rest...);
}

std::string get_string(json_object *object, const char *key, std::string_view fallback = {});
std::int64_t get_int(json_object *object, const char *key, std::int64_t fallback = 0);
double get_double(json_object *object, const char *key, double fallback = 0);
bool get_bool(json_object *object, const char *key, bool fallback = false);

/* The string members of an object, such as labels or annotations; `wanted` selects by name. A
 * member that is not a string becomes empty. Empty for anything that is not an object. */
std::map<std::string, std::string> get_strings(
	json_object *object, bool (*wanted)(std::string_view name) = nullptr);

/* 0 and nullptr for anything that is not an array; nullptr also beyond its end. */
std::size_t array_size(json_object *array);
json_object *array_at(json_object *array, std::size_t i);

Json new_object();
Json new_array();
void put(json_object *object, const char *key, std::string_view value);
inline void put(json_object *object, const char *key, const char *value)
{
	put(object, key, std::string_view(value));
}
void put(json_object *object, const char *key, std::int64_t value);
inline void put(json_object *object, const char *key, std::uint64_t value)
{
	put(object, key, static_cast<std::int64_t>(value));
}
inline void put(json_object *object, const char *key, std::uint32_t value)
{
	put(object, key, static_cast<std::int64_t>(value));
}
inline void put(json_object *object, const char *key, int value)
{
	put(object, key, static_cast<std::int64_t>(value));
}
void put(json_object *object, const char *key, double value);
void put(json_object *object, const char *key, bool value);
void put(json_object *object, const char *key, Json value);
void append(json_object *array, Json value);
void append(json_object *array, std::string_view value);

} // namespace slurmkube::codec

#endif
