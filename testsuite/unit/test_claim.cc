/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/claim.h"
#include "src/codec/scheduling_constraints.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::codec;

namespace
{

Json parsed(const std::string &text)
{
	auto json = parse_json(text, 100'000);
	return json ? std::move(*json) : Json();
}

void a_claim_is_read()
{
	const Json json = parsed(
		R"({"metadata":{"name":"c","namespace":"lab","uid":"u","resourceVersion":"3",)"
		R"("annotations":{"volume.kubernetes.io/selected-node":"n1",
		"pv.kubernetes.io/bind-completed":"yes"},"ownerReferences":[{"kind":"Pod",)"
		R"("uid":"p","controller":true}]},"spec":{"volumeName":"v",)"
		R"("accessModes":["ReadWriteOncePod"],
		"resources":{"requests":{"storage":"1Ki"}},"storageClassName":"local",)"
		R"("selector":{"matchLabels":{"tier":"x"}}},"status":{"phase":"Bound"}})");
	const auto claim = claim_from_json(json.get());
	REQUIRE(claim.ok());
	core::Claim want;
	want.id = {"lab", "c"};
	want.uid = "u";
	want.resource_version = "3";
	want.owner_uid = "p";
	want.storage_class = "local";
	want.volume = "v";
	want.is_bound = true;
	want.selected_node = "n1";
	want.bytes = 1024;
	want.access_modes = {"ReadWriteOncePod"};
	want.selector = core::PodSelector{{{"tier", "x"}}, {}};
	CHECK(*claim == want);
	const auto half =
		claim_from_json(parsed(R"({"metadata":{"name":"c","namespace":"lab","uid":"u"},)"
				       R"("spec":{"volumeName":"v"},"status":{"phase":"Lost"}})")
					.get());
	REQUIRE(half.ok());
	CHECK(!half->is_bound && half->is_lost && half->volume_mode == "Filesystem");
	const auto broken =
		claim_from_json(parsed(R"({"metadata":{"name":"c","namespace":"lab","uid":"u"},)"
				       R"("spec":{"resources":{"requests":{"storage":"x"}}}})")
					.get());
	REQUIRE(!broken.ok());
	CHECK(broken.error().what.starts_with("volume claim lab/c: "));
	CHECK(!claim_from_json(parsed(R"({"metadata":{"name":"c","uid":"u"}})").get()).ok());
}

void a_volume_and_a_class_are_read()
{
	const auto volume = volume_from_json(parsed(
		R"({"metadata":{"name":"v","uid":"u","resourceVersion":"3","labels":{"a":"b"}},)"
		R"("spec":{"capacity":{"storage":"1500m"},
		"accessModes":["ReadWriteOnce"],"storageClassName":"local","volumeMode":"Block",)"
		R"("claimRef":{"namespace":"lab","name":"c","uid":"cu"},"nodeAffinity":{"required":
		{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In",)"
		R"("values":["n1"]}]}]}}},"status":{"phase":"Available"}})")
						     .get());
	REQUIRE(volume.ok());
	CHECK_EQUAL(volume->bytes, 1); /* 1.5 bytes, rounded down */
	CHECK(volume->is_available && !volume->deleting &&
		volume->claim == (core::ClaimId{"lab", "c"}) && volume->claim_uid == "cu" &&
		volume->volume_mode == "Block");
	REQUIRE(volume->node_terms.has_value() && volume->node_terms->size() == 1);
	CHECK(volume->node_terms->front().labels ==
		(std::vector<core::Requirement>{{"k", core::SelectorOp::in, {"n1"}}}));
	const auto late = storage_class_from_json(
		parsed(R"({"metadata":{"name":"late","uid":"u"},"provisioner":"p",)"
		       R"("volumeBindingMode":"WaitForFirstConsumer",
		"allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["a",)"
		       R"("b"]}]}]})")
			.get());
	REQUIRE(late.ok());
	CHECK(late->waits_for_pod && late->provisioner == "p" && late->topologies.size() == 1);
	CHECK(late->topologies.front().labels ==
		(std::vector<core::Requirement>{{"zone", core::SelectorOp::in, {"a", "b"}}}));
	const auto now = storage_class_from_json(
		parsed(R"({"metadata":{"name":"now","uid":"u"},"provisioner":"p"})").get());
	REQUIRE(now.ok());
	CHECK(!now->waits_for_pod);
}

/* Fields that cannot be read must not allow more nodes or volumes. */
void what_cannot_be_read_matches_nothing()
{
	const auto claim = claim_from_json(parsed(
		R"({"metadata":{"name":"c","namespace":"lab","uid":"u"},)"
		R"("spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}})")
						   .get());
	REQUIRE(claim.ok() && claim->selector.has_value());
	CHECK(*claim->selector != core::PodSelector{});
	std::string many = "{}";
	for (int i = 0; i < 256; i++)
		many += ",{}";
	const auto volume = volume_from_json(
		parsed(R"({"metadata":{"name":"v","uid":"u"},)"
		       R"("spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[)" +
			many + "]}}}}")
			.get());
	REQUIRE(volume.ok() && volume->node_terms.has_value());
	CHECK(volume->node_terms->empty());
}

void a_pods_claims_have_their_names()
{
	std::set<std::string> unsupported;
	const auto claims =
		claims_of_pod(parsed(R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"b",)"
				     R"("persistentVolumeClaim":{"claimName":"x"}},)"
				     R"({"name":"c","ephemeral":{}}]})")
				      .get(),
			"pod", unsupported);
	CHECK(claims == (std::vector<core::PodClaim>{{"x", false}, {"pod-c", true}}));
	CHECK(unsupported.empty());
}

} // namespace

int main()
{
	return check::run_tests("claim",
		{TEST(a_claim_is_read), TEST(a_volume_and_a_class_are_read),
			TEST(what_cannot_be_read_matches_nothing),
			TEST(a_pods_claims_have_their_names)});
}
