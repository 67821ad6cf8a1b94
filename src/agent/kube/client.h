/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.h - HTTPS to the Kubernetes API on the agent's loop.
 *
 * Requests and watch streams use separate connections (HTTP/2), so that neither delays the other.
 * All calls and callbacks are on the loop's thread, and nothing blocks. A callback is never called
 * within send() or open_stream(), may call anything here, and must not destroy the client. The loop
 * must outlive the client. The destructor drops everything without calling back. If a connection
 * breaks, its requests are sent once more, except POST: repeated reads do no harm, and the other
 * writes of the agent carry a precondition.
 */
#ifndef SLURMKUBE_AGENT_KUBE_CLIENT_H
#define SLURMKUBE_AGENT_KUBE_CLIENT_H

#include "src/agent/kube/access.h"
#include "src/agent/loop.h"
#include "src/base/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace slurmkube::kube
{

enum class Method { get, post, patch, put, remove };

inline constexpr char k_json[] = "application/json";
/* For Accept: protobuf (Kubernetes 1.3 and later), or JSON for objects that the server cannot
 * encode in protobuf. */
inline constexpr char k_protobuf[] = "application/vnd.kubernetes.protobuf,application/json";
inline constexpr char k_strategic_merge_patch[] = "application/strategic-merge-patch+json";
inline constexpr char k_merge_patch[] = "application/merge-patch+json";
inline constexpr char k_json_patch[] = "application/json-patch+json";

struct Request {
	Method method = Method::get;
	std::string path; /* includes the query; must be escaped */
	std::string body;
	std::string content_type = k_json;
	std::string accept = k_json;
	/* counts from the sending; time in the queue does not count */
	std::chrono::milliseconds deadline{5000};
	std::size_t body_limit = std::size_t{64} << 20;
	/* give way: other requests are sent first, and may use most of max_in_flight */
	bool can_wait = false;
	/* for the Lease: go before all others, whatever is queued or in flight, and also during a
	 * pause that the server wants for others */
	bool is_urgent = false;
	/* With can_wait only, asked before each sending: true: the answer is conflict and nothing
	 * is sent. Must not call the client. */
	std::function<bool()> is_outdated = {};
	/* true: each HTTP answer is a Response; false: a status of 300 and more is an Error */
	bool any_status = false;
};

struct Response {
	long status = 0;
	std::string body;
	std::string note = {}; /* for status 401: what is known about the refused token */
	std::optional<std::chrono::seconds> retry_after = {};
};
using OnResponse = std::function<void(Result<Response>)>;

struct StreamRequest {
	std::string path;
	std::string accept = k_json;
	std::size_t frame_limit = std::size_t{8} << 20;
	std::chrono::milliseconds silence{150'000}; /* limit without a byte; then it ends */
	bool fresh_connection = false;              /* do not reuse a connection */
	std::function<void()> on_open;              /* called on status 200 */
};
using StreamId = std::uint64_t;                              /* 0 is none */
using OnFrame = std::function<void(std::string_view frame)>; /* codec/frames.h */
/* Status 200: the server has ended the stream cleanly. A Response with another status has the body.
 * Errors: again: silence, and nothing else; io: other failures of the connection; denied: the
 * certificate is not trusted; too_large: a frame is longer than frame_limit. */
using OnStreamEnd = std::function<void(Result<Response>)>;

struct ClientOptions {
	unsigned max_in_flight = 32; /* 1 to 64; further requests wait in the queue */
	std::size_t max_queued = 50'000;
	std::chrono::milliseconds connect_timeout{3000};
	std::string user_agent = "slurmkubed";
};

struct ClientCounters {
	std::uint64_t requests = 0; /* sent, including repeats */
	std::uint64_t answers = 0;
	/* the same by method and HTTP status */
	std::map<std::pair<Method, long>, std::uint64_t> answers_by_status;
	std::uint64_t repeats = 0;   /* after 401, 429, 503 and broken connections */
	std::uint64_t throttled = 0; /* answers 429 and 503 */
	std::uint64_t unauthorized = 0;
	std::uint64_t timeouts = 0;
	std::uint64_t failures = 0;   /* no HTTP answer, including timeouts */
	std::uint64_t reconnects = 0; /* connections that were given up because no answers came */
	std::uint64_t bytes_received = 0;
	std::uint64_t streams = 0;
};

/* What an HTTP status means for the caller. 500, 502 and 504 are io, because a write may have taken
 * effect. 410 is conflict: list again. */
Errc errc_of_status(long status);
/* The Error for an answer with status >= 300. The text is the message of the Status in the body, if
 * there is one, and the note. A 404 is not_found only if it comes from the API server itself and
 * not from a proxy. path: the path of the request. */
Error error_of(const Response &response, std::string_view path = {});
/* Escapes text for a query: every character that is not unreserved becomes %XX. */
std::string escape_query(std::string_view text);

class Token;

class Client
{
      public:
	Client(agent::Loop &loop, Access access, ClientOptions options = {});
	Client(const Client &) = delete;
	Client &operator=(const Client &) = delete;
	~Client();

	void send(Request request, OnResponse on_response);

	StreamId open_stream(StreamRequest request, OnFrame on_frame, OnStreamEnd on_end);
	/* The callbacks of the stream are not called after this. Unknown ids are ignored. */
	void close_stream(StreamId id);

	/* Applies to everything that is sent after this; open streams and connections are not
	 * affected. */
	void replace_access(Access access);
	/* Reads the token file, if there is one, immediately. */
	void read_token();

	/* Like Loop::after(), but the destructor drops the call. */
	void after(std::chrono::milliseconds delay, std::function<void()> call);

	[[nodiscard]] agent::Loop &loop();
	[[nodiscard]] const ClientCounters &counters() const;
	[[nodiscard]] std::size_t in_flight() const;
	[[nodiscard]] std::size_t queued() const;
	/* Seconds since the epoch; empty: the token does not state its expiry. */
	[[nodiscard]] std::optional<std::int64_t> token_expires() const;
	/* Why the token file cannot be read, or that the token has expired; empty: neither. */
	[[nodiscard]] std::string token_trouble() const;
	/* "https://host:port" */
	[[nodiscard]] const std::string &server() const;
	/* The token that would be sent at present. */
	[[nodiscard]] const Token &token() const;

      private:
	class Impl;
	std::unique_ptr<Impl> impl_;
};

} // namespace slurmkube::kube

#endif
