/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/fields.h"

#include <cmath>

namespace slurmkube::codec
{

Fields::Fields(json_object *object, Need unnamed) : object_(object), need_(unnamed)
{
	if (!json_object_is_type(object, json_type_object))
		fail("not a JSON object");
}

void Fields::fail(const std::string &what)
{
	if (fault_.empty())
		fault_ = what;
}

json_object *Fields::member(const char *key, json_type type, const char *type_name)
{
	json_object *found = get(object_, key);
	if (!found) {
		if (need_ == Need::required)
			fail("key '" + std::string(key) + "' is missing");
		return nullptr;
	}
	bool fits = json_object_is_type(found, type) ||
		(type == json_type_double && json_object_is_type(found, json_type_int));
	if (!fits)
		fail("key '" + std::string(key) + "' is not " + type_name);
	return fits ? found : nullptr;
}

bool Fields::integer(const char *key, std::int64_t &out, std::int64_t least, std::int64_t most)
{
	json_object *found = member(key, json_type_int, "an integer");
	if (!found)
		return false;
	out = json_object_get_int64(found);
	/* json-c returns the end of its type for a number beyond it */
	const bool cut = json_object_get_uint64(found) > static_cast<std::uint64_t>(INT64_MAX) ||
		out == INT64_MIN;
	if (cut || out < least || out > most) {
		fail("key '" + std::string(key) + "' is out of range");
		return false;
	}
	return true;
}

void Fields::read(const char *key, std::string &out)
{
	if (member(key, json_type_string, "a string"))
		out = get_string(object_, key);
}

void Fields::read(const char *key, bool &out)
{
	if (json_object *found = member(key, json_type_boolean, "true or false"))
		out = json_object_get_boolean(found) != 0;
}

void Fields::read(const char *key, double &out)
{
	json_object *found = member(key, json_type_double, "a number");
	if (!found)
		return;
	const double value = json_object_get_double(found);
	if (std::isfinite(value)) /* false for 1e999, which JSON allows */
		out = value;
	else
		fail("key '" + std::string(key) + "' is out of range");
}

} // namespace slurmkube::codec
