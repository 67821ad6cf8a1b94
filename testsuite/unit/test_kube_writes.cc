/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/json.h"
#include "src/codec/kube_writes.h"
#include "src/codec/lease.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::codec;

namespace
{

void a_binding_carries_uid_annotations_and_labels()
{
	Binding binding{.name_space = "default",
		.name = "p",
		.uid = "u-1",
		.node = "n1",
		.annotations = {{"a/b", "1"}},
		.labels = {}};
	CHECK_EQUAL(binding_body(binding),
		"{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"uid\":\"u-1\","
		"\"name\":\"p\",\"namespace\":\"default\","
		"\"annotations\":{\"a/"
		"b\":\"1\"}},\"target\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\"}"
		"}");
	binding.labels = {{"l", "x\"y"}};
	const auto body = parse_json(binding_body(binding), 1000);
	REQUIRE(body.ok());
	CHECK_EQUAL(get_string(get(body.value().get(), "metadata", "labels"), "l"), "x\"y");
}

void a_conditions_patch_has_the_uid_and_every_condition()
{
	CHECK_EQUAL(conditions_patch("u", {}, "42"),
		"{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"42\"},\"status\":{"
		"\"conditions\":[]}}");
	CHECK_EQUAL(conditions_patch("u",
			    {{.type = "DisruptionTarget",
				     .status = true,
				     .reason = "R",
				     .message = "m",
				     .transition_time = 1795230537},
				    {.type = "PodScheduled",
					    .status = false,
					    .reason = "S",
					    .message = "n"}}),
		"{\"metadata\":{\"uid\":\"u\"},\"status\":{\"conditions\":[{\"type\":"
		"\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"R\",\"message\":\"m\","
		"\"lastTransitionTime\":\"2026-11-21T03:08:57Z\"},{\"type\":\"PodScheduled\","
		"\"status\":\"False\",\"reason\":\"S\",\"message\":\"n\"}]}}");
}

/* resourceVersion is a precondition, so that another client's write in between is not lost. */
void a_drain_condition_keeps_its_time_unless_its_status_changes()
{
	const core::DrainCondition condition{"True", "Drained", "bad \"disk\""};
	const std::string head = R"({"metadata":{"uid":"u"},"status":{"conditions":[{)"
				 R"("type":"SlurmDrain","status":"True","reason":"Drained",)"
				 R"("message":"bad \"disk\"")";
	CHECK_EQUAL(drain_condition_patch("u", condition, 0), head + "}]}}");
	CHECK_EQUAL(drain_condition_patch("u", condition, 1795230537),
		head + R"(,"lastTransitionTime":"2026-11-21T03:08:57Z"}]}})");
}

void a_claim_gets_a_volume_or_a_node()
{
	CHECK_EQUAL(claim_ref_patch({.claim = {"lab", "c"},
			    .claim_uid = "cu",
			    .claim_version = "7",
			    .volume = "v",
			    .volume_uid = "vu",
			    .volume_version = "5"}),
		"{\"metadata\":{\"uid\":\"vu\",\"resourceVersion\":\"5\",\"annotations\":{\"pv."
		"kubernetes.io/bound-by-controller\":\"yes\"}},\"spec\":{\"claimRef\":{"
		"\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"namespace\":\"lab\","
		"\"name\":\"c\",\"uid\":\"cu\",\"resourceVersion\":\"7\"}}}");
	CHECK_EQUAL(selected_node_patch({.claim = {"lab", "c"},
			    .claim_uid = "cu",
			    .claim_version = "7",
			    .node = "n1"}),
		"{\"metadata\":{\"uid\":\"cu\",\"resourceVersion\":\"7\",\"annotations\":{\"volume."
		"kubernetes.io/selected-node\":\"n1\"}}}");
}

void delete_options_name_the_uid_and_grace_only_when_given()
{
	CHECK_EQUAL(delete_options("u", std::nullopt),
		"{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":"
		"\"u\"}}");
	CHECK_EQUAL(delete_options("u", 7),
		"{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":"
		"\"u\"},\"gracePeriodSeconds\":7}");
}

void an_event_keeps_the_servers_limits()
{
	Event event{.name_space = "",
		.name = std::string(253, 'n'),
		.uid = "u",
		.warning = true,
		.reason = std::string(200, 'r'),
		.action = "Binding",
		.note = std::string(1023, 'x') + "\xc3\xa4",
		.reporting_instance = "host"};
	event.kind = "Node";
	const auto body = parse_json(event_body(event, 1795230537000007), 10'000);
	REQUIRE(body.ok());
	json_object *o = body.value().get();
	/* one byte less than the limit, which would cut a two-byte letter in half */
	CHECK_EQUAL(get_string(o, "note").size(), 1023U);
	CHECK_EQUAL(get_string(o, "reason").size(), 128U);
	CHECK_EQUAL(get_string(o, "eventTime"), "2026-11-21T03:08:57.000007Z");
	CHECK_EQUAL(get_string(o, "type"), "Warning");
	CHECK_EQUAL(get_string(get(o, "metadata"), "namespace"), "default");
	CHECK(get_string(get(o, "metadata"), "name").size() <= 253);
	CHECK(get(o, "regarding", "namespace") == nullptr);
}

void a_lease_is_written_and_read()
{
	core::LeaseRecord record{.holder = "prod@ctl1_7",
		.resource_version = "",
		.duration_seconds = 40,
		.acquired_s = 1795230537,
		.renewed_s = 1795230547,
		.transitions = 2};
	const std::string spec =
		R"("spec":{"holderIdentity":"prod@ctl1_7","leaseDurationSeconds":40,)"
		R"("acquireTime":"2026-11-21T03:08:57.000000Z",)"
		R"("renewTime":"2026-11-21T03:09:07.000000Z","leaseTransitions":2}})";
	const std::string metadata = R"("metadata":{"name":"n","namespace":"ns",)"
				     R"("labels":{"app.kubernetes.io/name":"slurm-kube"})";
	const std::string head = R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)";
	CHECK_EQUAL(lease_body("ns", "n", record), head + metadata + "}," + spec);
	record.resource_version = "9";
	const std::string body = lease_body("ns", "n", record);
	CHECK_EQUAL(body, head + metadata + R"(,"resourceVersion":"9"},)" + spec);
	const auto object = parse_json(body, 10'000);
	REQUIRE(object.ok());
	const auto read = lease_from_json(object->get());
	CHECK(read.ok() && *read == record);
	const auto pod = parse_json(R"({"kind":"Pod","metadata":{"resourceVersion":"9"}})", 1000);
	CHECK(!lease_from_json(pod->get()).ok());
	const auto bare =
		parse_json(R"({"kind":"Lease","metadata":{"resourceVersion":"9"}})", 1000);
	CHECK(lease_from_json(bare->get()).ok() && lease_from_json(bare->get())->holder.empty());
}

void a_question_about_a_right_may_name_a_namespace()
{
	const std::string head =
		R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",)"
		R"("spec":{"resourceAttributes":{"verb":"get","group":"g","resource":"pods")";
	CHECK_EQUAL(
		access_review_body("get", "g", "pods/log"), head + R"(,"subresource":"log"}}})");
	CHECK_EQUAL(access_review_body("get", "g", "pods", "ns"), head + R"(,"namespace":"ns"}}})");
}

void text_is_cut_between_characters()
{
	CHECK_EQUAL(cut_utf8("abc", 3), "abc");
	CHECK_EQUAL(cut_utf8("abcd", 3), "abc");
	CHECK_EQUAL(cut_utf8("a\xe2\x82\xac", 3), "a");
	CHECK_EQUAL(cut_utf8("a\xe2\x82\xac", 4), "a\xe2\x82\xac");
	CHECK_EQUAL(cut_utf8("\x80\x80\x80", 2), "");
}

} // namespace

int main()
{
	return check::run_tests("kube_writes",
		{
			TEST(a_binding_carries_uid_annotations_and_labels),
			TEST(a_conditions_patch_has_the_uid_and_every_condition),
			TEST(a_drain_condition_keeps_its_time_unless_its_status_changes),
			TEST(a_claim_gets_a_volume_or_a_node),
			TEST(delete_options_name_the_uid_and_grace_only_when_given),
			TEST(an_event_keeps_the_servers_limits),
			TEST(a_lease_is_written_and_read),
			TEST(a_question_about_a_right_may_name_a_namespace),
			TEST(text_is_cut_between_characters),
		});
}
