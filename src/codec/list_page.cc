/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/list_page.h"

#include "src/codec/protobuf.h"

#include <algorithm>

namespace slurmkube::codec
{

namespace
{

constexpr std::size_t k_head_most = 8192; /* bytes; a token has about 200 */

/* field numbers of a list and of metav1.ListMeta */
constexpr std::uint32_t k_metadata = 1, k_continue = 3;

/* The field with that number. Fields are sorted by number, so the search ends at a higher one. */
std::string_view field_of(std::string_view message, std::uint32_t number)
{
	WireReader reader(message);
	for (WireField field; reader.next(field) && field.number <= number;) {
		if (field.number == number)
			return field.bytes;
	}
	return {};
}

std::string next_in_protobuf(std::string_view list)
{
	const auto envelope = open_envelope(list);
	return envelope ? std::string(field_of(field_of(envelope->raw, k_metadata), k_continue))
			: std::string();
}

} // namespace

std::string next_page_of(std::string_view list)
{
	if (is_enveloped(list))
		return next_in_protobuf(list);
	constexpr std::string_view key = "\"continue\":\"";
	const std::string_view head = list.substr(
		0, std::min(list.substr(0, k_head_most).find("\"items\":["), k_head_most));
	const std::size_t at = head.find(key);
	if (head.size() == std::min(list.size(), k_head_most) || at == std::string_view::npos)
		return {};
	const std::string_view rest = head.substr(at + key.size());
	const std::size_t end = rest.find_first_of("\"\\");
	return end == std::string_view::npos || rest[end] == '\\'
		? std::string()
		: std::string(rest.substr(0, end));
}

} // namespace slurmkube::codec
