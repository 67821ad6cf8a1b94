/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/managed_fields.h"

namespace slurmkube::codec
{

namespace
{

/* Written without blanks, as API servers do. Inside of a string the second quote would have a
 * backslash before it, so this text is always a key. */
constexpr std::string_view k_key_in_json = "\"managedFields\":[";

/* Position after the string that begins at the quote; npos: it has no end. */
std::size_t skip_string(std::string_view json, std::size_t quote)
{
	for (std::size_t at = quote + 1; at < json.size(); at++) {
		if (json[at] == '"')
			return at + 1;
		if (json[at] == '\\')
			at++;
	}
	return std::string_view::npos;
}

/* Position of the bracket that ends the array whose first element may begin at `at`; npos: there is
 * none. */
std::size_t end_of_array(std::string_view json, std::size_t at)
{
	std::size_t open = 0;
	while (at < json.size()) {
		switch (json[at]) {
		case '"':
			at = skip_string(json, at);
			continue;
		case '[':
			open++;
			break;
		case ']':
			if (open == 0)
				return at;
			open--;
			break;
		default:
			break;
		}
		at++;
	}
	return std::string_view::npos;
}

} // namespace

std::string without_managed_fields(std::string_view json)
{
	std::string out;
	out.reserve(json.size());
	std::size_t done = 0;
	for (std::size_t key; (key = json.find(k_key_in_json, done)) != std::string_view::npos;) {
		const std::size_t elements = key + k_key_in_json.size(),
				  end = end_of_array(json, elements);
		if (end == std::string_view::npos)
			break;
		out += json.substr(done, elements - done);
		done = end;
	}
	out += json.substr(done);
	return out;
}

} // namespace slurmkube::codec
