/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of devices in `extra` of a Slurm node. */
#include "src/core/device/inventory.h"

#include <algorithm>
#include <string_view>

namespace slurmkube::core
{

namespace
{

constexpr std::string_view k_word_start = "slurm-kube:";

/* Where our word stands; a length of 0: there is none. */
struct Span {
	std::size_t at = 0, length = 0;
};

Span place_of_word(std::string_view extra)
{
	for (std::size_t at = 0; at < extra.size();) {
		const std::size_t end = std::min(extra.find(' ', at), extra.size());
		if (extra.substr(at, end - at).starts_with(k_word_start))
			return {at, end - at};
		at = end + 1;
	}
	return {extra.size(), 0};
}

std::vector<std::string_view> split(std::string_view text, char at)
{
	std::vector<std::string_view> parts;
	while (!text.empty()) {
		const std::size_t end = std::min(text.find(at), text.size());
		parts.push_back(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	return parts;
}

std::string key_of(const DeviceRule &rule)
{
	return rule.gres + "@" + rule.driver;
}

/* What stands for the rule after "=". */
std::string_view list_text(std::string_view extra, const DeviceRule &rule)
{
	const Span place = place_of_word(extra);
	if (place.length == 0)
		return {};
	const std::string start = key_of(rule) + "=";
	for (const std::string_view part : split(extra.substr(place.at + k_word_start.size(),
							 place.length - k_word_start.size()),
		     ';')) {
		if (part.starts_with(start))
			return part.substr(start.size());
	}
	return {};
}

std::string text_of(const DeviceList &list, const std::string &node)
{
	std::string out;
	for (const ListedDevice &device : list.devices)
		out += (out.empty() ? "" : ",") +
			(device.id.pool.name == node ? "" : device.id.pool.name + "/") +
			device.id.name;
	return out;
}

} // namespace

std::string frozen_text(const std::string &extra, const DeviceRules &rules,
	const std::vector<DeviceList> &lists, const std::string &node)
{
	std::string word;
	for (std::size_t i = 0; i < rules.size() && i < lists.size(); i++) {
		const std::string text = lists[i].trouble.empty()
			? text_of(lists[i], node)
			: std::string(list_text(extra, rules[i]));
		if (!text.empty())
			word += (word.empty() ? std::string(k_word_start) : ";") +
				key_of(rules[i]) + "=" + text;
	}
	Span place = place_of_word(extra);
	std::string out = extra;
	if (place.length == 0 && !word.empty())
		return out + (out.empty() ? "" : " ") + word;
	if (word.empty() && place.length > 0) { /* and one of the blanks around it */
		if (place.at > 0)
			place = {place.at - 1, place.length + 1};
		else if (place.length < out.size())
			place.length++;
	}
	return out.replace(place.at, place.length, word);
}

std::vector<DeviceId> frozen_devices(
	const std::string &extra, const DeviceRule &rule, const std::string &node)
{
	std::vector<DeviceId> devices;
	for (const std::string_view part : split(list_text(extra, rule), ',')) {
		const std::size_t slash = part.rfind('/');
		const bool has_pool = slash != std::string_view::npos;
		devices.push_back(
			{{rule.driver, has_pool ? std::string(part.substr(0, slash)) : node},
				std::string(has_pool ? part.substr(slash + 1) : part)});
	}
	return devices;
}

} // namespace slurmkube::core
