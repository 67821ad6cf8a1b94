/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/reconcile/topology_lines.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>

namespace slurmkube::core
{

namespace
{

constexpr std::string_view k_switch_name_characters =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
/* The switch for nodes of a switch that has switches too, because topology/tree allows only one of
 * both. No unit has this key. */
constexpr char k_rest_key[] = ",";
constexpr char k_rest_suffix[] = "-other";
/* slurmctld does not start with names of more than 64 characters (24.11, _parse_switches() in
 * switch_record.c) or more than 20 levels ("not a tree"). */
constexpr std::size_t k_name_most = 48, k_levels_most = 10, k_switches_most = 1000;

std::vector<std::string> split(std::string_view text, char by)
{
	std::vector<std::string> parts;
	for (std::size_t at = 0; at < text.size();) {
		const std::size_t end = std::min(text.find(by, at), text.size());
		if (end > at)
			parts.emplace_back(text.substr(at, end - at));
		at = end + 1;
	}
	return parts;
}

/* Blocks are no tree. */
std::vector<std::string> units_of(const std::string &spec)
{
	for (const std::string &topology : split(spec, ',')) {
		std::vector<std::string> parts = split(topology, ':');
		if (parts.size() < 2 || parts.front().find("block") != std::string::npos)
			continue;
		parts.erase(parts.begin());
		return parts;
	}
	return {};
}

struct Switch {
	std::map<std::string, std::unique_ptr<Switch>> below;
	std::vector<std::string> nodes;
	std::string name; /* in Slurm */
};

std::string valid(std::string name)
{
	for (char &c : name)
		c = k_switch_name_characters.find(c) == std::string_view::npos ? '_' : c;
	return name;
}

using Walk = std::function<void(Switch &, const std::string &own, const std::string &path)>;

void for_each_below(Switch &from, const std::string &path, const Walk &visit)
{
	for (auto &[own, one] : from.below) {
		const std::string longer = path.empty() ? own : path + "-" + own;
		visit(*one, own, longer);
		for_each_below(*one, longer, visit);
	}
}

/* A name with that beginning which is not used yet. */
std::string unused(const std::string &name, const std::string &suffix, std::set<std::string> &used)
{
	const std::string first = name.substr(0, k_name_most) + suffix;
	std::string one = first;
	for (std::size_t number = 2; !used.insert(one).second; number++)
		one = first + "-" + std::to_string(number);
	return one;
}

void give_names(Switch &root, const std::string &name)
{
	std::map<std::string, std::size_t> count;
	for_each_below(root, "", [&](Switch &, const std::string &own, const std::string &) {
		count[valid(own)]++;
	});
	std::set<std::string> used;
	root.name = unused(name, "", used);
	for_each_below(root, "", [&](Switch &one, const std::string &own, const std::string &path) {
		one.name = unused(name + "-" + valid(count[valid(own)] > 1 ? path : own), "", used);
	});
	const auto split_off = [&](Switch &one) {
		if (one.nodes.empty() || one.below.empty())
			return;
		auto rest = std::make_unique<Switch>();
		rest->name = unused(one.name, k_rest_suffix, used);
		rest->nodes = std::move(one.nodes);
		one.nodes.clear();
		one.below[k_rest_key] = std::move(rest);
	};
	std::vector<Switch *> all{&root};
	for_each_below(root, "", [&](Switch &one, const std::string &, const std::string &) {
		all.push_back(&one);
	});
	for (Switch *one : all)
		split_off(*one);
}

std::string joined(const std::vector<std::string> &names)
{
	std::string text;
	for (const std::string &name : names)
		text += (text.empty() ? "" : ",") + name;
	return text;
}

std::string line_of(const Switch &one)
{
	std::vector<std::string> below;
	for (const auto &[own, next] : one.below)
		below.push_back(next->name);
	return "SwitchName=" + one.name +
		(below.empty() ? " Nodes=" + joined(one.nodes) : " Switches=" + joined(below));
}

/* Switches before those that contain them: slurmctld needs one pass for each level otherwise. */
void append_lines(const Switch &one, std::vector<std::string> &lines)
{
	for (const auto &[own, next] : one.below)
		append_lines(*next, lines);
	lines.push_back(line_of(one));
}

} // namespace

std::vector<std::string> switches_of(
	const PlacedNode &node, const std::vector<std::string> &label_keys)
{
	std::vector<std::string> path = units_of(node.spec);
	path.resize(std::min(path.size(), k_levels_most));
	if (!path.empty())
		return path;
	for (const std::string &key : label_keys) {
		if (path.size() == k_levels_most)
			break;
		const auto label = node.labels.find(key);
		if (label != node.labels.end() && !label->second.empty())
			path.push_back(label->second);
	}
	return path;
}

Result<std::vector<std::string>> topology_lines(const std::vector<PlacedNode> &nodes,
	const std::vector<std::string> &label_keys, const std::string &root)
{
	Switch top;
	for (const PlacedNode &node : nodes) {
		Switch *at = &top;
		for (const std::string &unit : switches_of(node, label_keys)) {
			auto &next = at->below[unit];
			if (!next)
				next = std::make_unique<Switch>();
			at = next.get();
		}
		at->nodes.push_back(node.name);
	}
	if (nodes.empty())
		return std::vector<std::string>{};
	give_names(top, valid(root));
	std::vector<std::string> lines;
	append_lines(top, lines);
	if (lines.size() > k_switches_most)
		return Error{Errc::too_large,
			std::to_string(lines.size()) +
				" switches are too many for slurmctld, whose start takes time with "
				"the third power of their number; the most is " +
				std::to_string(k_switches_most) +
				". Name fewer labels (--topology-labels), without the innermost"};
	return lines;
}

} // namespace slurmkube::core
