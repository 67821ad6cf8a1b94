/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/config_identity.h"

#include "src/agent/identity.h"

#include <algorithm>
#include <set>

namespace slurmkube::agent
{

namespace
{

using core::NamespaceRule;

constexpr std::string_view k_key_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/";
constexpr char k_key[] = "an annotation's key, as in example.com/name";

void read_names(Reader &reader, const Yaml &value, std::vector<std::string> &out)
{
	(void)reader.text_list(value, k_name_characters, k_name, out);
}

/* "*" in the list allows all names. */
void read_names_or_any(Reader &reader, const Yaml &value, std::vector<std::string> &out)
{
	static const std::string characters = std::string(k_name_characters) + "*";
	(void)reader.text_list(value, characters,
		"a name of letters, digits, '-', '.' and '_', or \"*\" for all", out);
}

void read_key(Reader &reader, const Yaml &value, std::string &out)
{
	(void)reader.text_of(value, k_key_characters, k_key, out);
}

void read_namespace(Reader &reader, const Yaml &value, NamespaceRule &out)
{
	if (value.text() == "*")
		out.name_space = "*";
	else
		(void)reader.text_of(value, "abcdefghijklmnopqrstuvwxyz0123456789-",
			"a namespace's name, nor \"*\" for all others", out.name_space);
}

void read_selector(Reader &reader, const Yaml &value, NamespaceRule &out)
{
	std::string text;
	if (!reader.text(value, text))
		return;
	auto selector = core::parse_label_selector(text);
	if (!selector)
		return reader.fail(value, selector.error().what);
	out.selector = std::move(*selector);
	out.selector_text = text;
}

/* "key" or "key=value" */
void read_annotation(Reader &reader, const Yaml &value, NamespaceRule &out)
{
	std::string text;
	if (!reader.text(value, text))
		return;
	const auto equals = text.find('=');
	const std::string key = text.substr(0, equals);
	if (key.empty() || key.find_first_not_of(k_key_characters) != std::string::npos)
		return reader.fail(value,
			"'" + text +
				"' is not an annotation, as in example.com/name or "
				"example.com/name=value");
	out.annotation_key = key;
	if (equals != std::string::npos)
		out.annotation_value = text.substr(equals + 1);
}

void fail_look_up(Reader &reader, const Yaml &value, const Error &error)
{
	if (error.code == Errc::again)
		reader.fail_for_now(value, error.what);
	else
		reader.fail(value, error.what);
}

void read_user(Reader &reader, const Yaml &value, NamespaceRule &out)
{
	if (!reader.text(value, out.user))
		return;
	const auto found = find_user(out.user);
	if (!found)
		return fail_look_up(reader, value, found.error());
	out.user_id = found->user_id;
	if (!out.has_group)
		out.group_id = found->group_id;
}

void read_group(Reader &reader, const Yaml &value, NamespaceRule &out)
{
	std::string text;
	if (!reader.text(value, text))
		return;
	const auto found = find_group(text);
	if (!found)
		return fail_look_up(reader, value, found.error());
	out.group_id = *found;
	out.has_group = true;
}

std::string known_permissions()
{
	std::string all;
	for (const std::string_view one : core::k_permissions)
		all += (all.empty() ? "" : ", ") + std::string(one);
	return all;
}

void read_permissions(Reader &reader, const Yaml &value, NamespaceRule &out)
{
	read_names(reader, value, out.permissions);
	for (const std::string &one : out.permissions) {
		if (std::find(std::begin(core::k_permissions), std::end(core::k_permissions),
			    one) == std::end(core::k_permissions))
			reader.fail(value,
				"'" + one + "' is not a permission; known are " +
					known_permissions());
	}
}

constexpr Key<NamespaceRule> k_namespace_rule_keys[] = {
	{"namespace", read_namespace},
	{"selector", read_selector},
	{"annotation", read_annotation},
	{"user", read_user},
	{"user_from",
		[](Reader &r, const Yaml &v, NamespaceRule &out) {
			read_key(r, v, out.user_from);
		}},
	{"group", read_group},
	{"accounts",
		[](Reader &r, const Yaml &v, NamespaceRule &out) {
			read_names(r, v, out.accounts);
		}},
	{"accounts_from",
		[](Reader &r, const Yaml &v, NamespaceRule &out) {
			read_key(r, v, out.accounts_from);
		}},
	{"partitions",
		[](Reader &r, const Yaml &v, NamespaceRule &out) {
			read_names(r, v, out.partitions);
		}},
	{"partitions_from",
		[](Reader &r, const Yaml &v, NamespaceRule &out) {
			read_key(r, v, out.partitions_from);
		}},
	{"qos", [](Reader &r, const Yaml &v, NamespaceRule &out) { read_names(r, v, out.qos); }},
	{"qos_from",
		[](Reader &r, const Yaml &v, NamespaceRule &out) { read_key(r, v, out.qos_from); }},
	{"permissions", read_permissions},
	{"reservations",
		[](Reader &r, const Yaml &v, NamespaceRule &out) {
			read_names_or_any(r, v, out.reservations);
		}},
	{"wckeys",
		[](Reader &r, const Yaml &v, NamespaceRule &out) {
			read_names_or_any(r, v, out.wckeys);
		}},
};

/* Namespaces that have a rule without any other condition than the name; "*": all namespaces have
 * one. */
using Decided = std::set<std::string>;

void check_order(Reader &reader, const Yaml &item, const NamespaceRule &rule, Decided &decided)
{
	const bool by_name_only =
		rule.selector.empty() && rule.annotation_key.empty() && rule.user_from.empty();
	if (decided.count("*"))
		reader.fail(item, "stands after \"*\", which matches all: it would never hold");
	else if (decided.count(rule.name_space))
		reader.fail(item, "'" + rule.name_space + "' has a rule already");
	else if (by_name_only)
		decided.insert(rule.name_space);
}

void check_rule(Reader &reader, const Yaml &item, const NamespaceRule &rule, Decided &decided)
{
	if (!item.is_mapping())
		return;
	if (!item.get("namespace") && !item.get("selector") && !item.get("annotation") &&
		!item.get("user_from"))
		reader.fail(item,
			"has neither namespace nor selector, annotation or user_from: which "
			"namespaces? \"*\" is all");
	if (!item.get("user") && !item.get("user_from"))
		reader.fail(item, "'user' or 'user_from' is required");
	if (item.get("user") && item.get("user_from"))
		reader.fail(item, "has both user and user_from: give one");
	check_order(reader, item, rule, decided);
}

void read_rules(Reader &reader, const Yaml &value, IdentityConfig &out)
{
	if (!value.is_sequence())
		return reader.fail(value, "must be a list of rules (- namespace: ...)");
	Decided decided;
	std::size_t index = 0;
	for (const Yaml &item : value.items()) {
		reader.enter("[" + std::to_string(index++) + "]");
		NamespaceRule rule;
		reader.mapping(item, k_namespace_rule_keys, rule);
		check_rule(reader, item, rule, decided);
		reader.leave();
		out.rules.push_back(std::move(rule));
	}
}

constexpr Key<IdentityConfig> k_identity_keys[] = {
	{"min_uid",
		[](Reader &r, const Yaml &v, IdentityConfig &out) {
			(void)r.number(v, 0, 0xfffffffd, out.min_uid);
		},
		"least_uid"},
	{"rules", read_rules},
};

} // namespace

void read_identity(Reader &reader, const Yaml &value, Config &out)
{
	reader.mapping(value, k_identity_keys, out.identity);
}

std::vector<std::string> identity_keys()
{
	std::vector<std::string> names;
	for (const Key<IdentityConfig> &key : k_identity_keys)
		names.emplace_back(key.name);
	for (const Key<NamespaceRule> &key : k_namespace_rule_keys)
		names.emplace_back(std::string("rules.") + key.name);
	return names;
}

} // namespace slurmkube::agent
