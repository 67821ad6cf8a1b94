/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/namespace.h"

namespace slurmkube::codec
{

namespace
{

std::map<std::string, std::string> pairs_of(json_object *object)
{
	std::map<std::string, std::string> pairs;
	if (!json_object_is_type(object, json_type_object))
		return pairs;
	json_object_object_foreach(object, key, value)
	{
		pairs[key] = get_string(object, key);
		(void)value; /* the macro's second variable */
	}
	return pairs;
}

} // namespace

Result<core::Namespace> namespace_from_json(json_object *object)
{
	json_object *metadata = get(object, "metadata");
	core::Namespace seen;
	seen.name = get_string(metadata, "name");
	seen.uid = get_string(metadata, "uid");
	if (seen.name.empty() || seen.uid.empty())
		return Error{Errc::invalid, "not a namespace: without name or uid"};
	seen.deleting = get(metadata, "deletionTimestamp") != nullptr;
	seen.labels = pairs_of(get(metadata, "labels"));
	seen.annotations = pairs_of(get(metadata, "annotations"));
	return seen;
}

} // namespace slurmkube::codec
