/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/marker.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::codec;

namespace
{

core::Marker example()
{
	return {.cluster = "main",
		.name_space = "default",
		.name = "train-0-abcde",
		.kind = "Pod",
		.uid = "3b6f1e0c-9d5e-4f3f-8f2b-0a6f6d0f9a11",
		.attempt = 2,
		.user_id = 1000,
		.group_id = 1001};
}

std::string replaced(std::string text, const std::string &from, const std::string &to)
{
	std::size_t at = text.find(from);
	return at == std::string::npos ? "no such text" : text.replace(at, from.size(), to);
}

void a_marker_comes_back_as_it_was()
{
	auto back = marker_from_text(marker_to_text(example()));
	REQUIRE(back.ok());
	CHECK(*back == example());
}

void options_are_kept_and_may_be_missing()
{
	auto marker = example();
	marker.options = "00 11 comment,hold";
	CHECK(*marker_from_text(marker_to_text(marker)) == marker);
	CHECK_EQUAL(marker_from_text(marker_to_text(example()))->options, "");
	marker.options = "a\nb";
	CHECK(!marker_from_text(marker_to_text(marker)).ok());
}

void the_cluster_is_kept_and_may_be_missing()
{
	auto marker = example();
	marker.cluster_uid = "0b8cbe7f-6a38-4d8e-9c53-6f8f0b1f1c01";
	marker.given_up = true;
	marker.exclusions = "6b4af8ec2f5cd0b9";
	CHECK(*marker_from_text(marker_to_text(marker)) == marker);
	CHECK_EQUAL(marker_from_text(marker_to_text(example()))->cluster_uid, "");
	CHECK(!marker_from_text(marker_to_text(example()))->given_up);
	CHECK(!marker_from_text(
		replaced(marker_to_text(marker), "\"given_up\":true", "\"given_up\":1"))
			.ok());
	marker.since = 1764029000;
	CHECK_EQUAL(marker_from_text(marker_to_text(marker))->since, 1764029000);
	CHECK(!marker_from_text(replaced(marker_to_text(marker), "1764029000", "-1")).ok());
	marker.cluster_uid = "a\nb";
	CHECK(!marker_from_text(marker_to_text(marker)).ok());
}

void the_text_is_what_the_protocol_shows()
{
	CHECK_EQUAL(marker_to_text(example()),
		R"({"slurm-kube":1,"cluster":"main","namespace":"default",)"
		R"("name":"train-0-abcde","kind":"Pod",)"
		R"("uid":"3b6f1e0c-9d5e-4f3f-8f2b-0a6f6d0f9a11","attempt":2,"user":1000,)"
		R"("group":1001})");
}

void every_key_is_required()
{
	for (const char *key : {"slurm-kube", "cluster", "namespace", "name", "kind", "uid",
		     "attempt", "user", "group"}) {
		auto marker = marker_from_text(replaced(
			marker_to_text(example()), '"' + std::string(key) + '"', "\"other\""));
		REQUIRE(!marker.ok());
		CHECK_EQUAL(
			marker.error().what, "marker: key '" + std::string(key) + "' is missing");
	}
}

void wrong_values_are_refused()
{
	const std::string good = marker_to_text(example());
	CHECK(!marker_from_text(replaced(good, "\"attempt\":2", "\"attempt\":0")).ok());
	CHECK(!marker_from_text(replaced(good, "\"attempt\":2", "\"attempt\":\"2\"")).ok());
	CHECK(!marker_from_text(replaced(good, "\"attempt\":2", "\"attempt\":4294967296")).ok());
	CHECK(!marker_from_text(replaced(good, "\"user\":1000", "\"user\":-1")).ok());
	CHECK(!marker_from_text(replaced(good, "\"user\":1000", "\"user\":4294967294")).ok());
	CHECK(!marker_from_text(replaced(good, "\"main\"", "\"\"")).ok());
	CHECK(!marker_from_text(replaced(good, "\"main\"", "\"a\\u0000b\"")).ok());
	CHECK(!marker_from_text(replaced(good, "\"main\"", "\"a\\nb\"")).ok());
	CHECK(!marker_from_text(replaced(good, "\"slurm-kube\":1", "\"slurm-kube\":2")).ok());
	CHECK(!marker_from_text(good + "x").ok());
	CHECK(!marker_from_text("").ok());
	CHECK(!marker_from_text("[1]").ok());
}

void a_long_marker_is_too_large()
{
	core::Marker marker = example();
	marker.name = std::string(1000, 'x');
	auto back = marker_from_text(marker_to_text(marker));
	REQUIRE(!back.ok());
	CHECK(back.error().code == Errc::too_large);
}

void a_forgery_is_seen_in_any_dress()
{
	CHECK(looks_like_marker(marker_to_text(example())));
	CHECK(looks_like_marker("{\"slurm-kube\":"));
	CHECK(looks_like_marker(" {\"a\":1, \"slurm\\u002dkube\": 1}"));
	CHECK(!looks_like_marker("{\"a\":1}"));
	CHECK(!looks_like_marker(""));
	CHECK(!looks_like_marker("a note of the administrator about slurm-kube"));
	CHECK(!looks_like_marker("moved by slurm-kube {ticket 12}"));
	CHECK(looks_like_marker("/* x */ {\"slurm-kube\": 1}") ==
		marker_from_text("/* x */ " + marker_to_text(example())).ok());
}

void a_note_is_kept_as_far_as_there_is_room()
{
	core::Marker marker = example();
	marker.note = "power=3 {\"a\":\"b\"}\tx";
	CHECK(*marker_from_text(marker_to_fitting_text(marker)) == marker);
	marker.note = std::string(5000, '"');
	const std::string text = marker_to_fitting_text(marker);
	CHECK(text.size() <= k_marker_bytes_max && text.size() > k_marker_bytes_max - 8);
	CHECK_EQUAL(marker_from_text(text)->uid, marker.uid);
}

} // namespace

int main()
{
	return check::run_tests("marker",
		{
			TEST(a_marker_comes_back_as_it_was),
			TEST(options_are_kept_and_may_be_missing),
			TEST(the_cluster_is_kept_and_may_be_missing),
			TEST(the_text_is_what_the_protocol_shows),
			TEST(every_key_is_required),
			TEST(wrong_values_are_refused),
			TEST(a_long_marker_is_too_large),
			TEST(a_forgery_is_seen_in_any_dress),
			TEST(a_note_is_kept_as_far_as_there_is_room),
		});
}
