/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/text.h"

namespace slurmkube
{

void make_printable(char *text, std::size_t size)
{
	for (std::size_t i = 0; i < size; i++) {
		const auto byte = static_cast<unsigned char>(text[i]);
		const bool is_c1 = byte >= 0x80 && byte < 0xa0 && i > 0 &&
			static_cast<unsigned char>(text[i - 1]) == 0xc2;
		if (byte < 0x20 || byte == 0x7f)
			text[i] = '?';
		else if (is_c1)
			text[i - 1] = text[i] = '?';
	}
}

std::string printable(std::string text)
{
	make_printable(text.data(), text.size());
	return text;
}

} // namespace slurmkube
