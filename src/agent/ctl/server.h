/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the control socket: one line of JSON in, one line of JSON out, then it closes. See doc/design/protocol.md section 3.
 *
 * Everything runs on the loop's thread. A client has 5 s for the whole exchange and 64 KiB for its line; at most 64 are served at a time,
 * others wait in the listen queue. The handler must not block.
 */
#ifndef SLURMKUBE_AGENT_CTL_SERVER_H
#define SLURMKUBE_AGENT_CTL_SERVER_H

#include "src/agent/loop.h"
#include "src/base/owned.h"
#include "src/base/result.h"

#include <json-c/json.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace slurmkube::ctl
{

inline constexpr std::size_t k_clients_max = 64;
inline constexpr std::size_t k_request_max = std::size_t{64} * 1024;

/* request is an object and valid during the call. Returns the reply: JSON on one line, without a newline. */
using Handler = std::function<std::string(json_object *request)>;

class Server
{
      public:
	Server(agent::Loop &loop, Handler handler);
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;
	~Server(); /* closes all and removes the socket's file */

	/* Once. Takes over the file of an agent that is gone. conflict: another agent listens there. */
	Status listen(const std::string &path);

      private:
	struct Client {
		UniqueFd fd;
		agent::Loop::TimerId deadline = 0;
		std::string in, out;
	};

	void watch_listener();
	void accept_some();
	void take(UniqueFd peer);
	void ready(int fd);
	/* Both: true when the client is done with and to be dropped. */
	bool read_from(Client &client);
	bool write_to(Client &client);
	void answer(Client &client, const std::string &line);
	void drop(int fd);

	agent::Loop &loop_;
	Handler handler_;
	std::string path_;
	UniqueFd listener_;
	std::map<int, Client> clients_;
};

/* {"ok":false,"error":sentence} */
std::string error_reply(const std::string &sentence);

} // namespace slurmkube::ctl

#endif
