/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/source.h"

#include "src/core/cel/utf8.h"

#include <algorithm>

namespace slurmkube::core::cel
{

namespace
{

constexpr std::size_t k_quoted = 40;

/* Ends where a code point ends, so that the error is UTF-8 if the text is. */
std::string_view excerpt(std::string_view text)
{
	std::size_t end = 0;
	while (end < text.size() && end < k_quoted && text[end] != '\n')
		end += first_code_point(text.substr(end)).bytes;
	return text.substr(0, end);
}

std::string place(std::string_view text, std::size_t at)
{
	at = std::min(at, text.size());
	const std::string where =
		"character " + std::to_string(count_code_points(text.substr(0, at)) + 1);
	if (at == text.size())
		return where + ", the end of the selector";
	return where + ", '" + std::string(excerpt(text.substr(at))) + "'";
}

} // namespace

Error Source::wrong(std::size_t at, const std::string &why) const
{
	return {Errc::invalid, "wrong CEL selector at " + place(text, at) + ": " + why};
}

Error Source::not_understood(std::size_t at, const std::string &what) const
{
	return {Errc::invalid,
		"not understood in a CEL selector at " + place(text, at) + ": " + what +
			"; write the selector without it"};
}

Error Source::refuse(std::size_t at, const Refusal &refusal) const
{
	return refusal.is_wrong ? wrong(at, refusal.what) : not_understood(at, refusal.what);
}

} // namespace slurmkube::core::cel
