/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/extended_claim.h"

#include "src/codec/json.h"
#include "src/core/device/extended_resource.h"

namespace slurmkube::codec
{

namespace
{

Json owner_of(const core::CreateClaim &step)
{
	Json owner = new_object();
	put(owner.get(), "apiVersion", "v1");
	put(owner.get(), "kind", "Pod");
	put(owner.get(), "name", step.pod_name);
	put(owner.get(), "uid", step.pod_uid);
	put(owner.get(), "controller", true);
	Json owners = new_array();
	append(owners.get(), std::move(owner));
	return owners;
}

/* With a name the API server does not make one of generateName, which only says whose it is. */
Json metadata_of(const core::CreateClaim &step)
{
	Json annotations = new_object();
	put(annotations.get(), core::k_extended_claim_annotation, "true");
	Json out = new_object();
	put(out.get(), "name", step.claim.name);
	put(out.get(), "namespace", step.claim.name_space);
	put(out.get(), "generateName", core::extended_claim_prefix(step.pod_name));
	put(out.get(), "annotations", std::move(annotations));
	put(out.get(), "ownerReferences", owner_of(step));
	return out;
}

Json request_of(const core::DeviceRequest &request)
{
	Json exactly = new_object();
	put(exactly.get(), "deviceClassName", request.device_class);
	put(exactly.get(), "allocationMode", "ExactCount");
	put(exactly.get(), "count", request.count);
	Json out = new_object();
	put(out.get(), "name", request.name);
	put(out.get(), "exactly", std::move(exactly));
	return out;
}

} // namespace

std::string extended_claim_body(const core::CreateClaim &step)
{
	Json requests = new_array();
	for (const core::DeviceRequest &one : step.requests)
		append(requests.get(), request_of(one));
	Json devices = new_object();
	put(devices.get(), "requests", std::move(requests));
	Json spec = new_object();
	put(spec.get(), "devices", std::move(devices));
	Json body = new_object();
	put(body.get(), "apiVersion", "resource.k8s.io/v1");
	put(body.get(), "kind", "ResourceClaim");
	put(body.get(), "metadata", metadata_of(step));
	put(body.get(), "spec", std::move(spec));
	return to_text(body.get());
}

std::string mappings_patch(const core::MapRequests &step)
{
	Json mappings = new_array();
	for (const core::DeviceMapping &one : step.mappings) {
		Json mapping = new_object();
		put(mapping.get(), "containerName", one.container);
		put(mapping.get(), "resourceName", one.resource);
		put(mapping.get(), "requestName", one.request);
		append(mappings.get(), std::move(mapping));
	}
	Json claim = new_object();
	put(claim.get(), "requestMappings", std::move(mappings));
	put(claim.get(), "resourceClaimName", step.claim.name);
	Json status = new_object();
	put(status.get(), "extendedResourceClaimStatus", std::move(claim));
	Json metadata = new_object();
	put(metadata.get(), "uid", step.pod_uid);
	Json body = new_object();
	put(body.get(), "metadata", std::move(metadata));
	put(body.get(), "status", std::move(status));
	return to_text(body.get());
}

} // namespace slurmkube::codec
