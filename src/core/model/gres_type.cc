/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/gres_type.h"

#include <cctype>

namespace slurmkube::core
{

std::string as_gres_type(const std::string &text)
{
	std::string out;
	for (const char c : text) {
		const int byte = static_cast<unsigned char>(c);
		out += std::isalnum(byte) || c == '-' || c == '_' || c == '.'
			? static_cast<char>(std::tolower(byte))
			: '_';
	}
	return out;
}

} // namespace slurmkube::core
