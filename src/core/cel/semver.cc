/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/semver.h"

#include "src/base/digits.h"
#include "src/core/cel/order.h"

#include <algorithm>
#include <charconv>

namespace slurmkube::core::cel
{

namespace
{

constexpr std::string_view k_identifier =
	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";

bool consists_of(std::string_view text, std::string_view set)
{
	return text.find_first_not_of(set) == std::string_view::npos;
}

/* Takes the text up to the separator, which is dropped. */
std::string_view take_until(std::string_view &text, char separator)
{
	const std::size_t end = std::min(text.find(separator), text.size());
	const std::string_view taken = text.substr(0, end);
	text.remove_prefix(std::min(end + 1, text.size()));
	return taken;
}

bool read_number(std::string_view text, std::uint64_t &out)
{
	if (text.empty() || !consists_of(text, k_digits) || (text.size() > 1 && text[0] == '0'))
		return false;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
	return error == std::errc() && end == text.data() + text.size();
}

bool is_prerelease_identifier(std::string_view text)
{
	std::uint64_t number = 0;
	if (consists_of(text, k_digits))
		return read_number(text, number);
	return consists_of(text, k_identifier);
}

bool is_build_identifier(std::string_view text)
{
	return !text.empty() && consists_of(text, k_identifier);
}

bool are_all(std::string_view identifiers, bool (*is_valid)(std::string_view))
{
	for (std::size_t begin = 0; begin <= identifiers.size();) {
		const std::size_t end = std::min(identifiers.find('.', begin), identifiers.size());
		if (!is_valid(identifiers.substr(begin, end - begin)))
			return false;
		begin = end + 1;
	}
	return true;
}

/* Cuts off the part from the separator on. Nothing: there is none. */
std::optional<std::string_view> cut_tail(std::string_view &text, char separator)
{
	const std::size_t at = text.find(separator);
	if (at == std::string_view::npos)
		return std::nullopt;
	const std::string_view tail = text.substr(at + 1);
	text = text.substr(0, at);
	return tail;
}

/* Numbers are before words. */
int compare_identifiers(std::string_view a, std::string_view b)
{
	std::uint64_t left = 0, right = 0;
	const bool a_is_number = read_number(a, left), b_is_number = read_number(b, right);
	if (a_is_number != b_is_number)
		return a_is_number ? -1 : 1;
	return a_is_number ? order(left, right) : order(a, b);
}

/* A release is after its prereleases. */
int compare_prereleases(std::string_view a, std::string_view b)
{
	if (a.empty() || b.empty())
		return static_cast<int>(a.empty()) - static_cast<int>(b.empty());
	while (!a.empty() && !b.empty()) {
		const int result = compare_identifiers(take_until(a, '.'), take_until(b, '.'));
		if (result != 0)
			return result;
	}
	return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
}

} // namespace

std::optional<Semver> parse_semver(std::string_view text)
{
	const std::string_view major = take_until(text, '.'), minor = take_until(text, '.');
	const auto build = cut_tail(text, '+');
	const auto prerelease = cut_tail(text, '-');
	Semver out;
	if (!read_number(major, out.major) || !read_number(minor, out.minor) ||
		!read_number(text, out.patch) || (build && !are_all(*build, is_build_identifier)) ||
		(prerelease && !are_all(*prerelease, is_prerelease_identifier)))
		return std::nullopt;
	out.prerelease = prerelease.value_or(std::string_view());
	return out;
}

int compare(const Semver &a, const Semver &b)
{
	if (a.major != b.major)
		return order(a.major, b.major);
	if (a.minor != b.minor)
		return order(a.minor, b.minor);
	if (a.patch != b.patch)
		return order(a.patch, b.patch);
	return compare_prereleases(a.prerelease, b.prerelease);
}

} // namespace slurmkube::core::cel
