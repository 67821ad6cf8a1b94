/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/gres.h"

#include <algorithm>
#include <cctype>

namespace slurmkube::core
{

namespace
{

using Counts = std::map<std::string, std::int64_t>; /* by "gpu" or "gpu:a100" */

/* What the '*' of the rule stands for; nullopt: the rule is for another resource. */
std::optional<std::string> rest_of(const std::string &resource, const GresRule &rule)
{
	if (!rule.resource.ends_with('*'))
		return resource == rule.resource ? std::optional<std::string>("") : std::nullopt;
	const std::string start = rule.resource.substr(0, rule.resource.size() - 1);
	if (!resource.starts_with(start) || resource.size() == start.size())
		return std::nullopt;
	return resource.substr(start.size());
}

/* Slurm compares types by case; what is no letter, digit, '-', '_' or '.' would end the word. */
std::string as_type(const std::string &text)
{
	std::string out;
	for (const char c : text) {
		const int byte = static_cast<unsigned char>(c);
		out += std::isalnum(byte) || c == '-' || c == '_' || c == '.' ? static_cast<char>(std::tolower(byte)) : '_';
	}
	return out;
}

std::string fixed_type(const std::string &resource, const GresRule &rule)
{
	std::string type = rule.type;
	const auto star = type.find('*');
	if (star != std::string::npos)
		type.replace(star, 1, rest_of(resource, rule).value_or(""));
	return as_type(type);
}

std::string with_type(const std::string &name, const std::string &type)
{
	return type.empty() ? name : name + ":" + type;
}

std::string text_of(const Counts &counts)
{
	std::string out;
	for (const auto &[what, count] : counts)
		out += (out.empty() ? "" : ",") + what + ":" + std::to_string(count);
	return out;
}

} // namespace

GresTable default_gres_table()
{
	return {{.resource = "nvidia.com/gpu", .name = "gpu", .type = "", .type_label = ""},
		{.resource = "nvidia.com/mig-*", .name = "gpu", .type = "mig-*", .type_label = ""},
		{.resource = "amd.com/gpu", .name = "gpu", .type = "", .type_label = ""},
		{.resource = "gpu.intel.com/i915", .name = "gpu", .type = "", .type_label = ""},
		{.resource = "gpu.intel.com/xe", .name = "gpu", .type = "", .type_label = ""}};
}

const GresRule *gres_rule(const std::string &resource, const GresTable &table)
{
	const auto rule = std::find_if(table.begin(), table.end(), [&](const GresRule &one) { return rest_of(resource, one).has_value(); });
	return rule == table.end() ? nullptr : &*rule;
}

bool is_counted_by_kubernetes(const std::string &resource)
{
	return resource == "ephemeral-storage" || resource.starts_with("hugepages-");
}

Result<std::string> gres_of_pod(const Resources &requests, const GresTable &table)
{
	Counts counts;
	for (const auto &[resource, amount] : requests.extended) {
		if (amount <= 0 || is_counted_by_kubernetes(resource))
			continue;
		const GresRule *rule = gres_rule(resource, table);
		if (!rule)
			return Error{Errc::invalid, "resource " + resource + ": Slurm does not know it, because no rule under 'gres' in slurmkubed.yaml names it; remove the request or ask your administrator for a rule"};
		counts[with_type(rule->name, fixed_type(resource, *rule))] += amount;
	}
	return text_of(counts);
}

std::string gres_of_node(const KubeNode &node, const GresTable &table)
{
	Counts counts;
	for (const auto &[resource, amount] : node.allocatable.extended) {
		const GresRule *rule = amount > 0 ? gres_rule(resource, table) : nullptr;
		if (!rule)
			continue;
		const auto label = node.labels.find(rule->type_label);
		const std::string type = label == node.labels.end() ? fixed_type(resource, *rule) : as_type(label->second);
		counts[with_type(rule->name, type)] += amount;
	}
	return text_of(counts);
}

bool lists_gres(const std::string &list, const std::string &name)
{
	for (std::size_t at = 0; at < list.size();) {
		const std::size_t end = std::min(list.find(',', at), list.size());
		if (list.compare(at, std::min(list.find(':', at), end) - at, name) == 0)
			return true;
		at = end + 1;
	}
	return false;
}

} // namespace slurmkube::core
