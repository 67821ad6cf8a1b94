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

bool asks_host_port(json_object *container)
{
	return any(get(container, "ports"), [](json_object *port) { return get_int(port, "hostPort") != 0; });
}

bool must_spread(json_object *constraint)
{
	/* Absent means DoNotSchedule to older servers; newer ones always write it. */
	return get_string(constraint, "whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule";
}

} // namespace

std::vector<std::string> unsupported_placement(json_object *spec)
{
	std::set<std::string> fields;
	const auto note = [&](bool asked, const char *field) {
		if (asked)
			fields.insert(field);
	};
	static constexpr char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
	note(is_filled(get(spec, "nodeSelector")), "spec.nodeSelector");
	note(is_filled(get(spec, "affinity", "nodeAffinity", required)), "spec.affinity.nodeAffinity");
	note(is_filled(get(spec, "affinity", "podAffinity", required)), "spec.affinity.podAffinity");
	note(is_filled(get(spec, "affinity", "podAntiAffinity", required)), "spec.affinity.podAntiAffinity");
	note(any(get(spec, "topologySpreadConstraints"), must_spread), "spec.topologySpreadConstraints");
	note(is_filled(get(spec, "resourceClaims")), "spec.resourceClaims");
	note(is_filled(get(spec, "schedulingGroup")), "spec.schedulingGroup");
	note(is_filled(get(spec, "workloadRef")), "spec.workloadRef");
	note(any(get(spec, "containers"), asks_host_port), "spec.containers.ports.hostPort");
	note(any(get(spec, "initContainers"), asks_host_port), "spec.initContainers.ports.hostPort");
	json_object *volumes = get(spec, "volumes");
	note(any(volumes, [](json_object *v) { return get(v, "persistentVolumeClaim") != nullptr; }), "spec.volumes.persistentVolumeClaim");
	note(any(volumes, [](json_object *v) { return get(v, "ephemeral") != nullptr; }), "spec.volumes.ephemeral");
	return {fields.begin(), fields.end()};
}

} // namespace slurmkube::codec
