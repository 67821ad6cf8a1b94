/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/namespace.h"

namespace slurmkube::codec
{

Result<core::Namespace> namespace_from_json(json_object *object)
{
	json_object *metadata = get(object, "metadata");
	core::Namespace seen;
	seen.name = get_string(metadata, "name");
	seen.uid = get_string(metadata, "uid");
	if (seen.name.empty() || seen.uid.empty())
		return Error{Errc::invalid, "not a namespace: without name or uid"};
	seen.deleting = get(metadata, "deletionTimestamp") != nullptr;
	seen.labels = get_strings(get(metadata, "labels"));
	seen.annotations = get_strings(get(metadata, "annotations"));
	return seen;
}

} // namespace slurmkube::codec
