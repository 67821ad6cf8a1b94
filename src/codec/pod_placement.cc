/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_placement.cc - what a pod's spec demands of its place and we cannot promise yet. Preferences are no demands.
 */
#include "src/codec/pod.h"

#include <functional>
#include <set>

namespace slurmkube::codec
{

namespace
{

bool is_filled(json_object *value)
{
	if (json_object_is_type(value, json_type_object))
		return json_object_object_length(value) > 0;
	return array_size(value) > 0;
}

bool any(json_object *array, const std::function<bool(json_object *)> &is_one)
{
	for (std::size_t i = 0; i < array_size(array); i++) {
		if (is_one(array_at(array, i)))
			return true;
	}
	return false;
}

bool must_spread(json_object *constraint)
{
	/* Absent means DoNotSchedule to older servers; newer ones always write it. */
	return get_string(constraint, "whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule";
}

} // namespace

void note_unsupported(json_object *spec, std::set<std::string> &fields)
{
	const auto note = [&](bool asked, const char *field) {
		if (asked)
			fields.insert(field);
	};
	note(any(get(spec, "topologySpreadConstraints"), must_spread), "spec.topologySpreadConstraints");
	note(is_filled(get(spec, "resourceClaims")), "spec.resourceClaims");
	note(is_filled(get(spec, "workloadRef")), "spec.workloadRef");
}

} // namespace slurmkube::codec
