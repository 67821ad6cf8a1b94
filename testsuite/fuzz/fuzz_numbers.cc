/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_numbers.cc - numbers written as text: quantities, times of the Kubernetes API, time limits.
 */
#include "src/codec/time.h"
#include "src/core/model/quantity.h"
#include "src/core/options/timelimit.h"
#include "testsuite/fuzz/fuzz.h"

using namespace slurmkube;
using namespace slurmkube::fuzz;
using core::Rounding;
using core::Scale;

namespace
{

std::int64_t thousandths_up(std::int64_t value)
{
	return value / 1000 + (value % 1000 > 0 ? 1 : 0);
}

void check_quantity(std::string_view text)
{
	const auto up = core::parse_quantity(text, Scale::whole, Rounding::up),
		   down = core::parse_quantity(text, Scale::whole, Rounding::down);
	const auto milli = core::parse_quantity(text, Scale::milli, Rounding::up);
	MUST(says_why(up) && says_why(down) && says_why(milli));
	MUST(!up || down.ok());
	MUST(!milli || up.ok());
	if (!up)
		return;
	/* only a quantity with a minus sign may be negative */
	MUST(text.front() == '-' ? *up <= *down && *up <= 0 : *up >= *down && *down >= 0);
	MUST(*up - *down <= 1 && *up - *down >= -1);
	if (milli && *milli >= 0)
		MUST(*up == thousandths_up(*milli) && *down <= *milli / 1000 + 1 &&
			*down * 1000 <= *milli);
	const std::string number = std::to_string(*up);
	const auto again = core::parse_quantity(number, Scale::whole);
	MUST(again && *again == *up);
}

void check_time(std::string_view text)
{
	const auto time = codec::parse_time(text);
	MUST(says_why(time));
	if (!time)
		return;
	const std::string written = codec::format_time(*time);
	/* a UTC offset may lead out of the range of years that can be written */
	if (*time < -62167219200 || *time > 253402300799)
		return;
	const auto again = codec::parse_time(written);
	MUST(again && *again == *time);
	const auto micro = codec::parse_time(codec::format_micro_time(*time * 1'000'000 + 999'999));
	MUST(micro && *micro == *time);
}

void check_time_limit(std::string_view text)
{
	const auto limit = core::parse_time_limit(text);
	MUST(says_why(limit));
	MUST(!limit || *limit >= 1);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text = Input(data, size).rest();
	check_quantity(text);
	check_time(text);
	check_time_limit(text);
	return 0;
}
