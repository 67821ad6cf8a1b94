/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/identity_rules.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::size_t k_name_max = 256; /* of a user, account, partition or QOS */
constexpr std::size_t k_list_max = 64;  /* entries of an annotation */

bool is_for_all(const NamespaceRule &rule)
{
	return rule.name_space.empty() || rule.name_space == "*";
}

bool looks_at_namespace(const NamespaceRule &rule)
{
	return !rule.selector.empty() || !rule.annotation_key.empty() || !rule.user_from.empty() ||
		!rule.accounts_from.empty() || !rule.partitions_from.empty() ||
		!rule.qos_from.empty();
}

const std::string *annotation(const Namespace &in, const std::string &key)
{
	const auto found = in.annotations.find(key);
	return found == in.annotations.end() ? nullptr : &found->second;
}

bool fits(const NamespaceRule &rule, const Namespace &in)
{
	if (!matches(rule.selector, in.labels) ||
		(!rule.user_from.empty() && !annotation(in, rule.user_from)))
		return false;
	if (rule.annotation_key.empty())
		return true;
	const std::string *value = annotation(in, rule.annotation_key);
	return value && (!rule.annotation_value || *value == *rule.annotation_value);
}

bool is_name(std::string_view text)
{
	return !text.empty() && text.size() <= k_name_max &&
		std::all_of(text.begin(), text.end(), [](char c) {
			return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				(c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
				c == '@';
		});
}

Error bad_annotation(const Namespace &in, const std::string &key, const std::string &why)
{
	return Error{Errc::denied,
		"namespace " + in.name + ": its annotation " + key + "='" +
			annotation(in, key)->substr(0, 64) + "' " + why};
}

std::string rule_text(const NamespaceRule &rule, std::size_t index)
{
	std::string match = is_for_all(rule) ? "" : "namespace " + rule.name_space;
	const auto add = [&match](const std::string &what, const std::string &text) {
		if (!text.empty())
			match += (match.empty() ? "" : ", ") + what + text;
	};
	add("selector ", rule.selector_text);
	add("annotation ",
		rule.annotation_key + (rule.annotation_value ? "=" + *rule.annotation_value : ""));
	add("user from ", rule.user_from);
	return "identity rule " + std::to_string(index + 1) + " (" +
		(match.empty() ? "all namespaces" : match) + ")";
}

/* Index of the first rule that matches. in: nullptr if the namespace has not been seen. */
Result<std::size_t> find_rule(
	const IdentityRules &identity, const std::string &name, const Namespace *in)
{
	for (std::size_t i = 0; i < identity.rules.size(); i++) {
		const NamespaceRule &rule = identity.rules[i];
		if (!is_for_all(rule) && rule.name_space != name)
			continue;
		if (!looks_at_namespace(rule))
			return i;
		if (!in)
			return Error{Errc::again,
				"namespace " + name +
					" has not been seen yet: its labels and annotations decide "
					"who its pods are in Slurm"};
		if (fits(rule, *in))
			return i;
	}
	return Error{Errc::denied,
		"namespace " + name +
			" may not use Slurm: no rule under 'identity' in slurmkubed.yaml matches "
			"it"};
}

/* nullptr also for a namespace that is being deleted, because one with the same name may get other
 * labels. */
const Namespace *known(const IdentityFacts &facts, const std::string &name)
{
	const auto found = facts.namespaces.find(name);
	return found == facts.namespaces.end() || found->second.deleting ? nullptr : &found->second;
}

Status take_list(const Namespace &in, const std::string &key, std::vector<std::string> &out)
{
	const std::string *text = key.empty() ? nullptr : annotation(in, key);
	if (!text)
		return Ok{};
	std::vector<std::string> names;
	for (std::size_t begin = 0; begin <= text->size() && names.size() <= k_list_max;) {
		const std::size_t comma = std::min(text->find(',', begin), text->size());
		const std::size_t first = std::min(text->find_first_not_of(' ', begin), comma);
		std::string name = text->substr(first, comma - first);
		name.erase(name.find_last_not_of(' ') + 1);
		if (!is_name(name))
			return bad_annotation(in, key, "is no list of names, as in one,two");
		names.push_back(std::move(name));
		begin = comma + 1;
	}
	if (names.size() > k_list_max)
		return bad_annotation(
			in, key, "has more than " + std::to_string(k_list_max) + " names");
	out = std::move(names);
	return Ok{};
}

Status take_user(const IdentityRules &identity, const Namespace &in, NamespaceRule &rule)
{
	rule.user = *annotation(in, rule.user_from);
	if (!is_name(rule.user))
		return bad_annotation(in, rule.user_from, "is no user's name or number");
	const auto found = identity.facts.users.find(rule.user);
	if (found == identity.facts.users.end())
		return Error{Errc::again,
			"user " + rule.user + " of namespace " + in.name + " is being looked up"};
	if (!found->second)
		return found->second.error().code == Errc::again
			? Status(found->second.error())
			: bad_annotation(in, rule.user_from,
				  "names no user: " + found->second.error().what);
	if (found->second->user_id < identity.min_uid)
		return bad_annotation(in, rule.user_from,
			"is uid " + std::to_string(found->second->user_id) +
				", below identity.min_uid (" + std::to_string(identity.min_uid) +
				") of slurmkubed.yaml");
	rule.user_id = found->second->user_id;
	if (!rule.has_group)
		rule.group_id = found->second->group_id;
	return Ok{};
}

} // namespace

bool may(const NamespaceRule &rule, std::string_view permission)
{
	return std::find(rule.permissions.begin(), rule.permissions.end(), permission) !=
		rule.permissions.end();
}

Result<NamespaceRule> rule_of(const IdentityRules &identity, const std::string &name_space)
{
	const Namespace *in = known(identity.facts, name_space);
	const auto index = find_rule(identity, name_space, in);
	if (!index)
		return index.error();
	NamespaceRule rule = identity.rules[*index];
	rule.text = rule_text(rule, *index);
	if (!looks_at_namespace(rule))
		return rule;
	for (const auto &[key, list] : {std::pair(&rule.accounts_from, &rule.accounts),
		     std::pair(&rule.partitions_from, &rule.partitions),
		     std::pair(&rule.qos_from, &rule.qos)}) {
		const Status taken = take_list(*in, *key, *list);
		if (!taken)
			return taken.error();
	}
	const Status who = rule.user_from.empty() ? Status(Ok{}) : take_user(identity, *in, rule);
	if (!who)
		return who.error();
	return rule;
}

std::optional<std::string> person_wanted(
	const IdentityRules &identity, const std::string &name_space)
{
	const Namespace *in = known(identity.facts, name_space);
	const auto index = find_rule(identity, name_space, in);
	if (!in || !index || identity.rules[*index].user_from.empty())
		return std::nullopt;
	const std::string &user = *annotation(*in, identity.rules[*index].user_from);
	const auto found = identity.facts.users.find(user);
	return !is_name(user) || (found != identity.facts.users.end() && found->second)
		? std::nullopt
		: std::optional(user);
}

bool reads_annotation(const std::vector<NamespaceRule> &rules, const std::string &key)
{
	return std::any_of(rules.begin(), rules.end(), [&key](const NamespaceRule &rule) {
		return key == rule.annotation_key || key == rule.user_from ||
			key == rule.accounts_from || key == rule.partitions_from ||
			key == rule.qos_from;
	});
}

std::string as_whom(const NamespaceRule &rule)
{
	const std::string number = std::to_string(rule.user_id);
	return "user " +
		(rule.user.empty() || rule.user == number ? "uid " + number
							  : rule.user + " (uid " + number + ")") +
		" by " + rule.text;
}

} // namespace slurmkube::core
