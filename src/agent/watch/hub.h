/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hub.h - the watchers: connections that stay open and get an event for each change. See
 * doc/design/protocol.md section 3, "Watch".
 *
 * On the loop's thread. The work of a round is bounded: the number of objects that are compared,
 * and the bytes that each watcher gets. Without a watcher nothing is compared, and changes are not
 * noted. A watcher that reads too slowly gets the newest rows only, and its connection is closed
 * when it has taken nothing for a while; what waits for the kernel to send is limited, so that a
 * last line nearly always fits.
 */
#ifndef SLURMKUBE_AGENT_WATCH_HUB_H
#define SLURMKUBE_AGENT_WATCH_HUB_H

#include "src/agent/loop.h"
#include "src/agent/watch/table.h"
#include "src/base/owned.h"

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace slurmkube::watch
{

inline constexpr int k_version = 1; /* of the events */
inline constexpr std::size_t k_watchers_of_users_max = 8;
inline constexpr std::size_t k_watchers_of_user_max = 2;

struct Times {
	std::chrono::milliseconds heartbeat{10'000}; /* a line at least so often, when idle */
	std::chrono::milliseconds stall{30'000};     /* nothing was taken for so long */
	std::chrono::milliseconds tick{5'000};
	std::chrono::milliseconds pause{20};    /* between two looks at changes */
	std::chrono::milliseconds walk{60'000}; /* all objects are compared so often */
	/* how long the objects are kept after the last watcher: a watcher that comes and goes would
	 * otherwise have all of them compared each time */
	std::chrono::milliseconds linger{60'000};
};

class Hub
{
      public:
	/* loop and source must outlive the hub. */
	Hub(agent::Loop &loop, Source &source, Times times);
	Hub(const Hub &) = delete;
	Hub &operator=(const Hub &) = delete;
	~Hub(); /* tells the watchers that the agent stops */

	/* Why the peer cannot have another watch; empty: it can. */
	[[nodiscard]] std::string refusal(const ctl::Peer &peer) const;
	/* Takes over a connection that refusal() does not refuse. first: its first line. */
	void serve(UniqueFd connection, Wish wish, const std::string &first);
	/* Something may have changed. */
	void changed();

      private:
	struct Client {
		UniqueFd fd;
		ctl::Peer peer;
		std::string out;
		std::size_t sent = 0; /* of out */
		agent::Clock::time_point
			moved{};           /* when it last took something, or lacked nothing */
		bool is_told_ready = true; /* false: the next line says whether we are ready */
		bool waits_for_room = false;
	};

	void plan();
	void flush();
	void look_at_changes();
	void tick();
	void tick_client(std::size_t watcher, Client &client, agent::Clock::time_point now);
	void rest();
	void ready(std::size_t watcher);
	void pump(std::size_t watcher);
	void fill(std::size_t watcher, Client &client);
	[[nodiscard]] bool send_some(Client &client);
	void wait(std::size_t watcher, Client &client, bool for_room);
	[[nodiscard]] std::string alive_line() const;
	static void say_last(Client &client, const std::string &reason);
	void close(std::size_t watcher, const std::string &reason);
	void drop(std::size_t watcher);

	agent::Loop &loop_;
	Source &source_;
	Times times_;
	Table table_{source_};
	std::map<std::size_t, Client> clients_; /* by their number in the table */
	bool is_watched_ = false;               /* changes are noted */
	bool was_ready_ = false;
	std::set<ObjectId> changed_;
	agent::Loop::TimerId next_flush_ = 0, next_tick_ = 0;
	agent::Clock::time_point last_flush_{}, last_walk_{}, last_watched_{};
	agent::Clock::duration pause_{};
};

} // namespace slurmkube::watch

#endif
