/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/config_devices.h"

#include <algorithm>
#include <set>
#include <utility>

namespace slurmkube::agent
{

namespace
{

constexpr std::string_view k_attribute_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/";

void read_only(Reader &reader, const Yaml &value, core::DeviceRule &out)
{
	std::string text;
	if (!reader.text(value, text))
		return;
	auto selector = core::cel::compile(text);
	if (!selector)
		return reader.fail(value, selector.error().what);
	out.only = std::move(*selector);
}

void read_type_attribute(Reader &reader, const Yaml &value, core::DeviceRule &out)
{
	std::string text;
	if (!reader.text_of(value, k_attribute_characters,
		    "an attribute, as in productName or example.com/model", text))
		return;
	const std::size_t slash = text.find('/');
	if (std::ranges::count(text, '/') > 1 || slash == 0 || slash == text.size() - 1)
		return reader.fail(
			value, "'" + text + "' is not an attribute: write ID, or DOMAIN/ID");
	out.type_attribute = text;
}

void read_order(Reader &reader, const Yaml &value, core::DeviceRule &out)
{
	if (value.text() == "number")
		out.order = core::DeviceOrder::number;
	else if (value.text() == "name")
		out.order = core::DeviceOrder::name;
	else
		reader.fail(value, "'" + value.text() + "' is not one of number, name");
}

constexpr Key<core::DeviceRule> k_device_rule_keys[] = {
	{"driver",
		[](Reader &r, const Yaml &v, core::DeviceRule &out) {
			(void)r.text_of(v, k_name_characters,
				"the name of a driver, as in gpu.nvidia.com", out.driver);
		}},
	{"gres",
		[](Reader &r, const Yaml &v, core::DeviceRule &out) {
			(void)r.text_of(v, k_name_characters, k_name, out.gres);
		}},
	{"only", read_only},
	{"type_attribute", read_type_attribute},
	{"order", read_order},
	{"cores",
		[](Reader &r, const Yaml &v, core::DeviceRule &out) {
			(void)r.boolean(v, out.is_cores);
		}},
};

/* CPUs have numbers in Slurm already. */
void check_cores(Reader &reader, const Yaml &item, core::DeviceRule &rule, bool has_cores)
{
	for (const char *key : {"gres", "type_attribute", "order"}) {
		if (item.get(key))
			reader.fail(item,
				std::string("'cores' and '") + key +
					"' exclude each other: CPUs are no GRES");
	}
	if (has_cores)
		reader.fail(item, "a second rule with 'cores': a core is one CPU");
	rule.gres = core::k_cores;
}

} // namespace

void read_devices(Reader &reader, const Yaml &value, Config &out)
{
	if (!value.is_sequence())
		return reader.fail(value, "must be a list of rules (- driver: ...)");
	std::set<std::pair<std::string, std::string>> seen;
	std::size_t index = 0;
	bool has_cores = false;
	for (const Yaml &item : value.items()) {
		reader.enter("[" + std::to_string(index++) + "]");
		core::DeviceRule rule;
		reader.mapping(item, k_device_rule_keys, rule);
		if (rule.is_cores)
			check_cores(reader, item, rule, std::exchange(has_cores, true));
		if (item.is_mapping() && !item.get("driver"))
			reader.fail(item, "a rule needs a driver");
		else if (!rule.driver.empty() && !seen.emplace(rule.driver, rule.gres).second)
			reader.fail(item,
				"driver '" + rule.driver + "' has a rule for GRES '" + rule.gres +
					"' already: join the two with || in 'only', or name "
					"another GRES");
		reader.leave();
		out.devices.push_back(std::move(rule));
	}
}

std::vector<std::string> devices_keys()
{
	std::vector<std::string> names;
	for (const auto &key : k_device_rule_keys)
		names.emplace_back(key.name);
	return names;
}

} // namespace slurmkube::agent
