/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the control socket: the client sends one line of JSON, the server replies with one
 * line and closes. See doc/design/protocol.md section 3.
 *
 * Everything runs on the loop's thread. A client has 5 s for the whole exchange and 64 KiB for its
 * line. At most 64 clients are served at a time, at most 32 per user; beyond that, the client that
 * has been silent longest is dropped, one of the same user first. The handler must not block; it
 * may reply later, while the client waits, or take the connection over.
 *
 * Every local user may connect. Who is no operator (peer.h) gets fewer connections, all such users
 * together at most half of them, and a limited rate of answers: what they ask costs the loop time
 * that scheduling needs. For the same reason one request is answered per round of the loop.
 */
#ifndef SLURMKUBE_AGENT_CTL_SERVER_H
#define SLURMKUBE_AGENT_CTL_SERVER_H

#include "src/agent/ctl/peer.h"
#include "src/agent/ctl/rates.h"
#include "src/agent/loop.h"
#include "src/base/owned.h"
#include "src/base/result.h"

#include <json-c/json.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace slurmkube::ctl
{

inline constexpr std::size_t k_clients_max = 64;
inline constexpr std::size_t k_clients_of_operator_max = 32;
inline constexpr std::size_t k_clients_of_user_max = 8;
inline constexpr std::size_t k_clients_of_users_max = 32;
inline constexpr std::size_t k_request_max = std::size_t{64} * 1024;

/* Takes JSON on one line without a newline. Only the first call counts. If there is no call, the
 * client is dropped when its time is over. */
using Reply = std::function<void(std::string)>;
/* Takes the connection out of the server, for a client that stays: the server forgets the client.
 * Once, and only while the handler runs. */
using Take = std::function<UniqueFd()>;
/* request is an object, valid during the call; peer says what the client may see. reply may be
 * called at any time on the loop's thread, even after the client or the server has gone. */
using Handler =
	std::function<void(json_object *request, const Peer &peer, Reply reply, const Take &take)>;

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
		Peer peer;
		std::uint64_t number = 0; /* unique; descriptors are reused */
		bool asked = false;       /* its line is complete */
		bool is_too_often = false;
		agent::Loop::TimerId deadline = 0;
		std::string in, out;  /* in is the line, once it is complete */
		std::size_t sent = 0; /* of out */
	};

	void accept_some();
	[[nodiscard]] bool make_room(const Peer &peer);
	void take(UniqueFd peer);
	void ready(int fd);
	/* Both return true if the client is finished and must be dropped. */
	bool read_from(Client &client);
	bool write_to(Client &client);
	void queue(Client &client, std::string line);
	void answer_next();
	void answer(Client &client);
	void deliver(int fd, std::uint64_t number, std::string text);
	void drop(int fd);
	UniqueFd release(int fd);

	agent::Loop &loop_;
	Handler handler_;
	std::string path_;
	UniqueFd listener_;
	gid_t operators_ = 0; /* the group of the socket file */
	std::map<int, Client> clients_;
	UserRates rates_;
	std::deque<std::pair<int, std::uint64_t>> queue_; /* descriptors and numbers of clients */
	std::uint64_t last_number_ = 0;
	/* a reply that finds the pointer expired is dropped */
	std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

/* {"ok":false,"error":sentence} */
std::string error_reply(const std::string &sentence);
/* The same with "again":true: nothing is wrong, and the client may ask again soon. */
std::string again_reply(const std::string &sentence);

} // namespace slurmkube::ctl

#endif
