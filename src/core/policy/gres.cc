/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/policy/gres.h"

#include "src/core/model/gres_type.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace slurmkube::core
{

namespace
{

constexpr char k_claimed = '/'; /* in no name of a resource before the domain */

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

std::string fixed_type(const std::string &resource, const GresRule &rule)
{
	std::string type = rule.type;
	const auto star = type.find('*');
	if (star != std::string::npos)
		type.replace(star, 1, rest_of(resource, rule).value_or(""));
	return as_gres_type(type);
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
	const auto rule = std::find_if(table.begin(), table.end(),
		[&](const GresRule &one) { return rest_of(resource, one).has_value(); });
	return rule == table.end() ? nullptr : &*rule;
}

bool is_counted_by_kubernetes(const std::string &resource)
{
	return resource == "ephemeral-storage" || resource.starts_with("hugepages-");
}

std::string claimed_resource(const Gres &gres)
{
	return k_claimed + with_type(gres.name, gres.type);
}

bool is_claimed_resource(const std::string &resource)
{
	return resource.starts_with(k_claimed);
}

Result<std::string> gres_of_pod(const Resources &requests, const GresTable &table)
{
	Counts counts;
	for (const auto &[resource, amount] : requests.extended) {
		if (amount <= 0 || is_counted_by_kubernetes(resource))
			continue;
		if (resource.starts_with(k_claimed)) {
			counts[resource.substr(1)] += amount;
			continue;
		}
		const GresRule *rule = gres_rule(resource, table);
		if (!rule)
			return Error{Errc::invalid,
				"resource " + resource +
					": Slurm does not know it, because no rule under 'gres' in "
					"slurmkubed.yaml names it; remove the request or ask your "
					"administrator for a rule"};
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
		const std::string type = label == node.labels.end() ? fixed_type(resource, *rule)
								    : as_gres_type(label->second);
		counts[with_type(rule->name, type)] += amount;
	}
	return text_of(counts);
}

namespace
{

/* One item: "gpu:a100:4", "gpu:4" or "gpu". A suffix such as K or M, which Slurm may write after a
 * number, is ignored: no node has that many devices. */
Gres gres_from_word(const std::string &word)
{
	Gres gres{.name = "", .type = "", .count = 1, .indices = ""};
	const std::size_t first = word.find(':'), last = word.rfind(':');
	gres.name = word.substr(0, first);
	if (first == std::string::npos)
		return gres;
	const std::string tail = word.substr(last + 1);
	const bool is_number =
		std::from_chars(tail.data(), tail.data() + tail.size(), gres.count).ec ==
		std::errc();
	if (!is_number)
		gres.type = tail;
	else if (last > first)
		gres.type = word.substr(first + 1, last - first - 1);
	return gres;
}

} // namespace

std::vector<Gres> gres_from_text(const std::string &list)
{
	std::vector<Gres> out;
	std::string word;
	int depth = 0; /* of parentheses: "(S:0,2)" contains commas */
	for (const char c : list + ",") {
		depth += c == '(' ? 1 : 0;
		if (c == ',' && depth == 0 && !word.empty())
			out.push_back(gres_from_word(std::exchange(word, {})));
		else if (c != ',' && depth == 0)
			word += c;
		depth -= c == ')' && depth > 0 ? 1 : 0;
	}
	return out;
}

std::string without_places(const std::string &list)
{
	std::string out;
	bool inside = false;
	for (const char c : list) {
		inside = c == '(' || (inside && c != ')');
		if (!inside && c != ')')
			out += c;
	}
	return out;
}

std::string gres_without(const std::string &list, const std::set<std::string> &names)
{
	std::string out;
	for (std::size_t at = 0; at < list.size();) {
		const std::size_t end = std::min(list.find(',', at), list.size());
		const std::string item = list.substr(at, end - at);
		if (!names.contains(item.substr(0, item.find(':'))))
			out += (out.empty() ? "" : ",") + item;
		at = end + 1;
	}
	return out;
}

std::uint64_t gres_count(const std::vector<Gres> &list, const Gres &wanted)
{
	std::uint64_t sum = 0;
	for (const Gres &one : list) {
		if (one.name == wanted.name &&
			(wanted.type.empty() || one.type.empty() || one.type == wanted.type))
			sum += one.count;
	}
	return sum;
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

namespace
{

/* The parts of an item such as "gpu:a100:2(S:0)"; the count is 1 if there is none. */
struct GresItem {
	std::string name, type;
	std::uint64_t count = 1;
};

GresItem gres_item(std::string_view text)
{
	constexpr std::string_view k_kilo = "kmgtp";
	GresItem item;
	text = text.substr(0, text.find('('));
	const std::size_t colon = text.rfind(':');
	const std::string_view last =
		colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
	const auto [end, error] =
		std::from_chars(last.data(), last.data() + last.size(), item.count);
	const bool is_count =
		error == std::errc() && !last.empty() && last.data() + last.size() - end <= 1;
	item.count = is_count ? item.count : 1;
	if (is_count && end != last.data() + last.size()) {
		const std::size_t power = k_kilo.find(
			static_cast<char>(std::tolower(static_cast<unsigned char>(*end))));
		for (std::size_t i = 0; power != std::string_view::npos && i <= power &&
			item.count < (std::uint64_t{1} << 50);
			i++)
			item.count <<= 10;
	}
	const std::string_view rest = is_count ? text.substr(0, colon) : text;
	item.name = rest.substr(0, rest.find(':'));
	item.type = rest.find(':') == std::string_view::npos ? "" : rest.substr(rest.find(':') + 1);
	return item;
}

std::vector<GresItem> gres_items(std::string_view list)
{
	std::vector<GresItem> items;
	while (!list.empty()) {
		const std::size_t end = std::min(list.find(','), list.size());
		items.push_back(gres_item(list.substr(0, end)));
		list.remove_prefix(std::min(end + 1, list.size()));
	}
	return items;
}

} // namespace

bool has_gres(const std::string &node, const std::string &wanted)
{
	if (wanted.empty())
		return true;
	const std::vector<GresItem> there = gres_items(node);
	return std::ranges::all_of(gres_items(wanted), [&](const GresItem &item) {
		std::uint64_t count = 0;
		for (const GresItem &has : there)
			count += has.name == item.name &&
					(item.type.empty() || has.type == item.type)
				? has.count
				: 0;
		return count >= item.count;
	});
}

std::string gres_among(const std::string &wanted, const std::map<std::string, SlurmNode> &nodes)
{
	std::string out;
	for (std::size_t at = 0; at < wanted.size();) {
		const std::size_t end = std::min(wanted.find(',', at), wanted.size());
		const std::string item = wanted.substr(at, end - at),
				  name = item.substr(0, item.find(':'));
		if (std::ranges::any_of(nodes,
			    [&](const auto &entry) { return lists_gres(entry.second.gres, name); }))
			out += (out.empty() ? "" : ",") + item;
		at = end + 1;
	}
	return out;
}

} // namespace slurmkube::core
