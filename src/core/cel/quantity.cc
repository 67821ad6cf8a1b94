/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/quantity.h"

#include "src/base/digits.h"

#include <algorithm>
#include <charconv>

namespace slurmkube::core::cel
{

namespace
{

constexpr int k_decimals = 9;
constexpr std::string_view k_suffix_letters = "eEinumkKMGTP";

struct Parts {
	bool negative = false, has_digits = false;
	std::string_view whole, fraction, suffix;
};

struct Factor {
	bool binary = false;
	int exponent = 0;
};

struct Suffix {
	std::string_view text;
	Factor factor;
};

constexpr Suffix k_suffixes[] = {{"", {false, 0}}, {"n", {false, -9}}, {"u", {false, -6}},
	{"m", {false, -3}}, {"k", {false, 3}}, {"M", {false, 6}}, {"G", {false, 9}},
	{"T", {false, 12}}, {"P", {false, 15}}, {"E", {false, 18}}, {"Ki", {true, 10}},
	{"Mi", {true, 20}}, {"Gi", {true, 30}}, {"Ti", {true, 40}}, {"Pi", {true, 50}},
	{"Ei", {true, 60}}};

std::string_view take_while(std::string_view &text, std::string_view set)
{
	const std::size_t size = std::min(text.find_first_not_of(set), text.size());
	const std::string_view taken = text.substr(0, size);
	text.remove_prefix(size);
	return taken;
}

void drop_sign(std::string_view &text)
{
	if (!text.empty() && (text[0] == '+' || text[0] == '-'))
		text.remove_prefix(1);
}

/* A number without any digit is zero, as in Kubernetes: "k" or "-". The callers know the cases in
 * which Kubernetes refuses it. */
std::optional<Parts> split(std::string_view text)
{
	Parts out;
	out.negative = text[0] == '-';
	drop_sign(text);
	const std::size_t zeros = take_while(text, "0").size();
	out.whole = take_while(text, k_digits);
	if (!text.empty() && text[0] == '.') {
		text.remove_prefix(1);
		out.fraction = take_while(text, k_digits);
	}
	out.has_digits = zeros > 0 || !out.whole.empty() || !out.fraction.empty();
	out.suffix = text;
	take_while(text, k_suffix_letters);
	drop_sign(text);
	take_while(text, k_digits);
	return text.empty() ? std::optional(out) : std::nullopt;
}

std::optional<Factor> exponent_of(std::string_view suffix)
{
	if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E'))
		return std::nullopt;
	suffix.remove_prefix(suffix[1] == '+' ? 2 : 1);
	std::int64_t value = 0;
	const auto [end, error] =
		std::from_chars(suffix.data(), suffix.data() + suffix.size(), value);
	if (error != std::errc() || end != suffix.data() + suffix.size())
		return std::nullopt;
	return Factor{false, static_cast<std::int32_t>(value)};
}

std::optional<Factor> factor_of(std::string_view suffix)
{
	for (const Suffix &known : k_suffixes) {
		if (known.text == suffix)
			return known.factor;
	}
	return exponent_of(suffix);
}

/* Kubernetes has a short way for numbers that fit into an int64. It alone accepts a number without
 * digits. */
bool goes_short_way(const Parts &parts, const Factor &factor)
{
	const auto whole = static_cast<int>(std::max<std::size_t>(parts.whole.size(), 1));
	const auto fraction = static_cast<int>(parts.fraction.size());
	if (factor.binary)
		return fraction == 0 && 15 - whole - factor.exponent * 3 / 10 - 1 >= 0;
	return whole + fraction <= 18 && factor.exponent - fraction >= -k_decimals;
}

} // namespace

void Quantity::normalize()
{
	const std::size_t zeros = std::min(digits_.find_first_not_of('0'), digits_.size());
	digits_.erase(0, zeros);
	point_ -= static_cast<std::int64_t>(zeros);
	digits_.resize(digits_.find_last_not_of('0') + 1);
	if (digits_.empty()) {
		point_ = 0;
		negative_ = false;
	}
}

/* By 1024 to the power of times. */
void Quantity::multiply_by_1024(int times)
{
	for (; times > 0; times--) {
		int carry = 0;
		for (std::size_t i = digits_.size(); i-- > 0;) {
			const int product = (digits_[i] - '0') * 1024 + carry;
			digits_[i] = static_cast<char>('0' + product % 10);
			carry = product / 10;
		}
		const std::string more = carry > 0 ? std::to_string(carry) : std::string();
		digits_.insert(0, more);
		point_ += static_cast<std::int64_t>(more.size());
	}
	normalize();
}

/* Away from zero. */
void Quantity::round_up_to_nano()
{
	const std::int64_t kept = std::max<std::int64_t>(point_ + k_decimals, 0);
	if (static_cast<std::int64_t>(digits_.size()) <= kept)
		return;
	digits_.resize(static_cast<std::size_t>(kept));
	digits_.insert(digits_.begin(), '0');
	point_ = std::max<std::int64_t>(point_, -k_decimals) + 1;
	std::size_t last = digits_.size() - 1;
	for (; digits_[last] == '9'; last--)
		digits_[last] = '0';
	digits_[last]++;
	normalize();
}

std::optional<Quantity> Quantity::parse(std::string_view text)
{
	if (text.empty())
		return std::nullopt;
	const std::optional<Parts> parts = split(text);
	const std::optional<Factor> factor = parts ? factor_of(parts->suffix) : std::nullopt;
	if (!factor || (!parts->has_digits && !goes_short_way(*parts, *factor)))
		return std::nullopt;
	Quantity out;
	out.negative_ = parts->negative;
	out.digits_ = std::string(parts->whole) + std::string(parts->fraction);
	out.point_ = static_cast<std::int64_t>(parts->whole.size()) +
		(factor->binary ? 0 : factor->exponent);
	out.normalize();
	if (factor->binary)
		out.multiply_by_1024(factor->exponent / 10);
	out.round_up_to_nano();
	Quantity largest;
	largest.digits_ = "9223372036854775807";
	largest.point_ = 19;
	if (factor->binary && out.compare_magnitude(largest) > 0) {
		largest.negative_ = out.negative_;
		return largest;
	}
	return out;
}

int Quantity::sign() const
{
	return digits_.empty() ? 0 : negative_ ? -1 : 1;
}

int Quantity::compare_magnitude(const Quantity &other) const
{
	if (digits_.empty() || other.digits_.empty())
		return static_cast<int>(!digits_.empty()) -
			static_cast<int>(!other.digits_.empty());
	if (point_ != other.point_)
		return point_ < other.point_ ? -1 : 1;
	const int order = digits_.compare(other.digits_);
	return order < 0 ? -1 : order > 0 ? 1 : 0;
}

int Quantity::compare(const Quantity &other) const
{
	if (sign() != other.sign())
		return sign() < other.sign() ? -1 : 1;
	return sign() < 0 ? -compare_magnitude(other) : compare_magnitude(other);
}

} // namespace slurmkube::core::cel
