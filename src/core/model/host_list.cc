/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/host_list.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace slurmkube::core
{

namespace
{

struct Range {
	std::uint32_t low = 0, high = 0;
	std::size_t width = 0; /* shorter numbers get leading zeros */
};

/* A text and the numbers that follow it. The last part of a name has no numbers. */
struct Part {
	std::string text;
	std::vector<Range> ranges;
};
using HostParts = std::vector<Part>;

Error not_a_list(std::string why)
{
	return Error{
		Errc::invalid, std::move(why) + "; give a host list such as node-[1-3,7],other"};
}

bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '-' || c == '_' || c == '.';
}

bool read_number(std::string_view digits, std::uint32_t &number)
{
	const auto [end, error] =
		std::from_chars(digits.data(), digits.data() + digits.size(), number);
	return digits.size() <= k_host_digits_max && error == std::errc() &&
		end == digits.data() + digits.size();
}

std::optional<Range> read_range(std::string_view text)
{
	Range range;
	const std::size_t dash = text.find('-');
	const std::string_view low = text.substr(0, dash);
	const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
	range.width = low.size();
	if (!read_number(low, range.low) || !read_number(high, range.high) ||
		range.low > range.high)
		return std::nullopt;
	return range;
}

Result<std::vector<Range>> read_ranges(std::string_view text)
{
	std::vector<Range> ranges;
	while (true) {
		const std::size_t comma = text.find(',');
		const auto range = read_range(text.substr(0, comma));
		if (!range)
			return not_a_list("'" + std::string(text.substr(0, comma)) +
				"' in brackets is not a number or a range of up to " +
				std::to_string(k_host_digits_max) + " digits");
		ranges.push_back(*range);
		if (comma == std::string_view::npos)
			return ranges;
		text.remove_prefix(comma + 1);
	}
}

Result<HostParts> read_host(std::string_view text)
{
	HostParts parts(1);
	std::size_t brackets = 0;
	for (std::size_t at = 0; at < text.size(); at++) {
		if (text[at] != '[') {
			if (!is_of_name(text[at]))
				return not_a_list("has characters that no node's name has");
			parts.back().text += text[at];
			continue;
		}
		const std::size_t end = text.find(']', at);
		if (end == std::string_view::npos || ++brackets > k_host_brackets_max)
			return not_a_list(end == std::string_view::npos
					? "has an open bracket"
					: "has more than " + std::to_string(k_host_brackets_max) +
						" pairs of brackets in a name");
		auto ranges = read_ranges(text.substr(at + 1, end - at - 1));
		if (!ranges)
			return ranges.error();
		parts.back().ranges = std::move(*ranges);
		parts.emplace_back();
		at = end;
	}
	return parts;
}

/* Position of the first comma outside of brackets, or the length of the text. */
std::size_t end_of_host(std::string_view text)
{
	bool is_inside = false;
	for (std::size_t at = 0; at < text.size(); at++) {
		is_inside = text[at] == '[' || (is_inside && text[at] != ']');
		if (text[at] == ',' && !is_inside)
			return at;
	}
	return text.size();
}

std::uint64_t count_of(const HostParts &host)
{
	std::uint64_t product = 1;
	for (const Part &part : host) {
		std::uint64_t numbers = part.ranges.empty() ? 1 : 0;
		for (const Range &range : part.ranges)
			numbers += std::uint64_t{range.high} - range.low + 1;
		product = std::min<std::uint64_t>(
			product * std::min<std::uint64_t>(numbers, k_hosts_max + 1),
			k_hosts_max + 1);
	}
	return product;
}

struct Hosts {
	std::vector<HostParts> hosts;
	std::size_t count = 0;
};

Result<Hosts> read_hosts(std::string_view text)
{
	Hosts all;
	if (text.empty() || text.size() > k_host_list_bytes_max)
		return not_a_list(
			"must have 1 to " + std::to_string(k_host_list_bytes_max) + " characters");
	for (std::size_t at = 0; at <= text.size();) {
		const std::size_t end = at + end_of_host(text.substr(at));
		auto host = read_host(text.substr(at, end - at));
		if (!host)
			return host.error();
		if (end == at)
			return not_a_list("has an empty name");
		all.count += count_of(*host);
		all.hosts.push_back(std::move(*host));
		at = end + 1;
	}
	if (all.count > k_hosts_max)
		return Error{Errc::invalid,
			"stands for more than " + std::to_string(k_hosts_max) +
				" names; give fewer, or use constraints"};
	return all;
}

std::string padded(std::uint32_t number, std::size_t width)
{
	std::string digits = std::to_string(number);
	return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
}

std::vector<std::string> names_of(const HostParts &host)
{
	std::vector<std::string> names{""};
	for (const Part &part : host) {
		std::vector<std::string> longer;
		for (const std::string &name : names) {
			for (const Range &range : part.ranges) {
				for (std::uint32_t number = range.low; number <= range.high;
					number++)
					longer.push_back(
						name + part.text + padded(number, range.width));
			}
			if (part.ranges.empty())
				longer.push_back(name + part.text);
		}
		names = std::move(longer);
	}
	return names;
}

} // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view text)
{
	const auto all = read_hosts(text);
	if (!all)
		return all.error();
	std::vector<std::string> names;
	names.reserve(all->count);
	for (const HostParts &host : all->hosts)
		std::ranges::move(names_of(host), std::back_inserter(names));
	if (std::ranges::any_of(
		    names, [](const std::string &name) { return name.size() > k_host_name_max; }))
		return not_a_list("has a name of more than " + std::to_string(k_host_name_max) +
			" characters");
	return names;
}

std::vector<std::string> split_hosts(std::string_view plain)
{
	std::vector<std::string> names;
	while (!plain.empty()) {
		const std::size_t comma = std::min(plain.find(','), plain.size());
		if (comma > 0)
			names.emplace_back(plain.substr(0, comma));
		plain.remove_prefix(std::min(comma + 1, plain.size()));
	}
	return names;
}

} // namespace slurmkube::core
