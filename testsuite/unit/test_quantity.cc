/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/quantity.h"
#include "testsuite/unit/check.h"

#include <limits>
#include <string>

using namespace slurmkube;
using core::parse_quantity;
using core::Rounding;
using core::Scale;

namespace
{

constexpr std::int64_t k_largest = std::numeric_limits<std::int64_t>::max();

struct Row {
	const char *text;
	std::int64_t milli_up, whole_up, whole_down;
};

void texts_have_these_values()
{
	static constexpr Row rows[] = {
		{"0", 0, 0, 0},
		{"1", 1000, 1, 1},
		{"+2", 2000, 2, 2},
		{"100m", 100, 1, 0},
		{"1500m", 1500, 2, 1},
		{"0.1", 100, 1, 0},
		{".5", 500, 1, 0},
		{"2.", 2000, 2, 2},
		{"0.0001", 1, 1, 0},
		{"1u", 1, 1, 0},
		{"1001u", 2, 1, 0},
		{"1n", 1, 1, 0},
		{"1000000n", 1, 1, 0},
		{"1000001n", 2, 1, 0},
		{"1k", 1000000, 1000, 1000},
		{"3M", 3000000000, 3000000, 3000000},
		{"1G", 1000000000000, 1000000000, 1000000000},
		{"1Ki", 1024000, 1024, 1024},
		{"1.5Gi", 1610612736000, 1610612736, 1610612736},
		{"0.1Ki", 102400, 103, 102},
		{"1Pi", 1125899906842624000, 1125899906842624, 1125899906842624},
		{"0.001E", 1000000000000000000, 1000000000000000, 1000000000000000},
		{"0.0009765625Ei", 1125899906842624000, 1125899906842624, 1125899906842624},
		{"1E3", 1000000, 1000, 1000},
		{"1e3", 1000000, 1000, 1000},
		{"12e-1", 1200, 2, 1},
		{"2e+2", 200000, 200, 200},
		{"1e-30", 1, 1, 0},
		{"1.000000000000000000000000", 1000, 1, 1},
		{"00000000000000000000000000000000000000001", 1000, 1, 1},
		{"-1500m", -1500, -2, -1},
		{"0E", 0, 0, 0},
	};
	for (const Row &row : rows) {
		const auto milli = parse_quantity(row.text, Scale::milli);
		const auto up = parse_quantity(row.text, Scale::whole),
			   down = parse_quantity(row.text, Scale::whole, Rounding::down);
		REQUIRE(milli.ok() && up.ok() && down.ok());
		CHECK_EQUAL(std::string(row.text) + "=" + std::to_string(*milli),
			std::string(row.text) + "=" + std::to_string(row.milli_up));
		CHECK_EQUAL(std::string(row.text) + "=" + std::to_string(*up),
			std::string(row.text) + "=" + std::to_string(row.whole_up));
		CHECK_EQUAL(std::string(row.text) + "=" + std::to_string(*down),
			std::string(row.text) + "=" + std::to_string(row.whole_down));
	}
}

void other_texts_are_refused()
{
	for (const char *text : {"", " ", "m", "-", "+", ".", "1 ", " 1", "1K", "1ki", "1mi",
		     "1Mii", "1e", "1e+", "1e+-1", "1e1.5", "1.2.3", "--1", "12q", "1e99999999999",
		     "0x10", "1,5", "1MiB", "nan", "inf"}) {
		const auto value = parse_quantity(text, Scale::whole);
		CHECK_EQUAL(std::string(text) + (value ? " taken" : " refused"),
			std::string(text) + " refused");
	}
	CHECK(!parse_quantity(std::string(1000, '1'), Scale::whole).ok());
	CHECK(parse_quantity("12q", Scale::whole).error().what.find("'12q'") != std::string::npos);
}

void overflow_is_refused_and_the_largest_is_not()
{
	CHECK_EQUAL(*parse_quantity("9223372036854775807", Scale::whole), k_largest);
	CHECK(!parse_quantity("9223372036854775808", Scale::whole).ok());
	CHECK(!parse_quantity("9223372036854775807.5", Scale::whole).ok());
	CHECK_EQUAL(
		*parse_quantity("9223372036854775807.5", Scale::whole, Rounding::down), k_largest);
	CHECK(!parse_quantity("9223372036854775807", Scale::milli).ok());
	CHECK(parse_quantity("7.999999999999Ei", Scale::whole, Rounding::down).ok());
	CHECK(!parse_quantity("8Ei", Scale::whole).ok());
	CHECK(!parse_quantity("10E", Scale::whole).ok());
	CHECK(!parse_quantity("1e40", Scale::whole).ok());
	CHECK(!parse_quantity("295147905179352825856Ei", Scale::whole).ok()); /* 2^128 */
	CHECK(!parse_quantity("99999999999999999999999999999999999999999999Ei", Scale::whole).ok());
}

} // namespace

int main()
{
	return check::run_tests("quantity",
		{
			TEST(texts_have_these_values),
			TEST(other_texts_are_refused),
			TEST(overflow_is_refused_and_the_largest_is_not),
		});
}
