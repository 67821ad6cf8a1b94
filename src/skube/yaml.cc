/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/yaml.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace slurmkube::skube
{

namespace
{

bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_plain_character(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
		c == '/';
}

/* Words that some version of YAML reads as a truth value or as null, in any case. */
bool is_reserved(std::string_view text)
{
	constexpr std::array<std::string_view, 9> words = {
		"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
	std::string lower(text);
	std::ranges::transform(lower, lower.begin(),
		[](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
	return std::ranges::find(words, lower) != words.end();
}

bool is_plain(std::string_view text)
{
	return !text.empty() && is_letter(text.front()) &&
		std::ranges::all_of(text, is_plain_character) && !is_reserved(text);
}

std::string as_json(json_object *value)
{
	return json_object_to_json_string_ext(
		value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

std::string string_text(std::string_view text)
{
	if (is_plain(text))
		return std::string(text);
	json_object *value = json_object_new_string_len(text.data(), static_cast<int>(text.size()));
	std::string quoted = as_json(value);
	json_object_put(value);
	return quoted;
}

std::string scalar_text(json_object *value)
{
	if (json_object_is_type(value, json_type_string))
		return string_text({json_object_get_string(value),
			static_cast<std::size_t>(json_object_get_string_len(value))});
	return as_json(value); /* numbers, truth values, null, and empty collections */
}

bool is_block(json_object *value)
{
	return (json_object_is_type(value, json_type_object) && json_object_object_length(value)) ||
		(json_object_is_type(value, json_type_array) && json_object_array_length(value));
}

void add_block(std::string &out, json_object *value, std::size_t indent, bool in_line);

/* in_line: what comes first continues the line, behind "- ". */
void add_members(std::string &out, json_object *object, std::size_t indent, bool in_line)
{
	json_object_object_foreach(object, key, value)
	{
		out += (in_line ? "" : std::string(indent, ' ')) + string_text(key) + ":";
		in_line = false;
		if (!is_block(value)) {
			out += " " + scalar_text(value) + "\n";
			continue;
		}
		out += "\n";
		add_block(out, value,
			indent + (json_object_is_type(value, json_type_array) ? 0 : 2), false);
	}
}

void add_items(std::string &out, json_object *array, std::size_t indent, bool in_line)
{
	for (std::size_t i = 0; i < json_object_array_length(array); i++) {
		json_object *item = json_object_array_get_idx(array, i);
		out += (in_line ? "" : std::string(indent, ' ')) + "- ";
		in_line = false;
		if (is_block(item))
			add_block(out, item, indent + 2, true);
		else
			out += scalar_text(item) + "\n";
	}
}

void add_block(std::string &out, json_object *value, std::size_t indent, bool in_line)
{
	if (json_object_is_type(value, json_type_object))
		add_members(out, value, indent, in_line);
	else
		add_items(out, value, indent, in_line);
}

} // namespace

std::string json_text(json_object *value)
{
	return std::string(json_object_to_json_string_ext(
		       value, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE)) +
		"\n";
}

std::string yaml_text(json_object *value)
{
	std::string out;
	if (is_block(value))
		add_block(out, value, 0, false);
	else
		out = scalar_text(value) + "\n";
	return out;
}

} // namespace slurmkube::skube
