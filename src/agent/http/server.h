/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - an HTTP/1.1 server for GET and HEAD, with or without TLS, by libmicrohttpd on the
 * agent's loop.
 *
 * Everything runs on the loop's thread, so a handler may read the agent's state, and must not
 * block. A client can take neither time nor memory without a limit: at most k_connections_max
 * connections, one request for each, k_connection_time from the connection to its end.
 * slurmkubed.yaml(5) describes the options.
 */
#ifndef SLURMKUBE_AGENT_HTTP_SERVER_H
#define SLURMKUBE_AGENT_HTTP_SERVER_H

#include "src/agent/http/key_pair.h"
#include "src/agent/loop.h"
#include "src/base/owned.h"
#include "src/base/result.h"

#include <chrono>
#include <functional>
#include <map>
#include <string>

struct MHD_Connection;
struct MHD_Daemon;

namespace slurmkube::http
{

inline constexpr unsigned k_connections_max = 32;
inline constexpr std::chrono::seconds k_connection_time{10};

struct Request {
	std::string path; /* without the query */
	bool is_verbose = false;
	std::string authorization; /* of the header; empty: none */
};

struct Answer {
	unsigned status = 200;
	std::string body;
	std::string content_type = "text/plain; charset=utf-8";
	std::string challenge = {}; /* WWW-Authenticate, for status 401 */
};
using Handler = std::function<Answer(const Request &)>;

class Server
{
      public:
	/* loop must outlive the object. handler is called once per request, on its thread. */
	Server(agent::Loop &loop, Handler handler);
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;
	~Server();

	/* Serves at address (address.h) from now on, and no longer at an earlier one: by HTTPS if
	 * pair is not empty. If this fails, the server is closed. conflict: the port is taken. */
	Status listen(const std::string &address, const KeyPair &pair = {});
	void close();

	/* Internal: called by libmicrohttpd through functions with C linkage. */
	int take_request(MHD_Connection *connection, const char *url, const char *method);
	void opened(MHD_Connection *connection);
	void closed(MHD_Connection *connection);

      private:
	void run();
	void end(MHD_Connection *connection);

	agent::Loop &loop_;
	Handler handler_;
	MHD_Daemon *daemon_ = nullptr;
	int epoll_ = -1; /* of daemon_ */
	agent::Loop::TimerId timer_ = 0;
	bool has_closed_ = false; /* a connection, in the present round */
	std::map<MHD_Connection *, agent::Loop::TimerId> open_;
};

} // namespace slurmkube::http

#endif
