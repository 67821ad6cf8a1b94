/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices that containers request as a resource: which class backs it, and the claim for it. */
#include "src/core/device/extended_resource.h"
#include "testsuite/unit/check.h"

#include <utility>

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

constexpr char k_gpu[] = "example.com/gpu";

DeviceClass device_class(
	const std::string &name, const std::string &resource, std::int64_t created = 0)
{
	DeviceClass out;
	out.name = name;
	out.extended_resource = resource;
	out.created = created;
	return out;
}

std::map<std::string, DeviceClass> classes(std::vector<DeviceClass> list)
{
	std::map<std::string, DeviceClass> out;
	for (DeviceClass &one : list)
		out[one.name] = std::move(one);
	return out;
}

const std::map<std::string, DeviceClass> k_classes = classes({device_class("gpu", k_gpu)});

const std::map<std::string, DeviceClass> k_none;

ContainerDevices container(std::uint32_t number, std::int64_t count, bool is_short_lived = false,
	const std::string &resource = k_gpu, std::uint32_t place = 0)
{
	ContainerDevices out;
	out.container = "c" + std::to_string(number);
	out.number = number;
	out.is_short_lived = is_short_lived;
	out.amounts[resource] = {place, count};
	return out;
}

Pod pod_with(std::vector<ContainerDevices> containers)
{
	Pod out;
	out.uid = {"u"};
	out.name_space = "n";
	out.name = "train";
	for (const ContainerDevices &one : containers) {
		for (const auto &[resource, amount] : one.amounts)
			out.requests.extended[resource] += amount.count;
	}
	out.container_devices = std::move(containers);
	return out;
}

Pod backed(std::vector<ContainerDevices> containers)
{
	Pod out = pod_with(std::move(containers));
	note_backed(out, &k_classes);
	return out;
}

/* "container-0-request-0=1 c0:container-0-request-0" */
std::string text_of(const ExtendedClaim &claim)
{
	std::string out;
	for (const DeviceRequest &one : claim.claim.requests)
		out += one.name.substr(10) + "=" + std::to_string(one.count) + " ";
	for (const DeviceMapping &one : claim.mappings)
		out += one.container + ":" + one.request.substr(10) + " ";
	return out;
}

void names_that_devices_may_have()
{
	for (const char *name : {k_gpu, "nvidia.com/gpu", "deviceclass.resource.kubernetes.io/gpu"})
		CHECK(may_be_devices(name));
	for (const char *name : {"cpu", "memory", "hugepages-2Mi", "ephemeral-storage",
		     "kubernetes.io/x", "a.kubernetes.io/x", "requests.example.com/gpu"})
		CHECK(!may_be_devices(name));
}

void the_class_of_a_resource()
{
	const auto all = classes({device_class("old", k_gpu, 1), device_class("new", k_gpu, 2),
		device_class("b", "x/y", 5), device_class("a", "x/y", 5), device_class("c", "")});
	const std::pair<const char *, const char *> rows[] = {
		{k_gpu, "new"},
		{"x/y", "a"},
		{"deviceclass.resource.kubernetes.io/c", "c"},
		{"deviceclass.resource.kubernetes.io/old", "old"},
		{"deviceclass.resource.kubernetes.io/none", nullptr},
		{"example.com/other", nullptr},
	};
	for (const auto &[resource, expected] : rows) {
		const DeviceClass *found = class_of_resource(resource, all);
		CHECK_EQUAL(found ? found->name : "", std::string(expected ? expected : ""));
	}
}

void a_backed_resource_becomes_a_claim()
{
	Pod pod = pod_with({container(0, 2), container(1, 3, false, "example.com/fpga")});
	note_backed(pod, &k_classes);
	note_backed(pod, &k_classes); /* the same again */
	CHECK(pod.requests.extended ==
		(std::map<std::string, std::int64_t>{{"example.com/fpga", 3}}));
	CHECK(pod.backed == (std::map<std::string, BackedResource>{{k_gpu, {"gpu", 2}}}));
	REQUIRE(pod.resource_claims.size() == 1);
	CHECK(pod.resource_claims.front().is_extended);
	CHECK_EQUAL(backed_text(pod), "resource example.com/gpu (DeviceClass gpu)");
	/* the class is gone, or the rules are */
	for (const bool has_rules : {true, false}) {
		Pod without = pod;
		if (has_rules)
			note_backed(without, &k_none);
		else
			forget_backed(without);
		CHECK(without.backed.empty() && without.resource_claims.empty());
		CHECK_EQUAL(without.requests.extended[k_gpu], 2);
	}
}

/* Then a device plugin may offer the resource, or a class may name it. */
void classes_that_are_not_known_yet()
{
	Pod pod = pod_with({container(0, 2)});
	note_backed(pod, nullptr);
	CHECK(is_backing_unknown(pod) && pod.requests.extended.empty());
	note_backed(pod, &k_none);
	CHECK(!is_backing_unknown(pod) && pod.backed.empty());
	CHECK_EQUAL(pod.requests.extended[k_gpu], 2);
	note_backed(pod, &k_classes);
	CHECK(!is_backing_unknown(pod) && !pod.backed.empty());
	pod.node_name = "n1";
	note_backed(pod, nullptr);
	CHECK(pod.backed.empty());
}

/* A device plugin has given it the devices, or a scheduler a claim. */
void a_bound_pod_has_what_its_status_says()
{
	Pod pod = pod_with({container(0, 1)});
	pod.node_name = "n1";
	note_backed(pod, &k_classes);
	CHECK(pod.backed.empty());
	pod.extended_claim = ExtendedClaimStatus{"made", {{"c0", k_gpu, "container-0-request-0"}}};
	note_backed(pod, &k_classes);
	CHECK_EQUAL(pod.backed[k_gpu].device_class, "gpu");
	CHECK_EQUAL(pod.resource_claims.front().claim, "made");
	note_backed(pod, &k_none);
	CHECK(pod.backed.contains(k_gpu));
}

/* As kube-scheduler makes them. */
void requests_and_mappings()
{
	const std::pair<std::vector<ContainerDevices>, const char *> rows[] = {
		{{container(0, 2)}, "0-request-0=2 c0:0-request-0 "},
		{{container(0, 1), container(2, 1)},
			"0-request-0=1 2-request-0=1 c0:0-request-0 c2:2-request-0 "},
		/* an init container uses the devices of those that start later */
		{{container(0, 1, true), container(1, 2)},
			"1-request-0=2 c1:1-request-0 c0:1-request-0 "},
		{{container(0, 3, true), container(1, 1), container(2, 1)},
			"0-request-0=1 1-request-0=1 2-request-0=1 c1:1-request-0 c2:2-request-0 "
			"c0:1-request-0 c0:2-request-0 c0:0-request-0 "},
		/* not those of a sidecar that was started before */
		{{container(0, 1), container(1, 1, true)},
			"0-request-0=1 1-request-0=1 c0:0-request-0 c1:1-request-0 "},
		/* init containers share the largest of their requests */
		{{container(0, 2, true), container(1, 4, true), container(2, 1)},
			"1-request-0=3 2-request-0=1 c2:2-request-0 c0:2-request-0 c0:1-request-0 "
			"c1:2-request-0 c1:1-request-0 "},
	};
	for (const auto &[containers, expected] : rows)
		CHECK_EQUAL(text_of(extended_claim_of(backed(containers))), std::string(expected));
}

void requests_for_two_resources()
{
	ContainerDevices both = container(0, 1, false, k_gpu, 2);
	both.amounts["deviceclass.resource.kubernetes.io/gpu"] = {1, 2};
	const ExtendedClaim claim = extended_claim_of(backed({both}));
	CHECK_EQUAL(text_of(claim), "0-request-1=2 0-request-2=1 c0:0-request-1 c0:0-request-2 ");
	CHECK_EQUAL(claim.mappings.front().resource, "deviceclass.resource.kubernetes.io/gpu");
	CHECK_EQUAL(claim.claim.requests.front().device_class, "gpu");
}

/* Another agent must find the same name, or it would make a second claim. */
void the_name_follows_from_the_pod()
{
	Pod pod = backed({container(0, 1)});
	CHECK_EQUAL(extended_claim_of(pod).claim.id.name, "train-extended-resources-cmtx9nhbc8");
	CHECK_EQUAL(extended_claim_of(pod).claim.id.name_space, "n");
	CHECK_EQUAL(extended_claim_of(pod).claim.owner_uid, "u");
	CHECK(extended_claim_of(pod).claim.uid.empty());
	const std::string first = extended_claim_of(pod).claim.id.name;
	pod.uid = {"v"};
	CHECK(extended_claim_of(pod).claim.id.name != first);
	pod.name = std::string(253, 'x');
	CHECK_EQUAL(extended_claim_of(pod).claim.id.name.size(), std::size_t{63});
}

void more_requests_than_a_claim_can_have()
{
	std::vector<ContainerDevices> containers;
	for (std::uint32_t i = 0; i < 33; i++)
		containers.push_back(container(i, 1));
	CHECK(!extended_claim_of(backed(containers)).claim.unsupported.empty());
	containers.pop_back();
	CHECK(extended_claim_of(backed(containers)).claim.unsupported.empty());
}

void a_claim_that_was_made_is_compared()
{
	const ResourceClaim wanted = extended_claim_of(backed({container(0, 1)})).claim;
	ResourceClaim made = wanted;
	made.uid = "made";
	made.resource_version = "7";
	made.allocation.emplace();
	CHECK(asks_the_same(made, wanted));
	const auto differs = [&](auto change) {
		ResourceClaim other = made;
		change(other);
		return !asks_the_same(other, wanted);
	};
	CHECK(differs([](ResourceClaim &c) { c.requests.front().count = 2; }));
	CHECK(differs([](ResourceClaim &c) { c.requests.front().device_class = "other"; }));
	CHECK(differs([](ResourceClaim &c) { c.requests.front().is_for_admin = true; }));
	CHECK(differs([](ResourceClaim &c) { c.constraints.emplace_back(); }));
	CHECK(differs([](ResourceClaim &c) { c.configs.emplace_back(); }));
	CHECK(differs([](ResourceClaim &c) { c.unsupported = "x"; }));
}

} // namespace

int main()
{
	return check::run_tests("extended_resource",
		{TEST(names_that_devices_may_have), TEST(the_class_of_a_resource),
			TEST(a_backed_resource_becomes_a_claim),
			TEST(classes_that_are_not_known_yet),
			TEST(a_bound_pod_has_what_its_status_says), TEST(requests_and_mappings),
			TEST(requests_for_two_resources), TEST(the_name_follows_from_the_pod),
			TEST(more_requests_than_a_claim_can_have),
			TEST(a_claim_that_was_made_is_compared)});
}
