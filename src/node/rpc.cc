/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/rpc.h"

#include "src/codec/protobuf.h"
#include "src/node/message.h"

namespace slurmkube::node
{

namespace
{

constexpr std::size_t k_frame_header = 8, k_rpc_header = 10;
constexpr std::int64_t k_grpc_unknown = 2;

void put_be32(std::string &out, std::uint32_t value)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		out.push_back(static_cast<char>(value >> shift & 0xff));
}

std::uint32_t be32(std::string_view bytes)
{
	std::uint32_t value = 0;
	for (std::size_t i = 0; i < 4; i++)
		value = value << 8 | static_cast<unsigned char>(bytes[i]);
	return value;
}

std::string frame(std::uint32_t connection, std::string_view bytes)
{
	std::string out;
	put_be32(out, connection);
	put_be32(out, static_cast<std::uint32_t>(bytes.size()));
	return out.append(bytes);
}

Error too_long(std::size_t size)
{
	return {Errc::too_large,
		"a message of " + std::to_string(size) + " bytes; the limit is " +
			std::to_string(k_rpc_message_max)};
}

} // namespace

std::string rpc_frames(const RpcMessage &message)
{
	std::string header;
	put_be32(header, static_cast<std::uint32_t>(message.body.size()));
	put_be32(header, message.stream);
	header.push_back(static_cast<char>(message.type));
	header.push_back('\0');
	std::string out = frame(message.connection, header);
	if (!message.body.empty())
		out += frame(message.connection, message.body);
	return out;
}

/* Moves one frame from the trunk to its connection. */
Result<bool> RpcReader::next_frame()
{
	if (trunk_.size() < k_frame_header)
		return false;
	const std::uint32_t connection = be32(trunk_);
	const std::size_t size = be32(std::string_view(trunk_).substr(4));
	if (size > k_rpc_header + k_rpc_message_max)
		return too_long(size);
	if (connection == 0 || connection > streams_.size())
		return Error{Errc::invalid, "a frame for connection " + std::to_string(connection)};
	if (trunk_.size() < k_frame_header + size)
		return false;
	streams_[connection - 1].append(trunk_, k_frame_header, size);
	trunk_.erase(0, k_frame_header + size);
	return true;
}

/* Takes a complete message off the stream. */
Result<bool> RpcReader::take(std::uint32_t connection, std::string &stream, RpcMessage &message)
{
	if (stream.size() < k_rpc_header)
		return false;
	const std::size_t size = be32(stream);
	if (size > k_rpc_message_max)
		return too_long(size);
	const auto type = static_cast<RpcType>(stream[8]);
	if (type != RpcType::request && type != RpcType::response)
		return Error{Errc::invalid,
			"a message of type " + std::to_string(static_cast<int>(type))};
	if (stream.size() < k_rpc_header + size)
		return false;
	message = {connection, be32(std::string_view(stream).substr(4)), type,
		stream.substr(k_rpc_header, size)};
	stream.erase(0, k_rpc_header + size);
	return true;
}

Result<bool> RpcReader::next(RpcMessage &message)
{
	for (;;) {
		for (std::uint32_t i = 0; i < streams_.size(); i++)
			if (Result<bool> taken = take(i + 1, streams_[i], message);
				!taken || *taken)
				return taken;
		if (Result<bool> moved = next_frame(); !moved || !*moved)
			return moved;
	}
}

Result<RpcRequest> parse_rpc_request(std::string_view body)
{
	RpcRequest request;
	codec::WireReader reader(body);
	for (codec::WireField field; reader.next(field);) {
		if (field.type != codec::WireType::bytes)
			continue;
		if (field.number == 1)
			request.service = field.bytes;
		else if (field.number == 2)
			request.method = field.bytes;
		else if (field.number == 3)
			request.payload = field.bytes;
	}
	if (!reader.ok() || request.method.empty())
		return Error{Errc::invalid, "a request that is not protobuf or has no method"};
	return request;
}

std::string rpc_request(const RpcRequest &request)
{
	return Message()
		.text(1, request.service)
		.text(2, request.method)
		.text(3, request.payload)
		.bytes();
}

namespace
{

/* google.rpc.Status: empty for OK. */
Result<std::string> refusal_in(std::string_view status)
{
	std::uint64_t code = 0;
	std::string text;
	codec::WireReader reader(status);
	for (codec::WireField field; reader.next(field);) {
		if (field.number == 1 && field.type == codec::WireType::varint)
			code = field.value;
		else if (field.number == 2 && field.type == codec::WireType::bytes)
			text = field.bytes;
	}
	if (!reader.ok())
		return Error{Errc::invalid, "a status that is not protobuf"};
	if (code == 0)
		return std::string();
	return text.empty() ? "code " + std::to_string(code) : text;
}

} // namespace

Result<std::string> parse_rpc_response(std::string_view body)
{
	std::string payload;
	codec::WireReader reader(body);
	for (codec::WireField field; reader.next(field);) {
		if (field.type != codec::WireType::bytes)
			continue;
		if (field.number == 2)
			payload = field.bytes;
		if (field.number != 1)
			continue;
		Result<std::string> refusal = refusal_in(field.bytes);
		if (!refusal)
			return refusal;
		if (!refusal->empty())
			return Error{Errc::denied, *refusal};
	}
	if (!reader.ok())
		return Error{Errc::invalid, "a response that is not protobuf"};
	return payload;
}

std::string rpc_response(std::string_view payload)
{
	return Message().text(2, payload).bytes();
}

std::string rpc_refusal(const std::string &reason)
{
	const Message status = Message().number(1, k_grpc_unknown).text(2, reason);
	return Message().message(1, status).bytes();
}

} // namespace slurmkube::node
