/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * utf8.h - code points of UTF-8, as Go counts them: each wrong byte is one code point U+FFFD.
 */
#ifndef SLURMKUBE_CORE_CEL_UTF8_H
#define SLURMKUBE_CORE_CEL_UTF8_H

#include <cstddef>
#include <string>
#include <string_view>

namespace slurmkube::core::cel
{

struct CodePoint {
	char32_t value = 0xFFFD;
	std::size_t bytes = 1;
	bool valid = false;
};

/* The first code point of a text that is not empty. */
CodePoint first_code_point(std::string_view text);
std::size_t count_code_points(std::string_view text);
bool is_utf8(std::string_view text);

/* Not a surrogate, and within Unicode. */
bool is_code_point(char32_t value);
void append_utf8(std::string &text, char32_t value);

} // namespace slurmkube::core::cel

#endif
