/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in names may have any length, so their values are compared as text without leading
 * zeros. */
#include "src/core/model/natural_order.h"

#include "src/base/digits.h"

#include <algorithm>
#include <compare>
#include <tuple>

namespace slurmkube::core
{

namespace
{

/* Removes the digits at the front and returns them without leading zeros, which are counted. */
std::string_view take_number(std::string_view &rest, std::size_t &zeros)
{
	const std::size_t length =
		static_cast<std::size_t>(std::ranges::find_if_not(rest, is_digit) - rest.begin());
	const std::string_view digits = rest.substr(0, length);
	rest.remove_prefix(length);
	zeros = std::min(digits.find_first_not_of('0'), digits.size());
	return digits.substr(zeros);
}

} // namespace

bool natural_less(std::string_view a, std::string_view b)
{
	std::strong_ordering by_zeros = std::strong_ordering::equal;
	while (!a.empty() && !b.empty()) {
		if (!is_digit(a.front()) || !is_digit(b.front())) {
			if (a.front() != b.front())
				return static_cast<unsigned char>(a.front()) <
					static_cast<unsigned char>(b.front());
			a.remove_prefix(1);
			b.remove_prefix(1);
			continue;
		}
		std::size_t zeros_a = 0, zeros_b = 0;
		const std::string_view number_a = take_number(a, zeros_a),
				       number_b = take_number(b, zeros_b);
		if (number_a != number_b)
			return std::tuple(number_a.size(), number_a) <
				std::tuple(number_b.size(), number_b);
		if (by_zeros == 0)
			by_zeros = zeros_a <=> zeros_b;
	}
	if (a.empty() && b.empty())
		return by_zeros < 0;
	return a.empty();
}

} // namespace slurmkube::core
