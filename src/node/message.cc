/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/message.h"

#include "src/codec/protobuf.h"

namespace slurmkube::node
{

using codec::WireType;

Message &Message::text(std::uint32_t number, std::string_view value)
{
	if (!value.empty())
		delimited(number, value);
	return *this;
}

Message &Message::number(std::uint32_t number, std::int64_t value)
{
	if (value == 0)
		return *this;
	varint(number << 3 | static_cast<std::uint32_t>(WireType::varint));
	varint(static_cast<std::uint64_t>(value));
	return *this;
}

Message &Message::message(std::uint32_t number, const Message &value)
{
	delimited(number, value.bytes());
	return *this;
}

void Message::delimited(std::uint32_t number, std::string_view value)
{
	varint(number << 3 | static_cast<std::uint32_t>(WireType::bytes));
	varint(value.size());
	bytes_.append(value);
}

void Message::varint(std::uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		bytes_.push_back(static_cast<char>(0x80 | (value & 0x7f)));
	bytes_.push_back(static_cast<char>(value));
}

} // namespace slurmkube::node
