/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/when.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_day = 86400;
constexpr std::int64_t k_count_max = 1'000'000'000;

struct Named {
	std::string_view name;
	std::int64_t seconds;
};

constexpr Named k_hours[] = {{"midnight", 0}, {"elevenses", 11 * 3600}, {"noon", 12 * 3600},
	{"fika", 15 * 3600}, {"teatime", 16 * 3600}};
constexpr Named k_units[] = {{"", 1}, {"seconds", 1}, {"minutes", 60}, {"hours", 3600},
	{"days", k_day}, {"weeks", 7 * k_day}};

/* Removes a number of `least` to `most` digits from the front of the text. */
std::optional<std::int64_t> take_number(std::string_view &text, std::size_t least, std::size_t most)
{
	const std::size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
	std::int64_t number = 0;
	if (length < least || length > most)
		return std::nullopt;
	/* cannot fail: these are at most ten digits */
	(void)std::from_chars(text.data(), text.data() + length, number);
	text.remove_prefix(length);
	return number;
}

bool take(std::string_view &text, char wanted)
{
	if (!text.starts_with(wanted))
		return false;
	text.remove_prefix(1);
	return true;
}

/* Units may be abbreviated: "hours" to "hour", "hou", "ho" or "h". */
std::optional<std::int64_t> unit_of(std::string_view text)
{
	for (const Named &unit : k_units) {
		if (unit.name == text || (!text.empty() && unit.name.starts_with(text)))
			return unit.seconds;
	}
	return std::nullopt;
}

/* What follows "now": nothing, or +N and a unit. */
std::optional<std::int64_t> after_now(std::string_view text)
{
	if (text.empty())
		return 0;
	if (!take(text, '+'))
		return std::nullopt;
	const auto count = take_number(text, 1, 10);
	const auto unit = unit_of(text);
	if (!count || !unit || *count > k_count_max)
		return std::nullopt;
	return *count * *unit;
}

/* HH:MM[:SS] at the front of the text, as seconds of the day */
std::optional<std::int64_t> take_clock(std::string_view &text)
{
	const auto hours = take_number(text, 1, 2);
	if (!hours || !take(text, ':'))
		return std::nullopt;
	const auto minutes = take_number(text, 2, 2);
	std::optional<std::int64_t> seconds = 0;
	if (minutes && take(text, ':'))
		seconds = take_number(text, 2, 2);
	if (!minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 59)
		return std::nullopt;
	return *hours * 3600 + *minutes * 60 + *seconds;
}

/* YYYY-MM-DD at the front of the text, as seconds since the epoch in UTC */
std::optional<std::int64_t> take_date(std::string_view &text)
{
	const auto year = take_number(text, 4, 4);
	if (!year || !take(text, '-'))
		return std::nullopt;
	const auto month = take_number(text, 2, 2);
	if (!month || !take(text, '-'))
		return std::nullopt;
	const auto day = take_number(text, 2, 2);
	if (!day)
		return std::nullopt;
	const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
		std::chrono::month(static_cast<unsigned>(*month)),
		std::chrono::day(static_cast<unsigned>(*day)));
	if (!date.ok())
		return std::nullopt;
	return std::chrono::sys_days(date).time_since_epoch().count() * k_day;
}

/* The offset of the zone at the end of the text, in seconds; nothing else may follow. */
std::optional<std::int64_t> zone_at_end(std::string_view text)
{
	if (text == "Z")
		return 0;
	const std::int64_t sign = text.starts_with('-') ? -1 : 1;
	if (!take(text, '+') && !take(text, '-'))
		return std::nullopt;
	const auto clock = take_clock(text);
	return clock && text.empty() ? std::optional(sign * *clock) : std::nullopt;
}

std::int64_t offset_at(ZoneOffset zone, std::int64_t utc)
{
	return zone ? zone(utc) : 0;
}

/* Converts local time to UTC. The offset is looked up at about that time, which is exact except
 * around a change of the clocks. */
std::int64_t from_local(std::int64_t shown, ZoneOffset zone)
{
	const std::int64_t guess = shown - offset_at(zone, shown);
	return shown - offset_at(zone, guess);
}

std::int64_t start_of_day(std::int64_t shown)
{
	return shown - ((shown % k_day) + k_day) % k_day;
}

std::optional<std::int64_t> hour_of(std::string_view text)
{
	for (const Named &hour : k_hours) {
		if (hour.name == text)
			return hour.seconds;
	}
	const auto clock = take_clock(text);
	return text.empty() ? clock : std::nullopt;
}

std::optional<std::int64_t> dated(std::string_view text, ZoneOffset zone)
{
	const auto day = take_date(text);
	std::optional<std::int64_t> clock = 0;
	if (day && take(text, 'T'))
		clock = take_clock(text);
	if (!day || !clock)
		return std::nullopt;
	if (text.empty())
		return from_local(*day + *clock, zone);
	const auto east = zone_at_end(text);
	return east ? std::optional(*day + *clock - *east) : std::nullopt;
}

std::optional<std::int64_t> read(std::string_view text, std::int64_t now, ZoneOffset zone)
{
	if (text.starts_with("now")) {
		const auto later = after_now(text.substr(3));
		return later ? std::optional(now + *later) : std::nullopt;
	}
	const std::int64_t shown = now + offset_at(zone, now);
	if (text == "today")
		return now;
	if (text == "tomorrow")
		return from_local(start_of_day(shown) + k_day, zone);
	if (const auto hour = hour_of(text)) {
		const std::int64_t at = start_of_day(shown) + *hour;
		return from_local(at <= shown ? at + k_day : at, zone);
	}
	return dated(text, zone);
}

} // namespace

Result<std::int64_t> parse_when(std::string_view text, std::int64_t now, ZoneOffset zone)
{
	const auto when = read(text, now, zone);
	if (!when || *when <= 0)
		return Error{Errc::invalid,
			"not a time: give YYYY-MM-DDTHH:MM[:SS] (with Z or +HH:MM for a zone), "
			"HH:MM, or now+2hours"};
	return *when;
}

} // namespace slurmkube::core
