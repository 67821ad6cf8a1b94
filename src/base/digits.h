/* SPDX-License-Identifier: GPL-2.0-or-later */
/* digits.h - decimal digits in ASCII, whatever the locale. */
#ifndef SLURMKUBE_BASE_DIGITS_H
#define SLURMKUBE_BASE_DIGITS_H

#include <string_view>

namespace slurmkube
{

inline constexpr std::string_view k_digits = "0123456789";

inline constexpr bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

} // namespace slurmkube

#endif
