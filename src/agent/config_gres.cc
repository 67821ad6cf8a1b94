/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/config_gres.h"

namespace slurmkube::agent
{

namespace
{

constexpr std::string_view k_type_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._*";
constexpr std::string_view k_resource_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/*";

/* Either an exact name, or a prefix with one '*' at its end. */
void read_resource(Reader &reader, const Yaml &value, core::GresRule &out)
{
	std::string text;
	if (!reader.text_of(value, k_resource_characters,
		    "a resource, as in nvidia.com/gpu, or with '*' at its end", text))
		return;
	if (text.find('*') < text.size() - 1 || text.find('/') == std::string::npos)
		return reader.fail(value,
			"'" + text +
				"' is no extended resource: it has a '/', and a '*' only at its "
				"end");
	out.resource = text;
}

constexpr Key<core::GresRule> k_gres_rule_keys[] = {
	{"resource", read_resource},
	{"name",
		[](Reader &r, const Yaml &v, core::GresRule &out) {
			(void)r.text_of(v, k_name_characters, k_name, out.name);
		}},
	{"type",
		[](Reader &r, const Yaml &v, core::GresRule &out) {
			(void)r.text_of(v, k_type_characters, "a type, or one with '*'", out.type);
		}},
	{"type_from",
		[](Reader &r, const Yaml &v, core::GresRule &out) {
			(void)r.text_of(v, k_resource_characters, "the key of a node's label",
				out.type_label);
		}},
};

void check_rule(Reader &reader, const Yaml &at, const core::GresRule &rule)
{
	if (!at.is_mapping())
		return;
	if (!at.get("resource"))
		reader.fail(at, "a rule needs a resource");
	if (rule.type.find('*') != std::string::npos && !rule.resource.empty() &&
		!rule.resource.ends_with('*'))
		reader.fail(at,
			"type '" + rule.type + "' has a '*', but resource '" + rule.resource +
				"' has none");
	if (!rule.type.empty() && !rule.type_label.empty())
		reader.fail(at, "type and type_from exclude each other");
}

} // namespace

void read_gres(Reader &reader, const Yaml &value, Config &out)
{
	if (!value.is_sequence())
		return reader.fail(value, "must be a list of rules (- resource: ...)");
	out.gres.clear();
	std::size_t index = 0;
	for (const Yaml &item : value.items()) {
		reader.enter("[" + std::to_string(index++) + "]");
		core::GresRule rule;
		reader.mapping(item, k_gres_rule_keys, rule);
		check_rule(reader, item, rule);
		reader.leave();
		out.gres.push_back(std::move(rule));
	}
}

std::vector<std::string> gres_keys()
{
	std::vector<std::string> names;
	for (const auto &key : k_gres_rule_keys)
		names.emplace_back(key.name);
	return names;
}

} // namespace slurmkube::agent
