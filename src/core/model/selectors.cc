/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/selectors.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_label_value_max = 63;
constexpr char k_name_field[] = "metadata.name";

bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_label_value(const std::string &text)
{
	if (text.empty())
		return true;
	const bool inside = std::all_of(text.begin(), text.end(),
		[](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
	return inside && text.size() <= k_label_value_max && is_alphanumeric(text.front()) &&
		is_alphanumeric(text.back());
}

/* As strconv.ParseInt(text, 10, 64). */
std::optional<std::int64_t> number(std::string_view text)
{
	if (text.starts_with('+') && !text.starts_with("+-"))
		text.remove_prefix(1);
	std::int64_t out = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
	return error == std::errc() && end == text.data() + text.size() ? std::optional(out)
									: std::nullopt;
}

bool has_right_count(const Requirement &r)
{
	switch (r.op) {
	case SelectorOp::in:
	case SelectorOp::not_in:
		return !r.values.empty();
	case SelectorOp::exists:
	case SelectorOp::does_not_exist:
		return r.values.empty();
	case SelectorOp::gt:
	case SelectorOp::lt:
		return r.values.size() == 1 && number(r.values.front());
	case SelectorOp::unknown:
		break;
	}
	return false;
}

bool compares(const Requirement &r, const std::string &value)
{
	const auto left = number(value), right = number(r.values.front());
	if (!left || !right)
		return false;
	return r.op == SelectorOp::gt ? *left > *right : *left < *right;
}

bool is_valid_field(const Requirement &r)
{
	return (r.op == SelectorOp::in || r.op == SelectorOp::not_in) && r.values.size() == 1;
}

/* metadata.name is the only field of a node that can be selected. */
bool matches_field(const Requirement &r, const KubeNode &node)
{
	const std::string value = r.key == k_name_field ? node.name : std::string();
	return (value == r.values.front()) == (r.op == SelectorOp::in);
}

} // namespace

bool is_valid(const Requirement &requirement)
{
	return !requirement.key.empty() && has_right_count(requirement) &&
		std::all_of(requirement.values.begin(), requirement.values.end(), is_label_value);
}

bool matches(const Requirement &requirement, const Labels &labels)
{
	const auto label = labels.find(requirement.key);
	const bool has = label != labels.end();
	const auto listed = [&] {
		return std::find(requirement.values.begin(), requirement.values.end(),
			       label->second) != requirement.values.end();
	};
	switch (requirement.op) {
	case SelectorOp::in:
		return has && listed();
	case SelectorOp::not_in:
		return !has || !listed();
	case SelectorOp::exists:
		return has;
	case SelectorOp::does_not_exist:
		return !has;
	case SelectorOp::gt:
	case SelectorOp::lt:
		return has && compares(requirement, label->second);
	case SelectorOp::unknown:
		break;
	}
	return false;
}

bool matches(const NodeTerm &term, const KubeNode &node)
{
	if (term.labels.empty() && term.fields.empty())
		return false;
	const bool valid = std::all_of(term.labels.begin(), term.labels.end(), is_valid) &&
		std::all_of(term.fields.begin(), term.fields.end(), is_valid_field);
	return valid &&
		std::all_of(term.labels.begin(), term.labels.end(),
			[&](const Requirement &r) { return matches(r, node.labels); }) &&
		std::all_of(term.fields.begin(), term.fields.end(),
			[&](const Requirement &r) { return matches_field(r, node); });
}

bool matches(const PodSelector &selector, const Labels &labels)
{
	const auto has = [&](const auto &wanted) {
		const auto label = labels.find(wanted.first);
		return label != labels.end() && label->second == wanted.second;
	};
	return std::all_of(selector.labels.begin(), selector.labels.end(), has) &&
		std::all_of(selector.requirements.begin(), selector.requirements.end(),
			[&](const Requirement &r) { return matches(r, labels); });
}

bool matches(const PodTerm &term, const std::string &home, const Pod &other)
{
	const bool names_none =
		term.namespaces.empty() && !term.all_namespaces && !term.namespace_selector;
	const auto has = [&](const std::vector<std::string> &list) {
		return std::find(list.begin(), list.end(), other.name_space) != list.end();
	};
	const bool is_there = term.all_namespaces || (names_none && other.name_space == home) ||
		has(term.namespaces) || has(term.selected_namespaces);
	return is_there && term.selector && matches(*term.selector, other.labels);
}

} // namespace slurmkube::core
