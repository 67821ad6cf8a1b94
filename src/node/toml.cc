/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/toml.h"

#include <algorithm>
#include <iterator>

namespace slurmkube::node
{

namespace
{

std::string_view trimmed(std::string_view text)
{
	const std::size_t first = text.find_first_not_of(" \t\r\n");
	if (first == std::string_view::npos)
		return {};
	return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/* Calls visit(position, character) outside quotation marks until it returns false. */
template <class Visit> void each_unquoted(std::string_view text, Visit visit)
{
	char quote = 0;
	for (std::size_t i = 0; i < text.size(); i++) {
		const char c = text[i];
		if (quote != 0) {
			i += c == '\\' && quote == '"' ? 1 : 0;
			quote = c == quote ? '\0' : quote;
		} else if (c == '"' || c == '\'')
			quote = c;
		else if (!visit(i, c))
			return;
	}
}

std::size_t find_unquoted(std::string_view text, char wanted)
{
	std::size_t found = std::string_view::npos;
	each_unquoted(text, [&](std::size_t i, char c) {
		found = c == wanted ? i : found;
		return c != wanted;
	});
	return found;
}

/* How many brackets are not closed yet: an array may go on in the next line. */
int open_brackets(std::string_view value)
{
	int open = 0;
	each_unquoted(value, [&](std::size_t, char c) {
		open += (c == '[') - (c == ']');
		return true;
	});
	return open;
}

std::string without_quotes(std::string_view name)
{
	name = trimmed(name);
	const bool has = name.size() >= 2 && (name[0] == '"' || name[0] == '\'');
	return std::string(has ? name.substr(1, name.size() - 2) : name);
}

/* a."b.c" -> a, b.c */
TomlPath names_in(std::string_view dotted)
{
	TomlPath names;
	for (;;) {
		const std::size_t dot = find_unquoted(dotted, '.');
		names.push_back(without_quotes(dotted.substr(0, dot)));
		if (dot == std::string_view::npos)
			return names;
		dotted.remove_prefix(dot + 1);
	}
}

std::string_view take_line(std::string_view &text)
{
	const std::size_t end = text.find('\n');
	const std::string_view line = text.substr(0, end);
	text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
	return trimmed(line.substr(0, find_unquoted(line, '#')));
}

} // namespace

Toml parse_toml(std::string_view text)
{
	Toml values;
	TomlPath table;
	while (!text.empty()) {
		const std::string_view line = take_line(text);
		const std::size_t equals = find_unquoted(line, '=');
		if (line.starts_with('[') && line.ends_with(']'))
			table = names_in(line.substr(1, line.size() - 2));
		if (line.starts_with('[') || equals == std::string_view::npos)
			continue;
		std::string value(trimmed(line.substr(equals + 1)));
		while (open_brackets(value) > 0 && !text.empty())
			value += take_line(text);
		TomlPath path = table;
		std::ranges::copy(names_in(line.substr(0, equals)), std::back_inserter(path));
		values[path] = value;
	}
	return values;
}

std::string value_of(const Toml &toml, const TomlPath &path)
{
	const auto found = toml.find(path);
	return found == toml.end() ? std::string() : without_quotes(found->second);
}

bool has_string(const Toml &toml, const TomlPath &path, const std::string &wanted)
{
	const std::string array = value_of(toml, path);
	return array.find("'" + wanted + "'") != std::string::npos ||
		array.find('"' + wanted + '"') != std::string::npos;
}

} // namespace slurmkube::node
