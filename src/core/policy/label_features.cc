/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/label_features.h"

#include <algorithm>
#include <string_view>

namespace slurmkube::core
{

namespace
{

constexpr std::string_view k_feature_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

std::string prefix_of(const LabelFeature &rule)
{
	return rule.prefix.empty() ? rule.label.substr(rule.label.rfind('/') + 1) + "_"
				   : rule.prefix;
}

void add_to(std::string &text, char separator, const std::string &word)
{
	text += (text.empty() ? "" : std::string(1, separator)) + word;
}

/* "a|b", from the values that at least one node has; empty: not expressible, or no node has one */
std::string any_of_values(
	const Requirement &wanted, const LabelFeatures &rules, const std::set<std::string> &known)
{
	const auto rule = std::ranges::find(rules, wanted.key, &LabelFeature::label);
	std::string out;
	if (rule == rules.end() || wanted.op != SelectorOp::in)
		return out;
	for (const std::string &value : wanted.values) {
		const std::string feature = feature_of(*rule, value);
		if (!feature.empty() && known.contains(feature))
			add_to(out, '|', feature);
	}
	return out;
}

std::string prefer_of(
	const NodeTerm &term, const LabelFeatures &rules, const std::set<std::string> &known)
{
	std::string out;
	for (const Requirement &wanted : term.labels) {
		const std::string one = any_of_values(wanted, rules, known);
		/* several values beside other requirements would need parentheses */
		const bool is_choice = one.find('|') != std::string::npos;
		if (one.empty() || !term.fields.empty() || (is_choice && term.labels.size() > 1))
			return "";
		add_to(out, '&', one);
	}
	return out;
}

} // namespace

std::string feature_of(const LabelFeature &rule, const std::string &value)
{
	const std::string feature = prefix_of(rule) + value;
	return value.empty() || feature.find_first_not_of(k_feature_characters) != std::string::npos
		? ""
		: feature;
}

std::string features_of(
	const std::map<std::string, std::string> &labels, const LabelFeatures &rules)
{
	std::string out;
	for (const LabelFeature &rule : rules) {
		const auto label = labels.find(rule.label);
		const std::string feature =
			label == labels.end() ? "" : feature_of(rule, label->second);
		if (!feature.empty() && !has_feature(out, feature))
			add_to(out, ',', feature);
	}
	return out;
}

bool has_feature(const std::string &list, const std::string &feature)
{
	return ("," + list + ",").find("," + feature + ",") != std::string::npos;
}

std::string prefer_of(const std::vector<Preference> &preferences, const LabelFeatures &rules,
	const std::set<std::string> &known)
{
	std::string best;
	int weight = 0;
	for (const Preference &one : preferences) {
		if (one.weight <= weight)
			continue;
		const std::string wish = prefer_of(one.term, rules, known);
		if (wish.empty())
			continue;
		best = wish;
		weight = one.weight;
	}
	return best;
}

} // namespace slurmkube::core
