/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rpc.h - remote procedure calls between a container runtime and its NRI plugins: ttrpc messages
 * in two connections that share one Unix socket.
 *
 * Pure; input from another program: every length is checked before anything is copied. Sources:
 * github.com/containerd/nri pkg/net/multiplex/mux.go (frames of 4 bytes connection, 4 bytes
 * length), github.com/containerd/ttrpc PROTOCOL.md, channel.go and request.proto.
 */
#ifndef SLURMKUBE_NODE_RPC_H
#define SLURMKUBE_NODE_RPC_H

#include "src/base/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace slurmkube::node
{

/* The connections: the runtime calls us, and we call the runtime. */
inline constexpr std::uint32_t k_plugin_connection = 1, k_runtime_connection = 2;
/* ttrpc's own limit of a message (channel.go messageLengthMax). */
inline constexpr std::size_t k_rpc_message_max = 4U << 20;

enum class RpcType : std::uint8_t { request = 1, response = 2 };

struct RpcMessage {
	std::uint32_t connection = 0;
	std::uint32_t stream = 0; /* a response has the number of its request */
	RpcType type = RpcType::request;
	std::string body;
};

/* The frames of the message: one with its header and one with its body, because the other side
 * reads no frame that is larger than the buffer for what it expects. */
std::string rpc_frames(const RpcMessage &message);

/* Puts messages together from what arrives. */
class RpcReader
{
      public:
	void add(std::string_view bytes) { trunk_.append(bytes); }
	/* true: message is the next one; false: more bytes are needed; invalid or too_large: the
	 * connection is of no more use. */
	Result<bool> next(RpcMessage &message);

      private:
	Result<bool> next_frame();
	Result<bool> take(std::uint32_t connection, std::string &stream, RpcMessage &message);

	std::string trunk_;
	std::array<std::string, 2> streams_; /* by connection - 1 */
};

struct RpcRequest {
	std::string service, method, payload;
};

Result<RpcRequest> parse_rpc_request(std::string_view body);
std::string rpc_request(const RpcRequest &request);

/* The payload; denied, with the other side's text: it refused. */
Result<std::string> parse_rpc_response(std::string_view body);
std::string rpc_response(std::string_view payload);
/* A refusal, as gRPC's code UNKNOWN (2). */
std::string rpc_refusal(const std::string &reason);

} // namespace slurmkube::node

#endif
