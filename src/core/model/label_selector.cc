/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/label_selector.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

using Op = LabelRequirement::Op;

constexpr std::size_t k_text_max = 4096;
constexpr std::string_view k_blanks = " \t";

std::string_view trimmed(std::string_view text)
{
	const auto first = text.find_first_not_of(k_blanks);
	if (first == std::string_view::npos)
		return {};
	return text.substr(first, text.find_last_not_of(k_blanks) - first + 1);
}

bool is_word(std::string_view text, std::string_view more)
{
	return std::all_of(text.begin(), text.end(), [more](char c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			more.find(c) != std::string_view::npos;
	});
}

bool is_key(std::string_view text)
{
	return !text.empty() && is_word(text, "-_./") &&
		std::count(text.begin(), text.end(), '/') <= 1;
}

bool is_value(std::string_view text)
{
	return is_word(text, "-_.");
}

/* Splits at commas. in_parentheses: the text comes from inside of parentheses; otherwise commas
 * inside of parentheses do not split. */
std::vector<std::string_view> split(std::string_view text, bool in_parentheses)
{
	std::vector<std::string_view> parts;
	int depth = 0;
	std::size_t begin = 0;
	for (std::size_t i = 0; i <= text.size(); i++) {
		if (i < text.size() && !in_parentheses && text[i] == '(')
			depth++;
		if (i < text.size() && !in_parentheses && text[i] == ')')
			depth--;
		if (i < text.size() && (text[i] != ',' || depth > 0))
			continue;
		parts.push_back(trimmed(text.substr(begin, i - begin)));
		begin = i + 1;
	}
	return parts;
}

Error wrong(std::string_view part)
{
	return Error{Errc::invalid,
		"'" + std::string(part) +
			"' is no part of a label selector, as in a=b, a!=b, a in (b, c), a notin "
			"(b), a, !a"};
}

Result<LabelRequirement> requirement(std::string_view key, Op op,
	const std::vector<std::string_view> &values, std::string_view part)
{
	if (!is_key(key) || !std::all_of(values.begin(), values.end(), is_value))
		return wrong(part);
	return LabelRequirement{std::string(key), op, {values.begin(), values.end()}};
}

/* "key in (a, b)" or "key notin (a, b)" */
Result<LabelRequirement> set_requirement(std::string_view part, std::size_t open)
{
	std::string_view left = trimmed(part.substr(0, open));
	const auto blank = left.find_last_of(k_blanks);
	if (part.back() != ')' || blank == std::string_view::npos)
		return wrong(part);
	const std::string_view word = left.substr(blank + 1);
	if (word != "in" && word != "notin")
		return wrong(part);
	return requirement(trimmed(left.substr(0, blank)), word == "in" ? Op::in : Op::not_in,
		split(part.substr(open + 1, part.size() - open - 2), true), part);
}

Result<LabelRequirement> parse_part(std::string_view part)
{
	const auto open = part.find('(');
	if (open != std::string_view::npos)
		return set_requirement(part, open);
	const auto equals = part.find('=');
	if (equals == std::string_view::npos) {
		const bool absent = part.starts_with('!');
		return requirement(absent ? trimmed(part.substr(1)) : part,
			absent ? Op::absent : Op::exists, {}, part);
	}
	const bool negative = equals > 0 && part[equals - 1] == '!';
	const std::size_t value = equals + (part.substr(equals).starts_with("==") ? 2 : 1);
	return requirement(trimmed(part.substr(0, equals - (negative ? 1 : 0))),
		negative ? Op::not_in : Op::in, {trimmed(part.substr(value))}, part);
}

bool holds(const LabelRequirement &one, const std::map<std::string, std::string> &labels)
{
	const auto found = labels.find(one.key);
	const bool there = found != labels.end();
	const bool listed = there &&
		std::find(one.values.begin(), one.values.end(), found->second) != one.values.end();
	switch (one.op) {
	case Op::in:
		return listed;
	case Op::not_in:
		return !listed;
	case Op::exists:
		return there;
	case Op::absent:
		break;
	}
	return !there;
}

} // namespace

Result<LabelSelector> parse_label_selector(std::string_view text)
{
	if (text.size() > k_text_max)
		return Error{Errc::too_large,
			"a label selector of more than " + std::to_string(k_text_max) + " bytes"};
	LabelSelector selector;
	for (const std::string_view part : split(text, false)) {
		if (part.empty())
			return wrong(text);
		auto one = parse_part(part);
		if (!one)
			return one.error();
		selector.push_back(std::move(*one));
	}
	return selector;
}

bool matches(const LabelSelector &selector, const std::map<std::string, std::string> &labels)
{
	return std::all_of(selector.begin(), selector.end(),
		[&](const LabelRequirement &one) { return holds(one, labels); });
}

} // namespace slurmkube::core
