/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CEL selectors that are refused, and the limits of the others. */
#include "testsuite/unit/cel_device.h"
#include "testsuite/unit/check.h"

#include <vector>

using namespace slurmkube;
using namespace slurmkube::unit;

namespace
{

struct Row {
	const char *selector, *why;
};

std::string refusal(std::string_view selector)
{
	const auto compiled = cel::compile(written_out(selector));
	return compiled ? "accepted" : compiled.error().what;
}

void check_rows(const std::vector<Row> &rows, const char *beginning)
{
	for (const Row &row : rows) {
		const std::string why = refusal(row.selector);
		const bool as_expected =
			why.find(beginning) == 0 && why.find(row.why) != std::string::npos;
		CHECK_EQUAL(as_expected ? "" : row.selector + (": " + why), "");
	}
}

std::string repeated(const std::string &text, int times)
{
	std::string out;
	for (; times > 0; times--)
		out += text;
	return out;
}

/* internal: there is no error. */
Errc code_of(const std::string &selector)
{
	const auto compiled = cel::compile(selector);
	const auto match = compiled ? cel::matches(*compiled, gpu()) : compiled.error();
	return match.ok() ? Errc::internal : match.error().code;
}

void an_error_says_where_and_why()
{
	CHECK_EQUAL(refusal("'\u00FC' == 1"),
		"wrong CEL selector at character 5, '== 1': this cannot be done with string, int");
	CHECK_EQUAL(refusal("true &&"),
		"wrong CEL selector at character 8, the end of the selector: something is missing "
		"here");
	CHECK_EQUAL(refusal("[1].map(x, x)[0] == 1"),
		"not understood in a CEL selector at character 5, 'map(x, x)[0] == 1': the "
		"function 'map'; write the selector without it");
}

void wrong_selectors_are_refused()
{
	check_rows(
		{
			{"", "something is missing"},
			{"   // nothing", "something is missing"},
			{"true false", "not expected"},
			{"(true", "')' is expected"},
			{"[1, 2", "']' is expected"},
			{"true)", "not expected"},
			{"if", "reserved"},
			{"@.in == 1", "not expected"},
			{"1 = 1", "no meaning"},
			{"'abc", "does not end"},
			{"'a\nb' == ''", "does not end"},
			{"'''abc'", "does not end"},
			{R"('\z' == '')", "escape"},
			{R"('\ud800' == '')", "escape"},
			{R"('\400' == '')", "escape"},
			{R"('\x4' == '')", "escape"},
			{R"('\)", "escape"},
			{"9223372036854775808 > 0", "out of range"},
			{"1e999 > 0.0", "out of range"},
			{"1.foo == 1", "no such field"},
			{"1", "not bool"},
			{"'true'", "not bool"},
			{"device.attributes", "not bool"},
			{"device.absent == 1", "no such field"},
			{"device['driver'] == 'x'", "no index"},
			{"@[1] == 1", "no index"},
			{"@ == 1", "cannot be done"},
			{"device.driver == 1", "cannot be done"},
			{"device.driver < 1", "cannot be done"},
			{"device.driver && true", "not bool"},
			{"!device.driver", "cannot be done"},
			{"1 + 1.0 == 2.0", "cannot be done"},
			{"1 in ['a']", "cannot be done"},
			{"1 in @", "cannot be done"},
			{"1 in 1", "cannot be done"},
			{"[1, 'a'].size() == 2", "one type"},
			{"[@.index, 1].size() == 2", "one type"},
			{"device.driver.exists(x, true)", "no elements"},
			{"[1].exists(x, x)", "of type int"},
			{"[1].exists(1, true)", "name of a variable"},
			{"cel.bind('x', 1, true)", "name of a variable"},
			{"has(device)", "needs a field"},
			{"has(@['type'])", "needs a field"},
			{"has(@.?type)", "needs a field"},
			{"1 ? true : false", "condition"},
			{"true ? 1 : 'a'", "no common type"},
			{"#.memory.unit == 'x'", "no such field"},
			{"#.memory.isLessThan('1')", "cannot be done"},
			{"device.driver.orValue('x') == 'x'", "cannot be done"},
			{"'a'.matches('(')", "without ')'"},
			{"@.?type()", "not expected"},
			{"rb'a' == 'a'", "not expected"},
		},
		"wrong CEL selector at ");
}

void other_forms_of_cel_are_not_understood()
{
	check_rows(
		{
			{"1u == 1u", "unsigned"},
			{"b'a' == b'a'", "bytes"},
			{"null == @.type", "null"},
			{"[] == @.type", "empty list"},
			{"[,].size() == 0", "empty list"},
			{"{'a': 1}.a == 1", "a map"},
			{"Device{} == device", "a map or message"},
			{"[?@.?type].size() == 1", "optional element"},
			{"[[1]].size() == 1", "a list of list(int)"},
			{"[1] == [1]", "a comparison of list(int)"},
			{"@ == @", "a comparison of map"},
			{"[1] + [2] == [3]", "a sum of lists"},
			{"!!true", "twice"},
			{"--1 == 1", "twice"},
			{".device.driver == 'x'", "begins with a dot"},
			{"@.`a-b` == 1", "back quotes"},
			{"absent == 1", "the name 'absent'"},
			{"cel.bind(sets, 'a', sets.contains('a'))", "this name"},
			{"[1].exists(__x, true)", "this name"},
			{"int('1') == 1", "function 'int'"},
			{"quantity('1').asInteger() == 1", "function 'asInteger'"},
			{"semver('v1', true) == semver('1.0.0')", "function 'semver'"},
			{"[1].exists(i, v, true)", "function 'exists'"},
			{"[1].filter(x, true).size() == 1", "function 'filter'"},
			{"optional.of(1).hasValue()", "function 'of'"},
			{"@.type.orValue(1) == 1", "as an optional"},
			{"@.type in @", "key that is an attribute"},
			{"[1, 2][@.index] == 1", "index that is an attribute"},
			{"has(@.?type.absent)", "has() of an optional"},
			{"(true ? @ : @.type).x == 1", "in one place"},
			{"'a'.matches(@.type)", "not written out"},
			{"'a'.matches('(?i)A')", "(?"},
		},
		"not understood in a CEL selector at ");
}

void a_text_has_a_longest_length()
{
	const std::string most = "'" + std::string(10 * 1024 - 7, 'a') + "' != ''";
	CHECK_EQUAL(most.size(), std::size_t{10 * 1024 + 1});
	CHECK(code_of(most) == Errc::too_large);
	CHECK_EQUAL(verdict(most.substr(0, 5) + most.substr(6)), "true");
	CHECK_EQUAL(refusal("'\xff' == ''"), "a CEL selector is not UTF-8: correct its encoding");
	CHECK_EQUAL(
		refusal("'\xc0\x80' == ''"), "a CEL selector is not UTF-8: correct its encoding");
}

void nesting_has_a_limit()
{
	const std::string deep = "nested so deeply";
	CHECK_EQUAL(verdict(repeated("(", 47) + "true" + repeated(")", 47)), "true");
	for (const char *part : {"(", "[", "!(", "-(", "@[", "size(", "[1].all(x, ",
		     "true ? true :", "has(", "cel.bind(x, ", "1 + (", "'a'.contains("}) {
		const std::string why = refusal(repeated(part, 10 * 1024 / 40));
		CHECK_EQUAL(why.find(deep) != std::string::npos ? "" : part + (": " + why), "");
	}
	/* long, but not nested */
	CHECK_EQUAL(verdict("true" + repeated(" && true", 1000)), "true");
	CHECK_EQUAL(verdict("false" + repeated(" || @.absent", 100)), "error");
	CHECK_EQUAL(verdict("1" + repeated(" + 1", 90) + " == 91"), "true");
	CHECK(refusal("1" + repeated(" + 1", 100) + " == 101").find(deep) != std::string::npos);
	CHECK(refusal("@" + repeated(".a", 100) + " == 1").find(deep) != std::string::npos);
	CHECK(refusal("'a'.matches('" + repeated("(", 40) + "')").find("deeply") !=
		std::string::npos);
}

std::string list(int size)
{
	return "[0" + repeated(",0", size - 1) + "]";
}

void evaluation_has_a_limit()
{
	const std::string all = ".all(x, " + list(60) + ".all(y, " + list(60) + ".all(z, ";
	CHECK_EQUAL(verdict(list(10) + all + "x == y)))"), "true");
	if (check::k_is_sanitized)
		return;
	CHECK(code_of(list(200) + all + "x == y)))") == Errc::too_large);
	/* && and || do not absorb it */
	CHECK(code_of(list(200) + all + "x == y))) || true") == Errc::too_large);
	/* steps that cost nothing in Kubernetes are counted, too */
	const std::string terms = "(false" + repeated(" || false", 600) + " || true)";
	CHECK(code_of(list(300) + ".all(x, " + list(300) + ".all(y, " + terms + "))") ==
		Errc::too_large);
	CHECK(code_of(list(350) + ".all(x, " + list(350) + ".all(y, '" + std::string(5000, 'a') +
		      "'.size() > 0))") == Errc::too_large);
	CHECK(code_of(list(500) + ".all(x, " + list(500) + ".all(y, x in " + list(3000) + "))") ==
		Errc::too_large);
	CHECK(code_of(list(900) + ".all(x, [y" + repeated(",0", 900) + "].size() > 0)") ==
		Errc::invalid);
	CHECK(code_of(list(1500) + ".all(x, [x" + repeated(",0", 900) + "].size() > 0)") ==
		Errc::too_large);
	CHECK(code_of(list(1000) + ".exists(x, '" + std::string(4000, 'a') + "'.matches('" +
		      repeated("a*", 1000) + "b'))") == Errc::too_large);
}

void what_a_selector_costs_is_told()
{
	const auto compiled = cel::compile(written_out("@.type == 'gpu'"));
	REQUIRE(compiled.ok());
	std::size_t cost = 100;
	REQUIRE(cel::matches(*compiled, gpu(), cost).ok());
	CHECK_EQUAL(cost, std::size_t{105}); /* four accesses and a comparison, as in Kubernetes */
}

void a_selector_outlives_its_text()
{
	auto text = std::make_unique<std::string>(written_out("@.type == 'gpu'"));
	const auto compiled = cel::compile(*text);
	REQUIRE(compiled.ok());
	text.reset();
	const cel::Selector copy = *compiled;
	CHECK(*cel::matches(copy, gpu()));
	CHECK_EQUAL(copy.text(), written_out("@.type == 'gpu'"));
}

} // namespace

int main()
{
	return check::run_tests("cel_refusals",
		{
			TEST(an_error_says_where_and_why),
			TEST(wrong_selectors_are_refused),
			TEST(other_forms_of_cel_are_not_understood),
			TEST(a_text_has_a_longest_length),
			TEST(nesting_has_a_limit),
			TEST(evaluation_has_a_limit),
			TEST(what_a_selector_costs_is_told),
			TEST(a_selector_outlives_its_text),
		});
}
