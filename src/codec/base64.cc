/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/base64.h"

#include <cstdint>

namespace slurmkube::codec
{

namespace
{

int value_of(char c)
{
	constexpr std::string_view alphabet =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const std::size_t at = alphabet.find(c);
	return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

} // namespace

Result<std::string> decode_base64(std::string_view text)
{
	std::string bytes;
	std::uint32_t bits = 0;
	unsigned count = 0, padding = 0;
	for (const char c : text) {
		if (is_blank(c))
			continue;
		const int value = value_of(c);
		if (c == '=')
			padding++;
		else if (value < 0 || padding > 0)
			return Error{Errc::invalid, "not base64"};
		bits = (bits << 6) | static_cast<std::uint32_t>(value < 0 ? 0 : value);
		if (++count % 4 == 0) {
			bytes += static_cast<char>((bits >> 16) & 0xff);
			bytes += static_cast<char>((bits >> 8) & 0xff);
			bytes += static_cast<char>(bits & 0xff);
			bits = 0;
		}
	}
	if (count % 4 != 0 || padding > 2)
		return Error{Errc::invalid, "not base64: cut short"};
	bytes.resize(bytes.size() - padding);
	return bytes;
}

} // namespace slurmkube::codec
