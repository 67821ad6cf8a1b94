/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the control socket: the client sends one line of JSON, the server replies with one
 * line and closes. See doc/design/protocol.md section 3.
 *
 * Everything runs on the loop's thread. A client has 5 s for the whole exchange and 64 KiB for its
 * line. At most 64 clients are served at a time, at most 32 per user; beyond that, the client that
 * has been silent longest is dropped, one of the same user first. The handler must not block; it
 * may reply later, while the client waits.
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
#include <memory>
#include <string>

namespace slurmkube::ctl
{

inline constexpr std::size_t k_clients_max = 64;
inline constexpr std::size_t k_clients_of_user_max = 32;
inline constexpr std::size_t k_request_max = std::size_t{64} * 1024;

/* Takes JSON on one line without a newline. Only the first call counts. If there is no call, the
 * client is dropped when its time is over. */
using Reply = std::function<void(std::string)>;
/* request is an object, valid during the call. reply may be called at any time on the loop's
 * thread, even after the client or the server has gone. */
using Handler = std::function<void(json_object *request, Reply reply)>;

class Server
{
      public:
	Server(agent::Loop &loop, Handler handler);
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;
	~Server(); /* closes all connections and removes the socket file */

	/* Call once. Replaces the socket file of an agent that is gone. conflict: another agent
	 * listens there. */
	Status listen(const std::string &path);

      private:
	struct Client {
		UniqueFd fd;
		uid_t user = 0;
		std::uint64_t number = 0; /* unique; descriptors are reused */
		bool asked = false;       /* the handler has the request */
		agent::Loop::TimerId deadline = 0;
		std::string in, out;
	};

	void accept_some();
	[[nodiscard]] bool make_room(uid_t user);
	void take(UniqueFd peer);
	void ready(int fd);
	/* Both return true if the client is finished and must be dropped. */
	bool read_from(Client &client);
	bool write_to(Client &client);
	void answer(Client &client, const std::string &line);
	void deliver(int fd, std::uint64_t number, std::string text);
	void drop(int fd);

	agent::Loop &loop_;
	Handler handler_;
	std::string path_;
	UniqueFd listener_;
	std::map<int, Client> clients_;
	std::uint64_t last_number_ = 0;
	/* a reply that finds the pointer expired is dropped */
	std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

/* {"ok":false,"error":sentence} */
std::string error_reply(const std::string &sentence);

} // namespace slurmkube::ctl

#endif
