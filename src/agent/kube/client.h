/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.h - HTTPS to the Kubernetes API on the agent's loop.
 *
 * Two connections (HTTP/2): one for requests, one for watch streams, so that neither can hold up
 * the other. All calls and callbacks are on the loop's thread; a callback is never called from
 * within send() or open_stream(), may call anything here, and must not destroy the client. The loop
 * must outlive the client. Nothing blocks. Destroying the client drops everything without
 * callbacks. When a connection breaks, its requests are sent once more, but for POST: reads do no
 * harm, and our other writes carry a precondition.
 */
#ifndef SLURMKUBE_AGENT_KUBE_CLIENT_H
#define SLURMKUBE_AGENT_KUBE_CLIENT_H

#include "src/agent/kube/access.h"
#include "src/agent/loop.h"
#include "src/base/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace slurmkube::kube
{

enum class Method { get, post, patch, put, remove };

inline constexpr char k_json[] = "application/json";
/* To accept: what a server cannot send so (it could since Kubernetes 1.3) it may send in JSON. */
inline constexpr char k_protobuf[] = "application/vnd.kubernetes.protobuf,application/json";
inline constexpr char k_strategic_merge_patch[] = "application/strategic-merge-patch+json";
inline constexpr char k_merge_patch[] = "application/merge-patch+json";
inline constexpr char k_json_patch[] = "application/json-patch+json";

struct Request {
	Method method = Method::get;
	std::string path; /* with its query, already escaped */
	std::string body;
	std::string content_type = k_json;
	std::string accept = k_json;
	/* from sending; time in our queue does not count */
	std::chrono::milliseconds deadline{5000};
	std::size_t body_limit = std::size_t{64} << 20;
	/* what others send goes first, and they keep most of what may be in flight */
	bool can_wait = false;
	/* hand every HTTP answer over as a Response; else a status of 400 and more is an Error */
	bool any_status = false;
};

struct Response {
	long status = 0;
	std::string body;
	std::string note = {}; /* of status 401: what is known of the token that was refused */
	std::optional<std::chrono::seconds> retry_after = {};
};
using OnResponse = std::function<void(Result<Response>)>;

struct StreamRequest {
	std::string path;
	std::string accept = k_json;
	std::size_t frame_limit = std::size_t{8} << 20;
	std::chrono::milliseconds silence{150'000}; /* no byte for so long ends it */
	bool fresh_connection = false;              /* do not trust the present one */
	std::function<void()> on_open;              /* the server has answered with status 200 */
};
using StreamId = std::uint64_t;                              /* 0 is none */
using OnFrame = std::function<void(std::string_view frame)>; /* codec/frames.h */
/* Status 200: the server ended it cleanly. Other statuses come with their body. Errors: again is
 * silence and nothing else, io the rest of what connections do, denied a certificate that is not
 * trusted, too_large a frame over the limit. */
using OnStreamEnd = std::function<void(Result<Response>)>;

struct ClientOptions {
	unsigned max_in_flight = 32; /* 1 to 64; more wait in a queue */
	std::size_t max_queued = 50'000;
	std::chrono::milliseconds connect_timeout{3000};
	std::string user_agent = "slurmkubed";
};

struct ClientCounters {
	std::uint64_t requests = 0; /* sent, repeats included */
	std::uint64_t answers = 0;
	std::uint64_t repeats = 0;   /* after 401, 429, 503 and broken connections */
	std::uint64_t throttled = 0; /* answers 429 and 503 */
	std::uint64_t unauthorized = 0;
	std::uint64_t timeouts = 0;
	std::uint64_t failures = 0;   /* no HTTP answer, timeouts included */
	std::uint64_t reconnects = 0; /* connections given up because nothing came any more */
	std::uint64_t bytes_received = 0;
	std::uint64_t streams = 0;
};

/* What an HTTP status means for the caller. 500, 502 and 504 are io: a write may have happened. 410
 * is conflict: list again. */
Errc errc_of_status(long status);
/* The Error of an answer with status >= 400; its text is Status.message where the body has one, and
 * the note. */
/* A 404 is not_found only if the API server has said it itself. path: that was asked for. */
Error error_of(const Response &response, std::string_view path = {});
/* For a query: everything but unreserved characters as %XX. */
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
	/* No callback of it is called any more; unknown ids are fine. */
	void close_stream(StreamId id);

	/* For all that is sent from now on; open streams and connections go on as they are. */
	void replace_access(Access access);
	/* The token file, if there is one, is read again now. */
	void read_token();

	/* Like Loop::after, but dropped with the client. */
	void after(std::chrono::milliseconds delay, std::function<void()> call);

	[[nodiscard]] agent::Loop &loop();
	[[nodiscard]] const ClientCounters &counters() const;
	[[nodiscard]] std::size_t in_flight() const;
	[[nodiscard]] std::size_t queued() const;
	/* The token's expiry, seconds since the epoch, where it tells. */
	[[nodiscard]] std::optional<std::int64_t> token_expires() const;
	/* Why the token file cannot be read, or that its token has expired; empty: fine. */
	[[nodiscard]] std::string token_trouble() const;
	/* "https://host:port" */
	[[nodiscard]] const std::string &server() const;
	/* As it would be sent now. */
	[[nodiscard]] const Token &token() const;

      private:
	class Impl;
	std::unique_ptr<Impl> impl_;
};

} // namespace slurmkube::kube

#endif
