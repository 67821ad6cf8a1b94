/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/resource_claim.h"

#include "src/codec/pod.h"
#include "src/core/device/extended_resource.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace slurmkube::codec
{

namespace
{

using core::DeviceConstraint;
using core::DeviceRequest;
using core::ResourceClaim;

/* the limits of the API (k8s.io/api/resource/v1, types.go) */
constexpr std::size_t k_requests_most = 32, k_selectors_most = 32, k_constraints_most = 32,
		      k_configs_most = 32, k_tolerations_most = 16, k_results_most = 32,
		      k_reserved_most = 256, k_alternatives_most = 8;
constexpr std::size_t k_finalizers_most = 64;

/* Whether the list has more items than the API permits: then a part of it is not read. */
bool is_cut(json_object *array, std::size_t most)
{
	return array_size(array) > most;
}

template <class F> void for_each(json_object *array, std::size_t most, F use)
{
	for (std::size_t i = 0; i < std::min(array_size(array), most); i++)
		use(array_at(array, i));
}

std::vector<std::string> texts(json_object *array, std::size_t most)
{
	std::vector<std::string> out;
	for_each(array, most, [&](json_object *one) {
		if (json_object_is_type(one, json_type_string))
			out.emplace_back(json_object_get_string(one));
	});
	return out;
}

core::Toleration toleration_of(json_object *object)
{
	const std::string op = get_string(object, "operator", "Equal");
	return {.key = get_string(object, "key"),
		.op = op == "Exists"    ? core::TolerationOp::exists
			: op == "Equal" ? core::TolerationOp::equal
					: core::TolerationOp::unknown,
		.value = get_string(object, "value"),
		.effect = get_string(object, "effect")};
}

/* A member of DeviceRequest or ExactDeviceRequest that decides about devices and is not read. */
std::string unread_member(json_object *object, std::initializer_list<std::string_view> read)
{
	json_object_object_foreach(object, key, value)
	{
		const bool is_read = std::ranges::find(read, std::string_view(key)) != read.end();
		const bool is_unset = value == nullptr ||
			(json_object_is_type(value, json_type_boolean) &&
				!json_object_get_boolean(value));
		if (!is_read && !is_unset)
			return key;
	}
	return {};
}

/* An ExactDeviceRequest, or a DeviceSubRequest, which has the same members and a name. */
void take_exactly(json_object *exactly, DeviceRequest &out)
{
	out.device_class = get_string(exactly, "deviceClassName");
	out.count = get_int(exactly, "count", 1);
	json_object *selectors = get(exactly, "selectors");
	for_each(selectors, k_selectors_most, [&](json_object *one) {
		const std::string text = get_string(get(one, "cel"), "expression");
		if (text.empty())
			out.unsupported = "exactly.selectors without cel";
		out.selectors.push_back(text);
	});
	json_object *tolerations = get(exactly, "tolerations");
	for_each(tolerations, k_tolerations_most,
		[&](json_object *one) { out.tolerations.push_back(toleration_of(one)); });
	if (array_size(tolerations) > 0)
		out.tolerations_text = to_text(tolerations);
	const std::string mode = get_string(exactly, "allocationMode", "ExactCount");
	const std::string unread = unread_member(exactly,
		{"name", "deviceClassName", "selectors", "allocationMode", "count", "tolerations",
			"adminAccess"});
	out.is_for_admin = get_bool(exactly, "adminAccess");
	out.is_all = mode == "All";
	if (!unread.empty())
		out.unsupported = "exactly." + unread;
	if (mode != "ExactCount" && !out.is_all)
		out.unsupported = "exactly.allocationMode " + mode.substr(0, 64);
	if (is_cut(selectors, k_selectors_most) || is_cut(tolerations, k_tolerations_most))
		out.unsupported = "exactly with more selectors or tolerations than the API permits";
	if (out.count < 1)
		out.unsupported = "exactly.count that is not positive";
}

/* An alternative that cannot be honoured is left out, because the others may do. */
void take_alternatives(json_object *list, DeviceRequest &out)
{
	std::string unsupported = "(no firstAvailable)";
	for_each(list, k_alternatives_most, [&](json_object *one) {
		DeviceRequest alternative;
		alternative.name = out.name + "/" + get_string(one, "name");
		take_exactly(one, alternative);
		if (alternative.unsupported.empty())
			out.alternatives.push_back(std::move(alternative));
		else
			unsupported = "firstAvailable" +
				alternative.unsupported.substr(std::strlen("exactly"));
	});
	if (out.alternatives.empty())
		out.unsupported = unsupported;
	if (is_cut(list, k_alternatives_most))
		out.unsupported = "firstAvailable of this length";
}

DeviceRequest request_of(json_object *object)
{
	DeviceRequest out;
	out.name = get_string(object, "name");
	json_object *exactly = get(object, "exactly");
	json_object *alternatives = get(object, "firstAvailable");
	if (json_object_is_type(exactly, json_type_object))
		take_exactly(exactly, out);
	else if (alternatives)
		take_alternatives(alternatives, out);
	else
		out.unsupported = "(no exactly)";
	return out;
}

DeviceConstraint constraint_of(json_object *object, std::string &unsupported)
{
	DeviceConstraint out;
	out.requests = texts(get(object, "requests"), k_requests_most);
	out.attribute = get_string(object, "matchAttribute");
	const std::string distinct = get_string(object, "distinctAttribute");
	if (out.attribute.empty() && distinct.empty())
		unsupported = "spec.devices.constraints without matchAttribute";
	if (!distinct.empty()) {
		out.is_distinct = true;
		out.attribute = distinct;
	}
	return out;
}

core::ClaimConfig config_of(json_object *object)
{
	core::ClaimConfig out;
	out.requests = texts(get(object, "requests"), k_requests_most);
	Json parameters = new_object();
	if (json_object *opaque = get(object, "opaque"))
		put(parameters.get(), "opaque", Json(json_object_get(opaque)));
	out.parameters = to_text(parameters.get());
	return out;
}

void take_devices(json_object *devices, ResourceClaim &out)
{
	json_object *requests = get(devices, "requests"),
		    *constraints = get(devices, "constraints"), *configs = get(devices, "config");
	for_each(requests, k_requests_most,
		[&](json_object *one) { out.requests.push_back(request_of(one)); });
	for_each(constraints, k_constraints_most, [&](json_object *one) {
		out.constraints.push_back(constraint_of(one, out.unsupported));
	});
	for_each(configs, k_configs_most,
		[&](json_object *one) { out.configs.push_back(config_of(one)); });
	if (is_cut(requests, k_requests_most) || is_cut(constraints, k_constraints_most) ||
		is_cut(configs, k_configs_most))
		out.unsupported = "spec.devices of this length";
	for (const DeviceRequest &one : out.requests) {
		if (!one.unsupported.empty())
			out.unsupported = "spec.devices.requests[" + one.name.substr(0, 64) + "]." +
				one.unsupported;
	}
}

core::Allocation allocation_of(json_object *object)
{
	core::Allocation out;
	for_each(get(object, "devices", "results"), k_results_most, [&](json_object *one) {
		out.results.push_back({get_string(one, "request"),
			{{get_string(one, "driver"), get_string(one, "pool")},
				get_string(one, "device")},
			get_bool(one, "adminAccess")});
	});
	return out;
}

} // namespace

Result<ResourceClaim> resource_claim_from_json(json_object *object)
{
	json_object *metadata = get(object, "metadata"), *status = get(object, "status");
	ResourceClaim claim;
	claim.id = {get_string(metadata, "namespace"), get_string(metadata, "name")};
	claim.uid = get_string(metadata, "uid");
	if (claim.id.name_space.empty() || claim.id.name.empty() || claim.uid.empty())
		return Error{Errc::invalid, "not a resource claim: without name, namespace or uid"};
	claim.resource_version = get_string(metadata, "resourceVersion");
	claim.deleting = get(metadata, "deletionTimestamp") != nullptr;
	if (const auto owner = controller_of(get(metadata, "ownerReferences")))
		claim.owner_uid = owner->uid;
	claim.is_extended = get_string(get(metadata, "annotations"),
				    core::k_extended_claim_annotation) == "true";
	json_object *finalizers = get(metadata, "finalizers");
	claim.finalizers = texts(finalizers, k_finalizers_most);
	take_devices(get(object, "spec", "devices"), claim);
	if (is_cut(finalizers, k_finalizers_most))
		claim.unsupported = "metadata.finalizers of this number";
	if (json_object *allocation = get(status, "allocation"))
		claim.allocation = allocation_of(allocation);
	for_each(get(status, "reservedFor"), k_reserved_most,
		[&](json_object *one) { claim.reserved_for.push_back(get_string(one, "uid")); });
	return claim;
}

} // namespace slurmkube::codec
