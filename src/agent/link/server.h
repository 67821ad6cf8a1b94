/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the plugin's end of the link: it connects to us, we listen (doc/design/protocol.md
 * section 2).
 *
 * On the loop's thread. At most one plugin counts: a new connection replaces the old one, because
 * after a restart or fail-over of slurmctld the newest is the live one. A peer that is neither root
 * nor our own user is refused. A line that does not decode, a gap in seq, or 20 s of silence closes
 * the connection; the plugin comes back with a snapshot.
 */
#ifndef SLURMKUBE_AGENT_LINK_SERVER_H
#define SLURMKUBE_AGENT_LINK_SERVER_H

#include "src/agent/loop.h"
#include "src/base/owned.h"
#include "src/base/result.h"
#include "src/codec/link.h"

#include <string>

namespace slurmkube::link
{

/* What arrives, in the plugin's order: opened, then messages (hello not repeated), at last
 * closed. */
struct LinkSink {
	virtual void opened(const core::PluginHello &hello) = 0;
	virtual void arrived(codec::LinkMessage message) = 0;
	virtual void closed() = 0;
	virtual ~LinkSink() = default;
};

class Server
{
      public:
	Server(agent::Loop &loop, LinkSink &sink);
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;
	~Server(); /* closes and removes the socket's file */

	/* Once. Takes over the file of an agent that is gone. conflict: another agent listens
	 * there. */
	Status listen(const std::string &path);

	[[nodiscard]] std::uint64_t connections() const { return connections_; }

      private:
	void accept_some();
	void take(UniqueFd peer);
	void read_some();
	bool take_lines();
	bool take_line(std::string_view line);
	bool take_hello(const core::PluginHello &hello);
	void close_peer(const char *why);
	void hear_later();

	agent::Loop &loop_;
	LinkSink &sink_;
	std::string path_;
	UniqueFd listener_, peer_;
	std::string buffer_;
	std::uint64_t last_seq_ = 0;
	bool greeted_ = false; /* hello has come: the sink was told opened */
	bool heard_ = false;   /* since the last silence check */
	agent::Loop::TimerId silence_timer_ = 0;
	std::uint64_t connections_ = 0;
};

} // namespace slurmkube::link

#endif
