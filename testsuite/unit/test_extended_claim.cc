/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Extended resources that devices back: what is read of pods and classes, and what is written. */
#include "src/codec/extended_claim.h"
#include "src/codec/pod.h"
#include "src/codec/resource_claim.h"
#include "src/codec/resource_slice.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::codec;
using namespace slurmkube::core;

namespace
{

Json parsed(const std::string &text)
{
	auto json = parse_json(text, 1 << 20);
	CHECK(json.ok());
	return json ? std::move(*json) : Json();
}

std::string container(
	const std::string &name, const std::string &requests, const std::string &more = "")
{
	return R"({"name":")" + name + R"(","resources":{"requests":{)" + requests + "}}" + more +
		"}";
}

Pod pod_of(const std::string &spec, const std::string &status = "{}")
{
	const Json json = parsed(R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{)" +
		spec + R"(},"status":)" + status + "}");
	const auto pod = pod_from_json(json.get());
	CHECK(pod.ok());
	return pod ? *pod : Pod();
}

void containers_with_devices()
{
	const Pod pod = pod_of(R"("initContainers":[)" + container("none", R"("cpu":"1")") + "," +
		container("init", R"("x.com/gpu":"2")") + "," +
		container("side", R"("x.com/gpu":1)", R"(,"restartPolicy":"Always")") +
		R"(],"containers":[)" +
		container("main",
			R"("memory":"1Gi","x.com/gpu":"3","cpu":"1","a.com/nic":"1",)"
			R"("x.com/zero":"0")") +
		"]");
	REQUIRE(pod.container_devices.size() == 3);
	const ContainerDevices &init = pod.container_devices[0], &side = pod.container_devices[1],
			       &main = pod.container_devices[2];
	CHECK_EQUAL(init.container, "init");
	CHECK_EQUAL(init.number, 1U);
	CHECK(init.is_short_lived && !side.is_short_lived && !main.is_short_lived);
	CHECK_EQUAL(main.number, 3U);
	/* places count all requests by name: a.com/nic, cpu, memory, x.com/gpu, x.com/zero */
	CHECK((main.amounts ==
		std::map<std::string, ContainerDevices::Amount>{
			{"a.com/nic", {0, 1}}, {"x.com/gpu", {3, 3}}}));
	CHECK(pod_of(R"("containers":[)" + container("main", R"("cpu":"1")") + "]")
			.container_devices.empty());
}

void containers_with_claims()
{
	const std::string claims = R"("resourceClaims":[{"name":"a","resourceClaimName":"x"}],)";
	const std::string main = R"({"name":"main","resources":{"claims":[{"name":"a"},)"
				 R"({"name":"b","request":"r"}],"limits":{"cpu":"1500m"}}})";
	const std::string containers = R"("initContainers":[)" + container("init", R"("cpu":"2")") +
		"," + container("side", "", R"(,"restartPolicy":"Always")") +
		R"(],"containers":[)" + main + "," +
		container("rules", "",
			R"(,"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart"}])") +
		"]";
	const std::vector<ContainerClaims> wanted{{"init", true, true, 2000, {}},
		{"side", false, true, 0, {}}, {"main", false, true, 1500, {"a", "b"}},
		{"rules", false, true, 0, {}, true}};
	CHECK(pod_of(claims + containers).container_claims == wanted);
	CHECK(pod_of(containers).container_claims.empty());
	const Pod once = pod_of(claims + R"("restartPolicy":"Never",)" + containers);
	REQUIRE(once.container_claims.size() == 4);
	CHECK(!once.container_claims[0].may_restart && once.container_claims[1].may_restart);
	CHECK(!once.container_claims[2].may_restart && once.container_claims[3].may_restart);
	/* its own policy does not hold when the pod's sandbox is made again */
	const std::string never =
		R"("containers":[)" + container("main", "", R"(,"restartPolicy":"Never")") + "]";
	CHECK(pod_of(claims + never).container_claims.front().may_restart);
}

void containers_with_very_many_claims()
{
	for (const bool is_many : {false, true}) {
		std::string list = R"({"name":"a"})";
		for (int i = 1; i < (is_many ? 257 : 256); i++)
			list += R"(,{"name":"a","request":"r"})";
		const Pod pod = pod_of(R"("resourceClaims":[{"name":"a","resourceClaimName":"x"}],)"
				       R"("containers":[{"name":"main","resources":{"claims":[)" +
			list + "]}}]");
		CHECK_EQUAL(pod.unsupported_fields.size(), std::size_t{is_many ? 1U : 0U});
		CHECK(!is_many ||
			pod.unsupported_fields.front() ==
				"resources.claims of a container with more than 256 claims");
	}
}

void the_claim_in_the_status()
{
	const Pod pod = pod_of(R"("containers":[])",
		R"({"extendedResourceClaimStatus":{"resourceClaimName":"c","requestMappings":[)"
		R"({"containerName":"main","resourceName":"x.com/gpu","requestName":"r"}]}})");
	CHECK(pod.extended_claim ==
		std::optional(ExtendedClaimStatus{"c", {{"main", "x.com/gpu", "r"}}}));
	CHECK(!pod_of(R"("containers":[])").extended_claim);
	CHECK(!pod_of(R"("containers":[])", R"({"extendedResourceClaimStatus":{}})")
			.extended_claim);
}

void a_class_with_a_resource()
{
	const Json json = parsed(R"({"metadata":{"name":"gpu","uid":"u",)"
				 R"("creationTimestamp":"1970-01-01T00:01:00Z"},)"
				 R"("spec":{"extendedResourceName":"x.com/gpu"}})");
	const auto found = device_class_from_json(json.get());
	REQUIRE(found.ok());
	CHECK_EQUAL(found->extended_resource, "x.com/gpu");
	CHECK_EQUAL(found->created, 60);
}

CreateClaim creation()
{
	DeviceRequest request;
	request.name = "container-0-request-1";
	request.device_class = "gpu";
	request.count = 2;
	return {{"n", "p-extended-resources-x"}, "p", "u", {request}};
}

void writes()
{
	CHECK_EQUAL(extended_claim_body(creation()),
		R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{)"
		R"("name":"p-extended-resources-x","namespace":"n",)"
		R"("generateName":"p-extended-resources-","annotations":{)"
		R"("resource.kubernetes.io/extended-resource-claim":"true"},"ownerReferences":[{)"
		R"("apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true}]},)"
		R"("spec":{"devices":{"requests":[{"name":"container-0-request-1","exactly":{)"
		R"("deviceClassName":"gpu","allocationMode":"ExactCount","count":2}}]}}})");
	CHECK_EQUAL(mappings_patch({{"n", "c"}, "p", "u", {{"main", "x.com/gpu", "r"}}}),
		R"({"metadata":{"uid":"u"},"status":{"extendedResourceClaimStatus":{)"
		R"("requestMappings":[{"containerName":"main","resourceName":"x.com/gpu",)"
		R"("requestName":"r"}],"resourceClaimName":"c"}}})");
}

/* Else the agent would not know its own claim. */
void what_is_written_is_read_the_same()
{
	Json json = parsed(extended_claim_body(creation()));
	put(get(json.get(), "metadata"), "uid", "made");
	const auto claim = resource_claim_from_json(json.get());
	REQUIRE(claim.ok());
	CHECK(claim->is_extended);
	CHECK_EQUAL(claim->owner_uid, "u");
	CHECK(claim->id == creation().claim);
	CHECK(claim->requests == creation().requests);
	CHECK_EQUAL(claim->unsupported, "");
}

} // namespace

int main()
{
	return check::run_tests("extended_claim",
		{TEST(containers_with_devices), TEST(containers_with_claims),
			TEST(containers_with_very_many_claims), TEST(the_claim_in_the_status),
			TEST(a_class_with_a_resource), TEST(writes),
			TEST(what_is_written_is_read_the_same)});
}
