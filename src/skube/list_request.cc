/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/list_request.h"

#include <algorithm>
#include <cctype>
#include <pwd.h>
#include <vector>

namespace slurmkube::skube
{

namespace
{

bool is_number(const std::string &text)
{
	return !text.empty() &&
		std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

Result<std::string> user_number(const std::string &name)
{
	if (is_number(name))
		return name;
	std::vector<char> buffer(16384);
	passwd entry{}, *found = nullptr;
	if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
		return Error{Errc::invalid,
			"--user: this host has no user '" + name + "'; a number is accepted, too"};
	return std::to_string(found->pw_uid);
}

Result<std::string> user_numbers(const std::string &list)
{
	std::string numbers;
	for (std::size_t start = 0; start <= list.size() && !list.empty();) {
		const std::size_t end = std::min(list.find(',', start), list.size());
		const auto number = user_number(list.substr(start, end - start));
		if (!number)
			return number.error();
		numbers += (start ? "," : "") + *number;
		start = end + 1;
	}
	return numbers;
}

} // namespace

Result<Format> format_of(const Options &options, bool data_only)
{
	constexpr std::pair<const char *, Format> known[] = {{"wide", Format::wide},
		{"name", Format::name}, {"json", Format::json}, {"yaml", Format::yaml}};
	if (options.json && !options.output.empty() && options.output != "json")
		return Error{
			Errc::invalid, "--json and -o " + options.output + " exclude each other"};
	if (options.json)
		return Format::json;
	if (options.output.empty())
		return Format::table;
	for (const auto &[word, format] : known) {
		if (options.output == word && (!data_only || format >= Format::json))
			return format;
	}
	return Error{Errc::invalid,
		"no output format '" + options.output + "' here; there are " +
			(data_only ? "" : "wide, name, ") + "json and yaml"};
}

Result<core::SelectionText> selection_of(const List &list, const Options &options)
{
	if (options.all_namespaces && !options.select.namespaces.empty())
		return Error{Errc::invalid, "--namespace and --all-namespaces exclude each other"};
	core::SelectionText text = options.select;
	const auto numbers = user_numbers(text.users);
	if (!numbers)
		return numbers.error();
	text.users = *numbers;
	const auto selection = core::parse_selection(list.kind, text);
	if (!selection)
		return selection.error();
	return text;
}

codec::Json select_member(const core::SelectionText &text)
{
	if (text == core::SelectionText{})
		return nullptr;
	codec::Json select = codec::new_object();
	for (const auto &[key, value] : {std::pair("namespaces", &text.namespaces),
		     std::pair("labels", &text.labels), std::pair("states", &text.states),
		     std::pair("users", &text.users), std::pair("nodes", &text.nodes)}) {
		if (!value->empty())
			codec::put(select.get(), key, *value);
	}
	if (text.active)
		codec::put(select.get(), "active", true);
	return select;
}

} // namespace slurmkube::skube
