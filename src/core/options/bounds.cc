/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/options/bounds.h"

#include "src/base/digits.h"
#include "src/core/model/host_list.h"
#include "src/core/options/values.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace slurmkube::core
{

namespace
{

/* of a count, far beyond what Slurm has of any resource */
constexpr std::size_t k_digits_max = 9;
constexpr std::size_t k_job_id_digits_max = 10;

Error too_many(std::size_t most, const char *what)
{
	return Error{Errc::invalid, "must have at most " + std::to_string(most) + " " + what};
}

/* Length of the longest run of digits */
std::size_t longest_number(std::string_view text)
{
	std::size_t longest = 0, here = 0;
	for (const char c : text) {
		here = is_digit(c) ? here + 1 : 0;
		longest = std::max(longest, here);
	}
	return longest;
}

std::size_t count(std::string_view text, std::string_view any_of)
{
	return static_cast<std::size_t>(std::ranges::count_if(
		text, [&](char c) { return any_of.find(c) != std::string_view::npos; }));
}

Status check_size(const std::string &value, std::size_t most)
{
	return value.size() <= most ? Status(Ok{}) : Status(too_many(most, "characters"));
}

std::size_t digits_at(std::string_view text, std::size_t at)
{
	return std::min(text.find_first_not_of("0123456789", at), text.size()) -
		std::min(at, text.size());
}

/* Number of digits in the longest count ("a*2") */
std::size_t longest_count(std::string_view text)
{
	std::size_t longest = 0;
	for (std::size_t at = 0; at < text.size(); at++)
		longest = std::max(longest, text[at] == '*' ? digits_at(text, at + 1) : 0);
	return longest;
}

/* Counts numbers where a job may be named, but not those of array tasks and minutes. */
std::size_t jobs_in(std::string_view text)
{
	std::size_t jobs = 0;
	for (std::size_t at = 0; at < text.size(); at++) {
		const bool is_begin = at == 0 ||
			std::string_view(":,?").find(text[at - 1]) != std::string_view::npos;
		jobs += is_begin && is_digit(text[at]) ? 1U : 0U;
	}
	return jobs;
}

/* The count follows the last colon. A type may look like a count, but is not last. */
Status check_count(std::string_view item)
{
	const std::size_t colon = item.rfind(':');
	if (colon == std::string_view::npos)
		return Ok{};
	return digits_at(item, colon + 1) <= k_digits_max
		? Status(Ok{})
		: Status(too_many(k_digits_max, "digits in a count"));
}

Status check_nesting(std::string_view text)
{
	int brackets = 0, parentheses = 0;
	for (const char c : text) {
		brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
		parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
		if (brackets < 0 || brackets > 1 || parentheses < 0 || parentheses > 1)
			break;
	}
	if (brackets != 0 || parentheses != 0)
		return Error{Errc::invalid,
			"must close each bracket and parenthesis, and none may be inside another "
			"of its kind"};
	return Ok{};
}

Status check_features(const std::string &value)
{
	if (const Status size = check_size(value, k_expression_max); !size)
		return size;
	if (count(value, "&|,") + 1 > k_features_max)
		return too_many(k_features_max, "features");
	if (count(value, "|") > k_alternatives_max)
		return too_many(k_alternatives_max, "alternatives ('|')");
	if (count(value, "(") > k_parentheses_max || count(value, "[") > 1)
		return too_many(k_parentheses_max, "pairs of parentheses, and one of brackets");
	if (count(value, "*") > k_counted_features_max || longest_count(value) > k_digits_max)
		return too_many(k_counted_features_max, "counts ('*'), of at most 9 digits each");
	return check_nesting(value);
}

bool is_of_dependency(char c)
{
	return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
		std::string_view(":,?_*+()").find(c) != std::string_view::npos;
}

Status check_dependency(const std::string &value)
{
	if (value.find("_[") != std::string::npos)
		return Error{Errc::invalid,
			"names tasks of an array by a range; give the whole array (123_*) or "
			"single tasks (123_4:123_5)"};
	if (!std::ranges::all_of(value, is_of_dependency))
		return Error{Errc::invalid,
			"has characters that no dependency has; give for example "
			"afterok:123:124,afterany:125"};
	if (jobs_in(value) > k_dependencies_max || longest_number(value) > k_job_id_digits_max)
		return too_many(k_dependencies_max, "jobs, with numbers of at most 10 digits");
	return Ok{};
}

Status check_counts(const std::string &value)
{
	if (count(value, ",;|") + 1 > k_list_items_max)
		return too_many(k_list_items_max, "items");
	for (std::string_view rest = value;;) {
		const std::size_t end = rest.find_first_of(",;|");
		if (const Status counted = check_count(rest.substr(0, end)); !counted)
			return counted;
		if (end == std::string_view::npos)
			return Ok{};
		rest.remove_prefix(end + 1);
	}
}

Status check_names(const std::string &value)
{
	if (count(value, ",") + 1 > k_list_items_max)
		return too_many(k_list_items_max, "names");
	return check_size(value, k_name_max);
}

bool is_of_address(char c)
{
	return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
		std::string_view(".@_+%=,-").find(c) != std::string_view::npos;
}

Status check_address(const std::string &value)
{
	if (value.starts_with('-') || !std::ranges::all_of(value, is_of_address))
		return Error{Errc::invalid,
			"must be a user or an address such as name@example.org: letters, digits "
			"and . _ + % = @ , -, and no - first"};
	return check_size(value, k_address_max);
}

template <class Check>
Status set_checked(const std::string &value, std::string &target, Check check)
{
	std::string token;
	if (const Status visible = set_token(value, token); !visible)
		return visible;
	if (const Status checked = check(value); !checked)
		return checked;
	target = std::move(token);
	return Ok{};
}

} // namespace

Status set_hosts(const std::string &value, std::string &target)
{
	const auto hosts = expand_hosts(value);
	if (!hosts)
		return hosts.error();
	target = value;
	return Ok{};
}

Status set_features(const std::string &value, std::string &target)
{
	return set_checked(value, target, check_features);
}

Status set_dependency(const std::string &value, std::string &target)
{
	return set_checked(value, target, check_dependency);
}

Status set_counts(const std::string &value, std::string &target)
{
	return set_checked(value, target, check_counts);
}

Status set_names(const std::string &value, std::string &target)
{
	return set_checked(value, target, check_names);
}

Status set_address(const std::string &value, std::string &target)
{
	return set_checked(value, target, check_address);
}

Status check_time_text(const std::string &value)
{
	return check_size(value, k_time_text_max);
}

} // namespace slurmkube::core
