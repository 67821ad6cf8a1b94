/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quantities, versions and texts of CEL. */
#include "src/core/cel/quantity.h"
#include "src/core/cel/semver.h"
#include "src/core/cel/utf8.h"
#include "testsuite/unit/check.h"

#include <string>

using namespace slurmkube::core::cel;

namespace
{

/* "<", "=" or ">" between the two; "?" if one cannot be parsed. */
std::string relation(const char *left, const char *right)
{
	const auto a = Quantity::parse(left), b = Quantity::parse(right);
	if (!a || !b)
		return "?";
	const int order = a->compare(*b);
	return order < 0 ? "<" : order > 0 ? ">" : "=";
}

std::string version_relation(const char *left, const char *right)
{
	const auto a = parse_semver(left), b = parse_semver(right);
	if (!a || !b)
		return "?";
	const int order = compare(*a, *b);
	return order < 0 ? "<" : order > 0 ? ">" : "=";
}

struct Row {
	const char *left, *relation, *right;
};

void quantities_are_compared_exactly()
{
	static constexpr Row rows[] = {
		{"1", "=", "1000m"},
		{"1.5Gi", "=", "1610612736"},
		{"1.5Gi", "=", "1610612736000m"},
		{"0", "=", "-0"},
		{"-1", "<", "0"},
		{"-2", "<", "-1"},
		{"1n", ">", "0"},
		{"1e-12", "=", "1n"}, /* rounded up */
		{"1.0000000001", "=", "1.000000001"},
		{"-1.0000000001", "=", "-1.000000001"},
		{"0.9999999999", "=", "1"},
		{"999999999.9999999999", "=", "1e9"},
		{"1E", "=", "1e18"},
		{"1E", "<", "1Ei"},
		{"1E3", "=", "1k"},
		{"1e+3", "=", "1k"},
		{"1e-3", "=", "1m"},
		{"007", "=", "7"},
		{"7.", "=", "7"},
		{".5", "=", "500m"},
		{"8Ei", "=", "9223372036854775807"}, /* the largest with a binary suffix */
		{"100Ei", "=", "9223372036854775807"},
		{"-100Ei", "=", "-9223372036854775807"},
		{"7.99999999999999999999Ei", "=", "9223372036854775807"},
		{"9223372036854775808", ">", "9223372036854775807"},
		{"1e400", ">", "1e399"},
		{"99999999999999999999999999999999", "<", "1e32"},
		{"0.1Ki", "=", "102.4"},
		{"0.0009765625Ki", "=", "1"},
		/* accepted by Kubernetes as zero */
		{"-", "=", "0"},
		{"k", "=", "0"},
		{".", "=", "0"},
		{"Ti", "=", "0"},
		/* and these are not */
		{"Ei", "?", "0"},
		{"", "?", "0"},
		{" 1", "?", "0"},
		{"1 ", "?", "0"},
		{"1Kb", "?", "0"},
		{"1K", "?", "0"},
		{"1ki", "?", "0"},
		{"1e", "?", "0"},
		{"1e1.5", "?", "0"},
		{"1.2.3", "?", "0"},
		{"--1", "?", "0"},
		{"1e99999999999999999999", "?", "0"},
		{"1e+-1", "?", "0"},
		{"0x10", "?", "0"},
	};
	for (const Row &row : rows)
		CHECK_EQUAL(row.left + (" " + relation(row.left, row.right)) + " " + row.right,
			row.left + (" " + std::string(row.relation)) + " " + row.right);
}

void a_quantity_has_a_sign()
{
	CHECK_EQUAL(Quantity::parse("-1n")->sign(), -1);
	CHECK_EQUAL(Quantity::parse("-0")->sign(), 0);
	CHECK_EQUAL(Quantity::parse("1e-30")->sign(), 1);
}

void versions_have_an_order()
{
	static constexpr Row rows[] = {
		{"1.2.3", "=", "1.2.3"},
		{"1.2.3", "<", "1.2.10"},
		{"1.10.0", ">", "1.9.9"},
		{"2.0.0", ">", "1.99.99"},
		{"1.0.0-alpha", "<", "1.0.0"},
		{"1.0.0-alpha", "<", "1.0.0-alpha.1"},
		{"1.0.0-alpha.1", "<", "1.0.0-alpha.beta"},
		{"1.0.0-beta.2", "<", "1.0.0-beta.11"},
		{"1.0.0-rc.1", "<", "1.0.0"},
		{"1.0.0+a", "=", "1.0.0+b.c"},
		{"1.0.0-a+a-b", "=", "1.0.0-a"},
		{"1.0.0--", "<", "1.0.0-a"},
		{"18446744073709551615.0.0", ">", "1.0.0"},
		{"18446744073709551616.0.0", "?", "1.0.0"},
		{"1.0.0-18446744073709551616", "?", "1.0.0"},
		{"", "?", "1.0.0"},
		{"1.2", "?", "1.0.0"},
		{"1.2.3.4", "?", "1.0.0"},
		{"v1.2.3", "?", "1.0.0"},
		{"01.2.3", "?", "1.0.0"},
		{"1.02.3", "?", "1.0.0"},
		{"1.2.03", "?", "1.0.0"},
		{"1.2.3-", "?", "1.0.0"},
		{"1.2.3-01", "?", "1.0.0"},
		{"1.2.3-a..b", "?", "1.0.0"},
		{"1.2.3-\u00FC", "?", "1.0.0"},
		{"1.2.3+", "?", "1.0.0"},
		{"1.2.3+a..b", "?", "1.0.0"},
		{"1..3", "?", "1.0.0"},
		{"-1.0.0", "?", "1.0.0"},
		{" 1.0.0", "?", "1.0.0"},
	};
	for (const Row &row : rows)
		CHECK_EQUAL(
			row.left + (" " + version_relation(row.left, row.right)) + " " + row.right,
			row.left + (" " + std::string(row.relation)) + " " + row.right);
}

void code_points_are_counted_as_go_does()
{
	CHECK_EQUAL(count_code_points("Gr\u00FC\u00DFe \U0001F600"), std::size_t{7});
	CHECK_EQUAL(count_code_points("\xff\xc3"), std::size_t{2});
	CHECK_EQUAL(count_code_points("\xed\xa0\x80"), std::size_t{3});     /* a surrogate */
	CHECK_EQUAL(count_code_points("\xf4\x90\x80\x80"), std::size_t{4}); /* too large */
	CHECK_EQUAL(count_code_points("\xc0\x80"), std::size_t{2}); /* longer than necessary */
	CHECK(is_utf8("Gr\u00FC\u00DFe") && !is_utf8("\xc3") && is_utf8(""));
	for (const char32_t c : {0x41U, 0xFCU, 0x20ACU, 0x1F600U, 0x10FFFFU}) {
		std::string text;
		append_utf8(text, c);
		CHECK(is_utf8(text) && first_code_point(text).value == c);
	}
	CHECK(!is_code_point(0xD800) && !is_code_point(0x110000) && is_code_point(0xE000));
}

} // namespace

int main()
{
	return slurmkube::check::run_tests("cel_values",
		{
			TEST(quantities_are_compared_exactly),
			TEST(a_quantity_has_a_sign),
			TEST(versions_have_an_order),
			TEST(code_points_are_counted_as_go_does),
		});
}
