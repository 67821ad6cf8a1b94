/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/json.h"
#include "src/codec/list_page.h"
#include "src/codec/managed_fields.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::codec;

namespace
{

void whole_values_parse()
{
	for (const char *text : {"{}", " {\"a\":1} \n", "12", "null", "\"x\"", "[1,2]"})
		CHECK(parse_json(text, 100).ok());
}

void broken_text_is_refused()
{
	for (const char *text : {"", "{", "{\"a\":1}x", "{\"a\"}", "[1,2", "tru"})
		CHECK(!parse_json(text, 100).ok());
	for (const char *text : {"[1,]", "{\"a\":1,}", "/* x */ 1"})
		CHECK(!parse_json(text, 100).ok());
	CHECK(parse_json("[1,2,3]", 3).error().code == Errc::too_large);
	CHECK(!parse_json(std::string(1000, '['), 2000).ok());
}

/* For example names of people, or messages of container runtimes. json-c 0.18 refused them. */
void letters_beyond_ascii_parse()
{
	auto parsed = parse_json(
		"{\"message\":\"fällt aus: \\u00e4, 节点, \xf0\x9f\x90\xa7\",\"n\":7}", 100);
	REQUIRE(parsed.ok());
	const char *const wanted = "fällt aus: ä, 节点, \xf0\x9f\x90\xa7";
	CHECK_EQUAL(get_string(parsed->get(), "message"), wanted);
	CHECK_EQUAL(get_int(parsed->get(), "n"), 7);
	CHECK(!parse_json("{\"ä\":1}x", 100).ok());
	CHECK(!parse_json("[\"ä\"", 100).ok());
}

void getters_survive_wrong_types_and_absence()
{
	auto parsed = parse_json(R"({"a":{"b":"x","n":7,"t":true},"l":[1,"y"]})", 100);
	REQUIRE(parsed.ok());
	json_object *o = parsed->get();
	CHECK_EQUAL(get_string(get(o, "a"), "b"), "x");
	CHECK_EQUAL(get_string(get(o, "a"), "n", "none"), "none");
	CHECK_EQUAL(get_int(get(o, "a"), "n"), 7);
	CHECK(get_bool(get(o, "a"), "t"));
	CHECK(get(o, "a", "b", "c") == nullptr);
	CHECK(get(nullptr, "a") == nullptr);
	CHECK_EQUAL(array_size(get(o, "l")), 2U);
	CHECK_EQUAL(array_size(get(o, "a")), 0U);
	CHECK(array_at(get(o, "l"), 2) == nullptr);
}

void text_is_one_line()
{
	Json o = new_object();
	put(o.get(), "path", "a/b\n");
	put(o.get(), "n", 3);
	CHECK_EQUAL(to_text(o.get()), "{\"path\":\"a/b\\n\",\"n\":3}");
}

void the_next_page_is_known_from_the_head_of_a_list()
{
	const std::string head =
		R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7")";
	const std::string items = R"(,"items":[{"metadata":{"annotations":{"continue":"no"}},)"
				  R"("spec":{"continue":"no"}}]})";
	CHECK_EQUAL(next_page_of(
			    head + R"(,"continue":"eyJ2Ijoi-_==","remainingItemCount":3})" + items),
		"eyJ2Ijoi-_==");
	CHECK_EQUAL(next_page_of(head + "}" + items), "");
	CHECK_EQUAL(next_page_of(head + R"(,"continue":""})" + items), "");
	/* no server sends such a token */
	CHECK_EQUAL(next_page_of(head + R"(,"continue":"a\"b"})" + items), "");
	CHECK_EQUAL(next_page_of(head + R"(,"continue":"abc"})"), ""); /* truncated */
	CHECK_EQUAL(next_page_of(R"({"items":[],"metadata":{"continue":"abc"}})"), "");
	CHECK_EQUAL(next_page_of(std::string(10'000, ' ') + head + R"(,"continue":"abc"})" + items),
		"");
	CHECK_EQUAL(next_page_of(""), "");
}

void managed_fields_are_cut_out_and_nothing_else()
{
	const std::pair<const char *, const char *> cases[] = {
		{R"({"a":1})", R"({"a":1})"},
		{R"({"managedFields":[{"x":["]","\"]","\\"]},[]],"a":[1]})",
			R"({"managedFields":[],"a":[1]})"},
		{R"({"i":[{"managedFields":[1]},{"managedFields":[2],"b":"]"}]})",
			R"({"i":[{"managedFields":[]},{"managedFields":[],"b":"]"}]})"},
		{R"({"note":"\"managedFields\":[ 1 ]"})", R"({"note":"\"managedFields\":[ 1 ]"})"},
		{R"({"managedFields":"[1]"})", R"({"managedFields":"[1]"})"},
		{R"({"managedFields":["no end)", R"({"managedFields":["no end)"},
		{R"({"managedFields":[[])", R"({"managedFields":[[])"},
	};
	for (const auto &[text, cut] : cases)
		CHECK_EQUAL(without_managed_fields(text), cut);
}

} // namespace

int main()
{
	return check::run_tests("json",
		{
			TEST(whole_values_parse),
			TEST(broken_text_is_refused),
			TEST(letters_beyond_ascii_parse),
			TEST(getters_survive_wrong_types_and_absence),
			TEST(text_is_one_line),
			TEST(managed_fields_are_cut_out_and_nothing_else),
			TEST(the_next_page_is_known_from_the_head_of_a_list),
		});
}
