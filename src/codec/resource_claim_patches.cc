/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written into claims for devices; resource_claim.cc reads them. */
#include "src/codec/resource_claim.h"

namespace slurmkube::codec
{

namespace
{

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

Json reserved_for(const std::vector<core::ClaimUser> &users)
{
	Json out = new_array();
	for (const core::ClaimUser &one : users) {
		Json pod = new_object();
		put(pod.get(), "resource", "pods");
		put(pod.get(), "name", one.name);
		put(pod.get(), "uid", one.uid);
		append(out.get(), std::move(pod));
	}
	return out;
}

std::string status_patch(const std::string &uid, const std::string &version, Json status)
{
	Json body = new_object();
	put(body.get(), "metadata", metadata_of(uid, version));
	put(body.get(), "status", std::move(status));
	return to_text(body.get());
}

} // namespace

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
	Json status = new_object();
	put(status.get(), "allocation", std::move(allocation));
	put(status.get(), "reservedFor", reserved_for(step.users));
	return status_patch(step.uid, step.version, std::move(status));
}

std::string reservation_patch(const core::ReserveClaim &step)
{
	Json status = new_object();
	put(status.get(), "reservedFor", reserved_for(step.users));
	return status_patch(step.uid, step.version, std::move(status));
}

std::string release_patch(const core::ReleaseDevices &step)
{
	Json status = new_object();
	put(status.get(), "allocation", Json());
	put(status.get(), "reservedFor", Json());
	return status_patch(step.uid, step.version, std::move(status));
}

std::string leaving_patch(const core::ReleaseDevices &step)
{
	Json pod = new_object();
	put(pod.get(), "$patch", "delete");
	put(pod.get(), "uid", step.leaving_uid);
	Json reserved = new_array();
	append(reserved.get(), std::move(pod));
	Json status = new_object();
	put(status.get(), "reservedFor", std::move(reserved));
	return status_patch(step.uid, step.version, std::move(status));
}

} // namespace slurmkube::codec
