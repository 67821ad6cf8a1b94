/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/time.h"

#include <chrono>
#include <cstdio>
#include <optional>

namespace slurmkube::codec
{

namespace
{

/* Reads fixed-width numbers and literal characters from the front. */
class Scanner
{
      public:
	explicit Scanner(std::string_view text) : rest_(text) {}

	int number(std::size_t digits)
	{
		int value = 0;
		for (std::size_t i = 0; i < digits; i++) {
			const char c = take();
			ok_ = ok_ && c >= '0' && c <= '9';
			value = value * 10 + (c - '0');
		}
		return ok_ ? value : 0;
	}
	char one_of(std::string_view allowed)
	{
		const char c = take();
		ok_ = ok_ && allowed.find(c) != std::string_view::npos;
		return c;
	}
	void skip_fraction()
	{
		if (rest_.empty() || rest_[0] != '.')
			return;
		rest_.remove_prefix(1);
		const std::size_t digits = rest_.find_first_not_of("0123456789");
		ok_ = ok_ && digits != 0 && digits != std::string_view::npos;
		rest_.remove_prefix(ok_ ? digits : 0);
	}
	[[nodiscard]] bool done() const { return ok_ && rest_.empty(); }

      private:
	char take()
	{
		if (rest_.empty()) {
			ok_ = false;
			return '\0';
		}
		const char c = rest_[0];
		rest_.remove_prefix(1);
		return c;
	}

	std::string_view rest_;
	bool ok_ = true;
};

int take_offset(Scanner &scan)
{
	const char sign = scan.one_of("Zz+-");
	if (sign != '+' && sign != '-')
		return 0;
	const int hours = scan.number(2);
	(void)scan.one_of(":");
	const int seconds = (hours * 60 + scan.number(2)) * 60;
	return sign == '-' ? -seconds : seconds;
}

std::optional<std::int64_t> midnight(int year, int month, int day)
{
	using namespace std::chrono;
	const year_month_day date(std::chrono::year(year),
		std::chrono::month(static_cast<unsigned>(month)),
		std::chrono::day(static_cast<unsigned>(day)));
	if (!date.ok())
		return std::nullopt;
	return duration_cast<seconds>(sys_days(date).time_since_epoch()).count();
}

} // namespace

Result<std::int64_t> parse_time(std::string_view text)
{
	Scanner scan(text);
	const int year = scan.number(4);
	(void)scan.one_of("-");
	const int month = scan.number(2);
	(void)scan.one_of("-");
	const int day = scan.number(2);
	(void)scan.one_of("Tt ");
	const int hour = scan.number(2);
	(void)scan.one_of(":");
	const int minute = scan.number(2);
	(void)scan.one_of(":");
	const int second = scan.number(2);
	scan.skip_fraction();
	const int offset = take_offset(scan);
	const std::optional<std::int64_t> start = midnight(year, month, day);
	if (!scan.done() || !start || hour > 23 || minute > 59 || second > 60)
		return Error{
			Errc::invalid, "not a time: '" + std::string(text.substr(0, 40)) + "'"};
	return *start + (hour * 60 + minute) * 60 + second - offset;
}

namespace
{

std::string date_and_time(std::int64_t seconds)
{
	using namespace std::chrono;
	const sys_seconds when{std::chrono::seconds(seconds)};
	const sys_days days = floor<std::chrono::days>(when);
	const year_month_day date(days);
	const hh_mm_ss time(when - days);
	char text[64];
	(void)snprintf(text, sizeof(text), "%04d-%02u-%02uT%02d:%02d:%02d",
		static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
		static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
		static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
	return text;
}

} // namespace

std::string format_time(std::int64_t seconds)
{
	return date_and_time(seconds) + "Z";
}

std::string format_micro_time(std::int64_t microseconds)
{
	constexpr std::int64_t million = 1'000'000;
	const std::int64_t seconds =
		(microseconds - (microseconds % million + million) % million) / million;
	char fraction[32];
	(void)snprintf(fraction, sizeof(fraction), ".%06dZ",
		static_cast<int>(microseconds - seconds * million));
	return date_and_time(seconds) + fraction;
}

} // namespace slurmkube::codec
