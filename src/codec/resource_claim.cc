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

/* ---- writes ---- */

Json texts_to_json(const std::vector<std::string> &list)
{
	Json out = new_array();
	for (const std::string &one : list)
		append(out.get(), one);
	return out;
}

/* What the API server itself has given us. */
Json copy_of(const std::string &text)
{
	auto json = parse_json(text, text.size());
	return json ? std::move(*json) : new_object();
}

Json metadata_of(const std::string &uid, const std::string &version)
{
	Json out = new_object();
	put(out.get(), "uid", uid);
	put(out.get(), "resourceVersion", version);
	return out;
}

Json results_of(const core::AllocateDevices &step)
{
	Json out = new_array();
	for (const core::ChosenDevice &one : step.devices) {
		Json result = new_object();
		put(result.get(), "request", one.result.request);
		put(result.get(), "driver", one.result.device.pool.driver);
		put(result.get(), "pool", one.result.device.pool.name);
		put(result.get(), "device", one.result.device.name);
		if (one.result.is_for_admin)
			put(result.get(), "adminAccess", true);
		if (!one.tolerations_text.empty())
			put(result.get(), "tolerations", copy_of(one.tolerations_text));
		append(out.get(), std::move(result));
	}
	return out;
}

Json configs_of(const core::AllocateDevices &step)
{
	Json out = new_array();
	for (const core::ChosenConfig &one : step.configs) {
		Json config = copy_of(one.parameters);
		put(config.get(), "source", one.is_from_class ? "FromClass" : "FromClaim");
		if (!one.requests.empty())
			put(config.get(), "requests", texts_to_json(one.requests));
		append(out.get(), std::move(config));
	}
	return out;
}

/* Devices of a node can be reached from there only. */
Json only_node(const std::string &node)
{
	Json values = new_array();
	append(values.get(), node);
	Json field = new_object();
	put(field.get(), "key", "metadata.name");
	put(field.get(), "operator", "In");
	put(field.get(), "values", std::move(values));
	Json fields = new_array();
	append(fields.get(), std::move(field));
	Json term = new_object();
	put(term.get(), "matchFields", std::move(fields));
	Json terms = new_array();
	append(terms.get(), std::move(term));
	Json out = new_object();
	put(out.get(), "nodeSelectorTerms", std::move(terms));
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

std::string protect_patch(const core::ProtectClaim &step)
{
	Json metadata = metadata_of(step.uid, step.version);
	put(metadata.get(), "finalizers", texts_to_json(step.finalizers));
	Json body = new_object();
	put(body.get(), "metadata", std::move(metadata));
	return to_text(body.get());
}

std::string allocation_patch(const core::AllocateDevices &step)
{
	Json devices = new_object();
	put(devices.get(), "results", results_of(step));
	if (!step.configs.empty())
		put(devices.get(), "config", configs_of(step));
	Json allocation = new_object();
	put(allocation.get(), "devices", std::move(devices));
	put(allocation.get(), "nodeSelector", only_node(step.node));
	Json pod = new_object();
	put(pod.get(), "resource", "pods");
	put(pod.get(), "name", step.pod_name);
	put(pod.get(), "uid", step.pod_uid);
	Json reserved = new_array();
	append(reserved.get(), std::move(pod));
	Json status = new_object();
	put(status.get(), "allocation", std::move(allocation));
	put(status.get(), "reservedFor", std::move(reserved));
	Json body = new_object();
	put(body.get(), "metadata", metadata_of(step.uid, step.version));
	put(body.get(), "status", std::move(status));
	return to_text(body.get());
}

std::string release_patch(const core::ReleaseDevices &step)
{
	Json status = new_object();
	put(status.get(), "allocation", Json());
	put(status.get(), "reservedFor", Json());
	Json body = new_object();
	put(body.get(), "metadata", metadata_of(step.uid, step.version));
	put(body.get(), "status", std::move(status));
	return to_text(body.get());
}

} // namespace slurmkube::codec
