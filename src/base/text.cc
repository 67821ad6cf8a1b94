/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/text.h"

#include <algorithm>

namespace slurmkube
{

namespace
{

struct Lead {
	unsigned char first, last; /* of the sequence's first byte */
	std::size_t size;
	unsigned char second_least, second_most; /* no overlong form, no surrogate, no code point
						  * above U+10FFFF */
};

/* Table 3-7 of the Unicode standard */
constexpr Lead k_leads[] = {{0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
	{0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
	{0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f}};

/* The bytes of the character at the beginning; 0: it is not UTF-8. */
std::size_t character_size(const unsigned char *text, std::size_t size)
{
	if (text[0] < 0x80)
		return 1;
	const auto *lead = std::ranges::find_if(
		k_leads, [&](const Lead &l) { return text[0] >= l.first && text[0] <= l.last; });
	if (lead == std::end(k_leads) || size < lead->size || text[1] < lead->second_least ||
		text[1] > lead->second_most)
		return 0;
	const bool is_whole = std::all_of(text + 2, text + lead->size,
		[](unsigned char byte) { return (byte & 0xc0) == 0x80; });
	return is_whole ? lead->size : 0;
}

bool is_control(const unsigned char *text, std::size_t size)
{
	const bool is_c1 = size == 2 && text[0] == 0xc2 && text[1] < 0xa0;
	return is_c1 || (size == 1 && (text[0] < 0x20 || text[0] == 0x7f));
}

} // namespace

void make_printable(char *text, std::size_t size)
{
	for (std::size_t i = 0; i < size;) {
		const auto *at = reinterpret_cast<const unsigned char *>(text + i);
		const std::size_t bytes = character_size(at, size - i);
		if (bytes == 0 || is_control(at, bytes))
			std::fill_n(text + i, std::max<std::size_t>(bytes, 1), '?');
		i += std::max<std::size_t>(bytes, 1);
	}
}

std::string printable(std::string text)
{
	make_printable(text.data(), text.size());
	return text;
}

} // namespace slurmkube
