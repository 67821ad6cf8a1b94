/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/quantity.h"

#include "src/base/digits.h"

#include <charconv>
#include <limits>
#include <optional>
#include <string>

namespace slurmkube::core
{

namespace
{

__extension__ using Wide = unsigned __int128;

constexpr std::size_t k_longest_text = 64;
/* 10^30 * 2^20 fits into 128 bits; multiply() detects products that do not */
constexpr int k_most_digits = 30;
constexpr int k_widest_exponent = 60;

/* mantissa * 10^ten * 2^two */
struct Number {
	bool negative = false;
	Wide mantissa = 0;
	int ten = 0, two = 0;
};

struct Suffix {
	char letter;
	int ten, two; /* two: of the form with "i"; 0: there is no such form */
};
constexpr Suffix k_suffixes[] = {{'n', -9, 0}, {'u', -6, 0}, {'m', -3, 0}, {'k', 3, 0},
	{'K', 0, 10}, {'M', 6, 20}, {'G', 9, 30}, {'T', 12, 40}, {'P', 15, 50}, {'E', 18, 60}};

/* Takes "[+-]digits[.digits]" off the text. */
bool take_mantissa(std::string_view &text, Number &number)
{
	if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
		number.negative = text[0] == '-';
		text.remove_prefix(1);
	}
	bool any = false, fraction = false;
	int digits = 0;
	for (; !text.empty() && (is_digit(text[0]) || (text[0] == '.' && !fraction));
		text.remove_prefix(1)) {
		if (text[0] == '.') {
			fraction = true;
			continue;
		}
		any = true;
		number.mantissa = number.mantissa * 10 + static_cast<unsigned>(text[0] - '0');
		number.ten -= fraction ? 1 : 0;
		if (number.mantissa != 0 && ++digits > k_most_digits)
			return false;
	}
	return any;
}

bool take_exponent(std::string_view text, Number &number)
{
	if (text.size() > 1 && text[0] == '+' && text[1] != '-')
		text.remove_prefix(1);
	int exponent = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
	if (error != std::errc() || end != text.data() + text.size() ||
		exponent > k_widest_exponent || exponent < -k_widest_exponent)
		return false;
	number.ten += exponent;
	return true;
}

bool take_suffix(std::string_view text, Number &number)
{
	if (text.empty())
		return true;
	/* "E" alone is exa, "Ei" is exbi; otherwise an exponent follows */
	if ((text[0] == 'e' || text[0] == 'E') && text.size() > 1 && text[1] != 'i')
		return take_exponent(text.substr(1), number);
	for (const Suffix &suffix : k_suffixes) {
		if (suffix.letter != text[0])
			continue;
		if (text.size() == 1) {
			number.ten += suffix.ten;
			return suffix.letter != 'K'; /* kilo is "k"; "K" occurs only in "Ki" */
		}
		number.two += suffix.two;
		return text.size() == 2 && text[1] == 'i' && suffix.two != 0;
	}
	return false;
}

bool multiply(Wide &value, unsigned factor, int times)
{
	for (; times > 0; times--) {
		if (__builtin_mul_overflow(value, Wide{factor}, &value))
			return false;
	}
	return true;
}

/* Dividing by ten one step at a time and remembering whether anything was lost is exact for
 * rounding up and down. */
Wide divide(Wide value, int tens, Rounding rounding)
{
	bool lost = false;
	for (; tens > 0 && value != 0; tens--) {
		lost = lost || value % 10 != 0;
		value /= 10;
	}
	return value + (lost && rounding == Rounding::up ? 1U : 0U);
}

std::optional<std::int64_t> to_int64(Wide value, bool negative)
{
	if (value > static_cast<Wide>(std::numeric_limits<std::int64_t>::max()))
		return std::nullopt;
	const auto magnitude = static_cast<std::int64_t>(value);
	return negative ? -magnitude : magnitude;
}

std::optional<std::int64_t> evaluate(Number number, Rounding rounding)
{
	if (number.mantissa == 0)
		return 0;
	/* Trailing zeros would only make the products larger. */
	for (; number.ten < 0 && number.mantissa % 10 == 0; number.ten++)
		number.mantissa /= 10;
	if (!multiply(number.mantissa, 2, number.two) || !multiply(number.mantissa, 10, number.ten))
		return std::nullopt;
	return to_int64(divide(number.mantissa, -number.ten, rounding), number.negative);
}

Error refused(std::string_view text, const char *why, Errc code = Errc::invalid)
{
	return Error{
		code, std::string(why) + ": '" + std::string(text.substr(0, k_longest_text)) + "'"};
}

} // namespace

Result<std::int64_t> parse_quantity(std::string_view text, Scale scale, Rounding rounding)
{
	Number number;
	std::string_view rest = text;
	if (text.size() > k_longest_text || !take_mantissa(rest, number) ||
		!take_suffix(rest, number))
		return refused(text, "not a quantity");
	if (scale == Scale::milli)
		number.ten += 3;
	const std::optional<std::int64_t> value = evaluate(number, rounding);
	if (!value)
		return refused(text, "quantity out of range",
			number.negative ? Errc::invalid : Errc::too_large);
	return *value;
}

} // namespace slurmkube::core
