/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/index_list.h"

#include <algorithm>
#include <charconv>

namespace slurmkube::core
{

namespace
{

constexpr std::uint32_t k_indices_most = 1024; /* MAX_GRES_BITMAP in src/common/gres.h */

std::optional<std::uint32_t> number_of(std::string_view text)
{
	std::uint32_t number = 0;
	const char *end = text.data() + text.size();
	const auto done = std::from_chars(text.data(), end, number);
	return done.ec == std::errc() && done.ptr == end && number < k_indices_most
		? std::optional(number)
		: std::nullopt;
}

} // namespace

std::optional<std::vector<std::uint32_t>> indices_of(std::string_view text)
{
	std::vector<std::uint32_t> out;
	while (!text.empty()) {
		const std::size_t comma = std::min(text.find(','), text.size());
		const std::string_view part = text.substr(0, comma);
		const std::size_t dash = std::min(part.find('-'), part.size());
		const auto first = number_of(part.substr(0, dash)),
			   last = dash < part.size() ? number_of(part.substr(dash + 1)) : first;
		if (!first || !last || *last < *first || (!out.empty() && *first <= out.back()))
			return std::nullopt;
		for (std::uint32_t index = *first; index <= *last; index++)
			out.push_back(index);
		text.remove_prefix(std::min(comma + 1, text.size()));
	}
	return out;
}

} // namespace slurmkube::core
