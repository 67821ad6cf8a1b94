/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/number_literal.h"

#include <charconv>
#include <cstdint>
#include <string>

namespace slurmkube::core::cel
{

std::optional<Value> read_integer(std::string_view text, bool negative)
{
	const bool hex = text.substr(0, 2) == "0x";
	const std::string digits = (negative ? "-" : "") + std::string(hex ? text.substr(2) : text);
	std::int64_t value = 0;
	const auto [end, error] =
		std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
	if (error != std::errc() || end != digits.data() + digits.size())
		return std::nullopt;
	return Value{value};
}

std::optional<Value> read_double(std::string_view text, bool negative)
{
	double value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size())
		return std::nullopt;
	return Value{negative ? -value : value};
}

} // namespace slurmkube::core::cel
