/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/extended_resource.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace slurmkube::core
{

namespace
{

/* every class backs the resource of this name and its own */
constexpr std::string_view k_class_prefix = "deviceclass.resource.kubernetes.io/";
constexpr char k_name_in_texts[] = "extended resources";

/* Kubernetes: a claim has at most 32 requests, a generated name at most 63 characters. */
constexpr std::size_t k_requests_most = 32, k_name_most = 63, k_hash_length = 10;

/* Of two classes with the same resource the newer one, so that a class can be replaced. */
bool is_preferred(const DeviceClass &one, const DeviceClass &other)
{
	return one.created != other.created ? one.created > other.created : one.name < other.name;
}

bool is_mapped(const Pod &pod, const std::string &resource)
{
	return pod.extended_claim &&
		std::ranges::any_of(pod.extended_claim->mappings,
			[&](const DeviceMapping &one) { return one.resource == resource; });
}

/* nullopt: no devices back the resource. */
std::optional<std::string> backing_class(const Pod &pod, const std::string &resource,
	const std::map<std::string, DeviceClass> *classes)
{
	const DeviceClass *found = classes ? class_of_resource(resource, *classes) : nullptr;
	const bool may_be_new = pod.node_name.empty() && (found || !classes);
	const bool is_backed = may_be_new || is_mapped(pod, resource);
	return is_backed ? std::optional(found ? found->name : "") : std::nullopt;
}

/* FNV-1a, in the characters that Kubernetes uses in generated names: no words come out. */
std::string hash_text(std::string_view text)
{
	constexpr std::string_view characters = "bcdfghjklmnpqrstvwxz2456789";
	std::uint64_t hash = 0xcbf29ce484222325;
	for (const char c : text)
		hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
	std::string out;
	for (std::size_t i = 0; i < k_hash_length; i++, hash /= characters.size())
		out += characters[hash % characters.size()];
	return out;
}

/* The requests for one resource, in the steps of kube-scheduler. */
class ResourceRequests
{
      public:
	ResourceRequests(const std::string &resource, const std::string &device_class)
	    : resource_(resource), class_(device_class)
	{
	}

	void make(const Pod &pod, ExtendedClaim &out)
	{
		for (const ContainerDevices &one : pod.container_devices) {
			if (!one.is_short_lived)
				add_long_lived(one);
		}
		for (const ContainerDevices &one : pod.container_devices) {
			if (one.is_short_lived)
				add_short_lived(one);
		}
		share_largest();
		if (largest_)
			out.claim.requests.push_back(*largest_);
		for (const auto &[number, request] : requests_)
			out.claim.requests.push_back(request);
		out.mappings.insert(out.mappings.end(), mappings_.begin(), mappings_.end());
		out.mappings.insert(
			out.mappings.end(), short_mappings_.begin(), short_mappings_.end());
	}

      private:
	[[nodiscard]] ContainerDevices::Amount amount_of(const ContainerDevices &one) const
	{
		const auto found = one.amounts.find(resource_);
		return found == one.amounts.end() ? ContainerDevices::Amount() : found->second;
	}

	[[nodiscard]] DeviceRequest request_of(
		const ContainerDevices &one, std::uint32_t place, std::int64_t count) const
	{
		DeviceRequest out;
		out.name = "container-" + std::to_string(one.number) + "-request-" +
			std::to_string(place);
		out.device_class = class_;
		out.count = count;
		return out;
	}

	void add_long_lived(const ContainerDevices &one)
	{
		const auto [place, count] = amount_of(one);
		if (count == 0)
			return;
		const DeviceRequest request = request_of(one, place, count);
		mappings_.push_back({one.container, resource_, request.name});
		requests_.emplace(one.number, request);
	}

	/* It uses the devices of containers that start after it, and its own only beyond those. */
	void add_short_lived(const ContainerDevices &one)
	{
		const auto [place, count] = amount_of(one);
		std::int64_t sum = 0;
		for (auto later = requests_.lower_bound(one.number);
			later != requests_.end() && sum < count; later++) {
			sum += later->second.count;
			short_mappings_.push_back({one.container, resource_, later->second.name});
		}
		if (sum >= count)
			return;
		DeviceRequest request = request_of(one, place, count - sum);
		short_mappings_.push_back({one.container, resource_, request.name});
		own_.push_back(request.name);
		if (!largest_ || largest_->count < request.count)
			largest_ = std::move(request);
	}

	/* Such containers run one after the other, so they share the largest of their requests. */
	void share_largest()
	{
		for (DeviceMapping &one : short_mappings_) {
			if (std::ranges::find(own_, one.request) != own_.end())
				one.request = largest_->name;
		}
	}

	const std::string &resource_, &class_;
	std::map<std::uint32_t, DeviceRequest> requests_; /* by number of the container */
	std::vector<DeviceMapping> mappings_, short_mappings_;
	std::vector<std::string> own_; /* requests of containers that end */
	std::optional<DeviceRequest> largest_;
};

} // namespace

bool may_be_devices(const std::string &resource)
{
	if (resource.starts_with(k_class_prefix))
		return true;
	return resource.find('/') != std::string::npos && !resource.starts_with("requests.") &&
		resource.find("kubernetes.io/") == std::string::npos;
}

const DeviceClass *class_of_resource(
	const std::string &resource, const std::map<std::string, DeviceClass> &classes)
{
	if (resource.starts_with(k_class_prefix)) {
		const auto found = classes.find(resource.substr(k_class_prefix.size()));
		return found == classes.end() ? nullptr : &found->second;
	}
	const DeviceClass *out = nullptr;
	for (const auto &[name, one] : classes) {
		if (one.extended_resource == resource && (!out || is_preferred(one, *out)))
			out = &one;
	}
	return out;
}

void forget_backed(Pod &pod)
{
	for (const auto &[resource, one] : pod.backed)
		pod.requests.extended.insert_or_assign(resource, one.amount);
	pod.backed.clear();
	std::erase_if(pod.resource_claims,
		[](const PodResourceClaim &claim) { return claim.is_extended; });
}

bool is_backing_unknown(const Pod &pod)
{
	return std::ranges::any_of(
		pod.backed, [](const auto &one) { return one.second.device_class.empty(); });
}

void note_backed(Pod &pod, const std::map<std::string, DeviceClass> *classes)
{
	forget_backed(pod);
	for (const ContainerDevices &one : pod.container_devices) {
		for (const auto &[resource, amount] : one.amounts) {
			auto device_class = backing_class(pod, resource, classes);
			const auto requested = pod.requests.extended.find(resource);
			if (!device_class || requested == pod.requests.extended.end())
				continue;
			pod.backed[resource] = {std::move(*device_class), requested->second};
			pod.requests.extended.erase(requested);
		}
	}
	if (pod.backed.empty())
		return;
	PodResourceClaim &claim = pod.resource_claims.emplace_back();
	claim.name = k_name_in_texts;
	claim.claim = pod.extended_claim ? pod.extended_claim->claim : "";
	claim.is_own = claim.is_extended = true;
}

std::string extended_claim_prefix(const std::string &pod_name)
{
	return pod_name + "-extended-resources-";
}

ExtendedClaim extended_claim_of(const Pod &pod)
{
	ExtendedClaim out;
	for (const auto &[resource, one] : pod.backed)
		ResourceRequests(resource, one.device_class).make(pod, out);
	std::ranges::sort(out.claim.requests, {}, &DeviceRequest::name);
	if (out.claim.requests.size() > k_requests_most)
		out.claim.unsupported = "more than 32 containers with " + backed_text(pod);
	std::string name = extended_claim_prefix(pod.name).substr(0, k_name_most - k_hash_length);
	out.claim.id = {pod.name_space, name + hash_text(pod.uid.text)};
	out.claim.owner_uid = pod.uid.text;
	out.claim.is_extended = true;
	if (pod.extended_claim)
		out.named = pod.extended_claim->claim;
	return out;
}

bool asks_the_same(const ResourceClaim &made, const ResourceClaim &wanted)
{
	return made.requests == wanted.requests && made.constraints.empty() &&
		made.configs.empty() && made.unsupported == wanted.unsupported;
}

std::string backed_text(const Pod &pod)
{
	std::string out;
	for (const auto &[resource, one] : pod.backed)
		out += (out.empty() ? "resource " : ", ") + resource + " (DeviceClass " +
			one.device_class + ")";
	return out;
}

} // namespace slurmkube::core
