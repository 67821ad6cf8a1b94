/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/list_page.h"

#include <algorithm>

namespace slurmkube::codec
{

namespace
{

constexpr std::size_t k_head_most = 8192; /* tokens have some 200 bytes */

} // namespace

std::string next_page_of(std::string_view list)
{
	constexpr std::string_view key = "\"continue\":\"";
	const std::string_view head = list.substr(0, std::min(list.substr(0, k_head_most).find("\"items\":["), k_head_most));
	const std::size_t at = head.find(key);
	if (head.size() == std::min(list.size(), k_head_most) || at == std::string_view::npos)
		return {};
	const std::string_view rest = head.substr(at + key.size());
	const std::size_t end = rest.find_first_of("\"\\");
	return end == std::string_view::npos || rest[end] == '\\' ? std::string() : std::string(rest.substr(0, end));
}

} // namespace slurmkube::codec
