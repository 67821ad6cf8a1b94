/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_devices.cc - reads which containers of a pod use its resource claims, which ones request
 * resources that devices may back, and which claim the pod's status names for them.
 */
#include "src/codec/amounts.h"
#include "src/codec/pod.h"
#include "src/core/device/extended_resource.h"

#include <algorithm>

namespace slurmkube::codec
{

namespace
{

/* The API has no limit; a claim has at most 32 requests. */
constexpr std::size_t k_mappings_most = 4096;

using Containers = Views<schema::k_container>;

constexpr std::size_t k_claims_most = 256; /* of a container; the API has no limit */

/* Without a request, the limit is requested. Errors in them are those of effective_requests(). */
std::int64_t milli_cpu_of(View<schema::k_container> container)
{
	for (json_object *list : {container.object<"resources">().values<"requests">(),
		     container.object<"resources">().values<"limits">()}) {
		const auto amounts = amounts_from_json(list, core::Rounding::up);
		if (!amounts)
			return 0;
		if (amounts->contains("cpu"))
			return resources_of(*amounts).milli_cpu;
	}
	return 0;
}

/* A sandbox that is lost is made again by the policy of the pod, and all its containers with it,
 * also one that has "Never" of its own. */
bool may_restart(const std::string &of_pod, const std::string &own)
{
	return of_pod != "Never" || (!own.empty() && own != "Never");
}

void take_claims(View<schema::k_spec> spec, bool is_init, std::vector<core::ContainerClaims> &out,
	std::set<std::string> &unsupported)
{
	const std::string of_pod = spec.text<"restartPolicy">();
	for (const auto container :
		is_init ? spec.objects<"initContainers">() : spec.objects<"containers">()) {
		core::ContainerClaims one;
		const std::string own = container.text<"restartPolicy">();
		one.container = container.text<"name">();
		one.is_short_lived = is_init && own != "Always";
		one.has_restart_rules = container.objects<"restartPolicyRules">().size() > 0;
		one.may_restart = may_restart(of_pod, own) || one.has_restart_rules;
		one.milli_cpu = milli_cpu_of(container);
		const auto claims = container.object<"resources">().objects<"claims">();
		if (claims.size() > k_claims_most)
			unsupported.insert(
				"resources.claims of a container with more than 256 claims");
		for (std::size_t i = 0; i < std::min(claims.size(), k_claims_most); i++)
			one.claims.push_back(claims[i].text<"name">());
		out.push_back(std::move(one));
	}
}

/* So that most pods cost no more than a look at the names. */
bool has_devices(json_object *requests)
{
	if (!json_object_is_type(requests, json_type_object))
		return false;
	json_object_object_foreach(requests, name, value)
	{
		(void)value;
		if (core::may_be_devices(name))
			return true;
	}
	return false;
}

/* Errors in requests are those of effective_requests(). */
void take_containers(Containers containers, bool is_init, std::uint32_t &number,
	std::vector<core::ContainerDevices> &out)
{
	for (const auto container : containers) {
		core::ContainerDevices one;
		one.number = number++;
		json_object *list = container.object<"resources">().values<"requests">();
		if (!has_devices(list))
			continue;
		one.container = container.text<"name">();
		one.is_short_lived = is_init && container.text<"restartPolicy">() != "Always";
		const auto requests = amounts_from_json(list, core::Rounding::up);
		std::uint32_t place = 0;
		for (const auto &[resource, amount] : requests ? *requests : Amounts()) {
			if (amount > 0 && core::may_be_devices(resource))
				one.amounts[resource] = {place, amount};
			place++;
		}
		if (!one.amounts.empty())
			out.push_back(std::move(one));
	}
}

} // namespace

std::vector<core::ContainerClaims> container_claims_of(
	View<schema::k_spec> spec, std::set<std::string> &unsupported)
{
	std::vector<core::ContainerClaims> out;
	if (spec.objects<"resourceClaims">().size() == 0)
		return out;
	take_claims(spec, true, out, unsupported);
	take_claims(spec, false, out, unsupported);
	return out;
}

std::vector<core::ContainerDevices> container_devices_of(View<schema::k_spec> spec)
{
	std::vector<core::ContainerDevices> out;
	std::uint32_t number = 0;
	take_containers(spec.objects<"initContainers">(), true, number, out);
	take_containers(spec.objects<"containers">(), false, number, out);
	return out;
}

std::optional<core::ExtendedClaimStatus> extended_claim_of_pod(View<schema::k_status> status)
{
	const auto object = status.object<"extendedResourceClaimStatus">();
	core::ExtendedClaimStatus out;
	out.claim = object.text<"resourceClaimName">();
	if (out.claim.empty())
		return std::nullopt;
	const auto mappings = object.objects<"requestMappings">();
	for (std::size_t i = 0; i < std::min(mappings.size(), k_mappings_most); i++)
		out.mappings.push_back({mappings[i].text<"containerName">(),
			mappings[i].text<"resourceName">(), mappings[i].text<"requestName">()});
	return out;
}

} // namespace slurmkube::codec
