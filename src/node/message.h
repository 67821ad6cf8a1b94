/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * message.h - writes the wire format of protocol buffers. Pure. Source: protobuf.dev "Encoding".
 * src/codec/protobuf.h reads it.
 */
#ifndef SLURMKUBE_NODE_MESSAGE_H
#define SLURMKUBE_NODE_MESSAGE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace slurmkube::node
{

class Message
{
      public:
	/* A text or bytes. Empty texts are left out, as proto3 does. */
	Message &text(std::uint32_t number, std::string_view value);
	/* Negative numbers take ten bytes, as int32 and int64 do. 0 is left out. */
	Message &number(std::uint32_t number, std::int64_t value);
	/* Also if it is empty: its presence has a meaning. */
	Message &message(std::uint32_t number, const Message &value);

	[[nodiscard]] const std::string &bytes() const { return bytes_; }

      private:
	void varint(std::uint64_t value);
	void delimited(std::uint32_t number, std::string_view value);

	std::string bytes_;
};

} // namespace slurmkube::node

#endif
