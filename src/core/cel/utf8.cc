/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/cel/utf8.h"

#include <algorithm>

namespace slurmkube::core::cel
{

namespace
{

struct Length {
	unsigned char mask, lead;
	char32_t smallest;
};

/* by the number of bytes minus 1 */
constexpr Length k_lengths[] = {
	{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};

unsigned char byte_at(std::string_view text, std::size_t at)
{
	return static_cast<unsigned char>(text[at]);
}

} // namespace

bool is_code_point(char32_t value)
{
	return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

CodePoint first_code_point(std::string_view text)
{
	const unsigned char lead = byte_at(text, 0);
	std::size_t more = 0;
	while (more < 4 && (lead & k_lengths[more].mask) != k_lengths[more].lead)
		more++;
	if (more == 4 || text.size() <= more)
		return {};
	char32_t value = lead & static_cast<unsigned char>(~k_lengths[more].mask);
	for (std::size_t i = 1; i <= more; i++) {
		if ((byte_at(text, i) & 0xC0) != 0x80)
			return {};
		value = value << 6 | (byte_at(text, i) & 0x3FU);
	}
	if (value < k_lengths[more].smallest || !is_code_point(value))
		return {};
	return {value, more + 1, true};
}

std::size_t count_code_points(std::string_view text)
{
	std::size_t count = 0;
	for (; !text.empty(); text.remove_prefix(first_code_point(text).bytes))
		count++;
	return count;
}

bool is_utf8(std::string_view text)
{
	while (!text.empty()) {
		const CodePoint next = first_code_point(text);
		if (!next.valid)
			return false;
		text.remove_prefix(next.bytes);
	}
	return true;
}

void append_utf8(std::string &text, char32_t value)
{
	if (value < 0x80) {
		text += static_cast<char>(value);
		return;
	}
	const std::size_t more = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
	text += static_cast<char>(k_lengths[more].lead | value >> (6 * more));
	for (std::size_t i = more; i-- > 0;)
		text += static_cast<char>(0x80 | (value >> (6 * i) & 0x3F));
}

} // namespace slurmkube::core::cel
