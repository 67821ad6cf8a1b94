/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/claim.h"

#include "src/codec/pod.h"
#include "src/codec/scheduling_constraints.h"
#include "src/core/model/names.h"
#include "src/core/model/quantity.h"

#include <algorithm>

namespace slurmkube::codec
{

namespace
{

constexpr char k_bind_completed[] = "pv.kubernetes.io/bind-completed";
/* the API still gives this annotation precedence over the field */
constexpr char k_old_class[] = "volume.beta.kubernetes.io/storage-class";
constexpr std::size_t k_modes_most = 16;
constexpr std::size_t k_terms_most = 256;

std::set<std::string> modes_of(json_object *array)
{
	std::set<std::string> out;
	for (std::size_t i = 0; i < std::min(array_size(array), k_modes_most); i++) {
		json_object *one = array_at(array, i);
		if (json_object_is_type(one, json_type_string))
			out.insert(json_object_get_string(one));
	}
	return out;
}

std::string class_of(json_object *object)
{
	const std::string old = get_string(get(object, "metadata", "annotations"), k_old_class);
	return old.empty() ? get_string(get(object, "spec"), "storageClassName") : old;
}

Result<std::int64_t> bytes_of(json_object *list, core::Rounding rounding)
{
	return core::parse_quantity(get_string(list, "storage", "0"), core::Scale::whole, rounding);
}

/* A TopologySelectorTerm: for every key the node must have one of the values. */
core::NodeTerm topology_of(json_object *term)
{
	core::NodeTerm out;
	json_object *expressions = get(term, "matchLabelExpressions");
	for (std::size_t i = 0; i < std::min(array_size(expressions), k_terms_most); i++) {
		json_object *one = array_at(expressions, i), *values = get(one, "values");
		core::Requirement wanted{get_string(one, "key"), core::SelectorOp::in, {}};
		for (std::size_t j = 0; j < std::min(array_size(values), k_terms_most); j++) {
			if (json_object_is_type(array_at(values, j), json_type_string))
				wanted.values.emplace_back(
					json_object_get_string(array_at(values, j)));
		}
		out.labels.push_back(std::move(wanted));
	}
	return out;
}

} // namespace

Result<core::Claim> claim_from_json(json_object *object)
{
	json_object *metadata = get(object, "metadata"),
		    *annotations = get(metadata, "annotations"), *spec = get(object, "spec");
	core::Claim claim;
	claim.id = {get_string(metadata, "namespace"), get_string(metadata, "name")};
	claim.uid = get_string(metadata, "uid");
	if (claim.id.name_space.empty() || claim.id.name.empty() || claim.uid.empty())
		return Error{Errc::invalid, "not a volume claim: without name, namespace or uid"};
	claim.resource_version = get_string(metadata, "resourceVersion");
	claim.deleting = get(metadata, "deletionTimestamp") != nullptr;
	if (const auto owner = controller_of(get(metadata, "ownerReferences")))
		claim.owner_uid = owner->uid;
	claim.storage_class = class_of(object);
	claim.volume = get_string(spec, "volumeName");
	claim.is_bound = !claim.volume.empty() && get(annotations, k_bind_completed) != nullptr;
	claim.is_lost = get_string(get(object, "status"), "phase") == "Lost";
	claim.selected_node = get_string(annotations, names::k_selected_node);
	claim.access_modes = modes_of(get(spec, "accessModes"));
	claim.volume_mode = get_string(spec, "volumeMode", "Filesystem");
	if (json_object *selector = get(spec, "selector"))
		claim.selector = selector_from_json(selector);
	const auto bytes = bytes_of(get(spec, "resources", "requests"), core::Rounding::up);
	if (!bytes)
		return in_context(
			"volume claim " + claim.id.name_space + "/" + claim.id.name, bytes.error());
	claim.bytes = *bytes;
	return claim;
}

Result<core::Volume> volume_from_json(json_object *object)
{
	json_object *metadata = get(object, "metadata"), *spec = get(object, "spec"),
		    *reference = get(spec, "claimRef");
	core::Volume volume;
	volume.name = get_string(metadata, "name");
	volume.uid = get_string(metadata, "uid");
	if (volume.name.empty() || volume.uid.empty())
		return Error{Errc::invalid, "not a volume: without name or uid"};
	volume.resource_version = get_string(metadata, "resourceVersion");
	volume.storage_class = class_of(object);
	volume.is_available = get_string(get(object, "status"), "phase") == "Available";
	volume.deleting = get(metadata, "deletionTimestamp") != nullptr;
	if (reference != nullptr) {
		volume.claim = core::ClaimId{
			get_string(reference, "namespace"), get_string(reference, "name")};
		volume.claim_uid = get_string(reference, "uid");
	}
	volume.access_modes = modes_of(get(spec, "accessModes"));
	volume.volume_mode = get_string(spec, "volumeMode", "Filesystem");
	volume.labels = get_strings(get(metadata, "labels"));
	if (json_object *required = get(spec, "nodeAffinity", "required"))
		volume.node_terms = node_terms_from_json(required);
	const auto bytes = bytes_of(get(spec, "capacity"), core::Rounding::down);
	if (!bytes)
		return in_context("volume " + volume.name, bytes.error());
	volume.bytes = *bytes;
	return volume;
}

Result<core::StorageClass> storage_class_from_json(json_object *object)
{
	json_object *metadata = get(object, "metadata"),
		    *topologies = get(object, "allowedTopologies");
	core::StorageClass out;
	out.name = get_string(metadata, "name");
	out.uid = get_string(metadata, "uid");
	if (out.name.empty() || out.uid.empty())
		return Error{Errc::invalid, "not a storage class: without name or uid"};
	out.provisioner = get_string(object, "provisioner");
	out.waits_for_pod = get_string(object, "volumeBindingMode") == "WaitForFirstConsumer";
	for (std::size_t i = 0; i < std::min(array_size(topologies), k_terms_most); i++)
		out.topologies.push_back(topology_of(array_at(topologies, i)));
	return out;
}

} // namespace slurmkube::codec
