/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/base64.h"
#include "src/codec/time.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::codec;

namespace
{

void times_parse_in_every_form()
{
	static constexpr struct {
		const char *text;
		std::int64_t seconds;
	} rows[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"2026-11-21T03:08:57Z", 1795230537},
		{"2026-11-21T03:08:57.123456Z", 1795230537},
		{"2026-11-21T05:08:57+02:00", 1795230537},
		{"2026-11-20T22:38:57-04:30", 1795230537},
		{"2024-02-29t23:59:60z", 1709251200},
		{"1969-12-31T23:59:59Z", -1},
	};
	for (const auto &row : rows) {
		const auto time = parse_time(row.text);
		CHECK(time.ok() && *time == row.seconds);
	}
}

void other_texts_are_no_times()
{
	for (const char *text : {"", "2026-11-21", "2026-11-21T03:08:57", "2026-13-01T00:00:00Z",
		     "2026-02-30T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T03:60:00Z",
		     "2026-11-21T03:08:57.Z", "2026-11-21T03:08:57Zx", "2026-11-21T03:08:57+2",
		     "x026-11-21T03:08:57Z", "2026-11-21T03:08:57.12"})
		CHECK(!parse_time(text).ok());
}

void times_are_written_as_the_api_wants_them()
{
	CHECK_EQUAL(format_time(1795230537), "2026-11-21T03:08:57Z");
	CHECK_EQUAL(format_time(0), "1970-01-01T00:00:00Z");
	CHECK_EQUAL(format_micro_time(1795230537000007), "2026-11-21T03:08:57.000007Z");
	CHECK_EQUAL(format_micro_time(-1), "1969-12-31T23:59:59.999999Z");
}

void base64_decodes_or_says_so()
{
	CHECK_EQUAL(*decode_base64(""), "");
	CHECK_EQUAL(*decode_base64("YQ=="), "a");
	CHECK_EQUAL(*decode_base64("YWI="), "ab");
	CHECK_EQUAL(*decode_base64("YWJj"), "abc");
	CHECK_EQUAL(*decode_base64("YW\nJj\r\n"), "abc");
	CHECK_EQUAL(*decode_base64("//79"), "\xff\xfe\xfd");
	for (const char *text : {"Y", "YQ", "YQ=", "Y===", "YQ==YQ==", "YW-j", "Y=Jj", "===="})
		CHECK(!decode_base64(text).ok());
}

} // namespace

int main()
{
	return check::run_tests("time",
		{
			TEST(times_parse_in_every_form),
			TEST(other_texts_are_no_times),
			TEST(times_are_written_as_the_api_wants_them),
			TEST(base64_decodes_or_says_so),
		});
}
