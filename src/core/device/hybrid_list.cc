/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/hybrid_list.h"

#include "src/core/model/gres_type.h"
#include "src/core/model/index_list.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace slurmkube::core
{

namespace
{

using TypeCounts = std::map<std::string, std::uint64_t>; /* by type; empty: without */

/* What is before the number in the last part of a name: nothing, or a word that is no beginning of
 * a hexadecimal number. */
bool is_word(const std::string &text)
{
	const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
	const auto is_digit = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'f'; };
	return text.empty() ||
		(std::ranges::all_of(text, is_letter) && !std::ranges::all_of(text, is_digit));
}

/* nullopt: it ends with no number, or with one that is no index. "gpu-01" is not gpu-1. */
std::optional<std::uint32_t> number_of(const std::string &name)
{
	const std::size_t separator = name.find_last_of("-_");
	const std::string part = separator == std::string::npos ? name : name.substr(separator + 1);
	const std::size_t last = part.find_last_not_of("0123456789");
	const std::string digits = last == std::string::npos ? part : part.substr(last + 1);
	if (!is_word(part.substr(0, part.size() - digits.size())))
		return std::nullopt;
	std::uint32_t number = 0;
	const auto [end, error] =
		std::from_chars(digits.data(), digits.data() + digits.size(), number);
	if (error != std::errc() || end != digits.data() + digits.size() ||
		digits != std::to_string(number))
		return std::nullopt;
	return number;
}

/* A rule without types does not tell the types of Slurm apart. */
TypeCounts counts_in_slurm(const DeviceRule &rule, const std::vector<Gres> &gres)
{
	TypeCounts counts;
	for (const Gres &one : gres) {
		if (one.name == rule.gres && one.count > 0)
			counts[rule.type_attribute.empty() ? "" : one.type] += one.count;
	}
	return counts;
}

TypeCounts counts_of(const DeviceList &list)
{
	TypeCounts counts;
	for (const ListedDevice &one : list.devices)
		counts[one.type]++;
	return counts;
}

/* "gpu:a100:4,gpu:h100:2" */
std::string text_of(const std::string &name, const TypeCounts &counts)
{
	std::string out;
	for (const auto &[type, count] : counts)
		out += (out.empty() ? "" : ",") + name + (type.empty() ? "" : ":" + type) + ":" +
			std::to_string(count);
	return out.empty() ? "no " + name : out;
}

bool is_without_indices(const Gres &one)
{
	return one.type == "no_consume" || one.type.ends_with(":no_consume");
}

/* What else there is to say if the types differ. */
std::string hint_on_types(const DeviceRule &rule, const TypeCounts &given)
{
	const bool is_other = std::ranges::any_of(
		given, [](const auto &one) { return one.first != as_gres_type(one.first); });
	if (is_other)
		return "; types in gres.conf and slurm.conf must be in small letters, as "
		       "slurm-kube asks for them";
	return rule.type_attribute.empty() || given.empty()
		? ""
		: "; types in Slurm must be the driver's";
}

DeviceList troubled(std::string why)
{
	return {.devices = {}, .trouble = std::move(why)};
}

} // namespace

DeviceList hybrid_list(
	const DeviceRule &rule, const DeviceList &found, const std::vector<Gres> &gres)
{
	if (rule.is_cores) /* slurmkube-node confines the pods of hybrid nodes */
		return {};
	if (!found.trouble.empty())
		return found;
	for (const Gres &one : gres)
		if (one.name == rule.gres && is_without_indices(one))
			return troubled("Slurm gives no indices of " + rule.gres +
				", because Gres of the node has no_consume");
	const TypeCounts published = counts_of(found), given = counts_in_slurm(rule, gres);
	if (published != given)
		return troubled("driver " + rule.driver + " publishes " +
			text_of(rule.gres, published) + ", and Slurm has " +
			text_of(rule.gres, given) + hint_on_types(rule, given));
	if (rule.order != DeviceOrder::number && !found.devices.empty())
		return troubled("the order of driver " + rule.driver +
			" is not 'number', and on a hybrid node only a number in the name of a "
			"device can say its index");
	DeviceList out;
	out.devices.resize(found.devices.size());
	for (const ListedDevice &one : found.devices) {
		const auto number = number_of(one.id.name);
		if (!number || *number >= out.devices.size())
			return troubled("device " + one.id.name + " of driver " + rule.driver +
				" has no number from 0 to " +
				std::to_string(out.devices.size() - 1) +
				" at the end of its name, which would be its index in Slurm");
		if (!out.devices[*number].id.name.empty())
			return troubled("devices " + out.devices[*number].id.name + " and " +
				one.id.name + " of driver " + rule.driver +
				" have the same number at the end of their names");
		out.devices[*number] = one;
	}
	return out;
}

std::vector<DeviceList> hybrid_lists(const DeviceRules &rules, const std::vector<DeviceList> &found,
	const std::vector<Gres> &gres)
{
	std::vector<DeviceList> out;
	for (std::size_t i = 0; i < rules.size() && i < found.size(); i++)
		out.push_back(hybrid_list(rules[i], found[i], gres));
	return out;
}

namespace
{

Status has_types_of(
	const Gres &given, const DeviceRule &rule, const DeviceList &list, const std::string &node)
{
	const auto indices = indices_of(given.indices);
	if (!indices || given.type.empty())
		return Ok{};
	for (const std::uint32_t index : *indices) {
		if (index < list.devices.size() && list.devices[index].type != given.type)
			return Error{Errc::invalid,
				"Slurm gave index " + std::to_string(index) + " of GRES " +
					given.name + ":" + given.type + " on node " + node +
					", and device " + list.devices[index].id.name +
					" of driver " + rule.driver + " is of type " +
					list.devices[index].type +
					": gres.conf needs the files in the order of the numbers"};
	}
	return Ok{};
}

} // namespace

Status have_types_of(
	const NodeAllocation &slot, const DeviceRules &rules, const std::vector<DeviceList> &lists)
{
	for (const Gres &given : slot.gres) {
		for (std::size_t i = 0; i < rules.size() && i < lists.size(); i++) {
			if (rules[i].gres != given.name || rules[i].type_attribute.empty())
				continue;
			if (const Status same = has_types_of(given, rules[i], lists[i], slot.node);
				!same)
				return same;
		}
	}
	return Ok{};
}

} // namespace slurmkube::core
