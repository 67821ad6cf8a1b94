/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/options/timelimit.h"

#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

namespace
{

constexpr std::uint64_t k_number_max = k_limit_minutes_max; /* keeps all products within 64 bits */

std::optional<std::vector<std::uint64_t>> numbers(std::string_view text)
{
	std::vector<std::uint64_t> out;
	while (true) {
		const std::size_t colon = text.find(':');
		const std::string_view digits = text.substr(0, colon);
		std::uint64_t number = 0;
		const auto [end, error] =
			std::from_chars(digits.data(), digits.data() + digits.size(), number);
		if (error != std::errc() || end != digits.data() + digits.size() ||
			number > k_number_max)
			return std::nullopt;
		out.push_back(number);
		if (colon == std::string_view::npos)
			return out;
		text.remove_prefix(colon + 1);
	}
}

/* Seconds of "M", "M:S", "H:M:S" or, after "D-", "H", "H:M", "H:M:S". */
std::optional<std::uint64_t> seconds_of(std::string_view text)
{
	const std::size_t dash = text.find('-');
	const bool has_days = dash != std::string_view::npos;
	const auto days = has_days ? numbers(text.substr(0, dash))
				   : std::optional(std::vector<std::uint64_t>{0});
	const auto rest = numbers(has_days ? text.substr(dash + 1) : text);
	if (!days || days->size() != 1 || !rest || rest->size() > 3)
		return std::nullopt;
	const std::vector<std::uint64_t> &r = *rest;
	std::uint64_t seconds = days->at(0) * 86400;
	if (has_days || r.size() == 3) {
		constexpr std::uint64_t k_unit[] = {3600, 60, 1};
		for (std::size_t i = 0; i < r.size(); i++)
			seconds += r[i] * k_unit[i];
	} else {
		seconds += r[0] * 60 + (r.size() == 2 ? r[1] : 0);
	}
	return seconds;
}

} // namespace

Result<std::uint32_t> parse_time_limit(std::string_view text)
{
	if (text == "UNLIMITED" || text == "unlimited" || text == "INFINITE" || text == "infinite")
		return k_unlimited_minutes;
	const auto seconds = seconds_of(text);
	if (!seconds || *seconds == 0 || (*seconds + 59) / 60 > k_number_max)
		return Error{Errc::invalid,
			"not a time limit: '" + std::string(text) +
				"'; give minutes, [D-]HH:MM:SS or UNLIMITED"};
	return static_cast<std::uint32_t>((*seconds + 59) / 60);
}

std::uint32_t time_limit_of(std::int64_t deadline_seconds)
{
	const std::int64_t minutes = (deadline_seconds - 1) / 60 + 1;
	return minutes > k_limit_minutes_max ? k_unlimited_minutes
					     : static_cast<std::uint32_t>(minutes);
}

std::uint32_t minutes_of_deadline(std::int64_t seconds)
{
	return seconds > 0 ? time_limit_of(seconds) : 0;
}

} // namespace slurmkube::core
