/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the agent's end of the link: the agent listens and the plugin connects
 * (doc/design/protocol.md section 2).
 *
 * On the loop's thread. There is at most one plugin: a new connection replaces the old one, because
 * after a restart or fail-over of slurmctld the newest plugin is the live one. Only root and the
 * agent's own user may connect. A line that cannot be decoded, a gap in seq, or 20 s of silence
 * closes the connection; the plugin then connects again and sends a snapshot.
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

/* Receives the plugin's messages in order: opened (with hello, when the plugin has accepted the
 * agent), then the other messages, finally closed. */
struct LinkSink {
	virtual void opened(const core::PluginHello &hello) = 0;
	virtual void arrived(codec::LinkMessage message) = 0;
	virtual void closed() = 0;
	virtual ~LinkSink() = default;
};

class Server
{
      public:
	/* kube_cluster: the name of this agent's cluster. The plugin may serve the socket for
	 * another one. slurm_cluster: ClusterName of the slurmctld that the agent calls; a plugin
	 * of another one is refused. */
	Server(agent::Loop &loop, LinkSink &sink, std::string kube_cluster,
		std::string slurm_cluster);
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;
	~Server(); /* closes the connection and removes the socket file */

	/* Call once. Replaces the socket file of an agent that is gone. conflict: another agent
	 * listens there. */
	Status listen(const std::string &path);

	[[nodiscard]] std::uint64_t connections() const { return connections_; }
	/* Which Kubernetes cluster the API server serves. The plugin sends its snapshot after it
	 * has heard that; if it becomes another one, the link begins again. */
	void cluster_is(const std::string &cluster_uid);
	/* Whether the plugin waits for the welcome, or whether to accept it. */
	[[nodiscard]] bool is_waiting() const { return greeted_ && !is_open_; }
	/* Why one of the two sides refused the last link; empty: it was accepted, or there was
	 * none. */
	[[nodiscard]] const std::string &refusal() const { return refusal_; }

      private:
	void accept_some();
	void take(UniqueFd peer);
	void read_some();
	bool take_lines();
	bool take_line(std::string_view line);
	bool take_hello(const core::PluginHello &hello);
	void welcome();
	void open();
	void refuse(const std::string &why);
	[[nodiscard]] std::string why_refused(const core::PluginHello &hello) const;
	void close_peer(const char *why);
	void drop_peer();
	void hear_later();

	agent::Loop &loop_;
	LinkSink &sink_;
	const std::string kube_cluster_, slurm_cluster_;
	std::string path_, refusal_, cluster_uid_;
	UniqueFd listener_, peer_;
	std::string buffer_;
	std::uint64_t last_seq_ = 0;
	core::PluginHello hello_;
	bool greeted_ = false; /* hello has arrived */
	bool is_open_ = false; /* the snapshot has begun, and opened() was called */
	bool heard_ = false;   /* something has arrived since the last silence check */
	agent::Loop::TimerId silence_timer_ = 0;
	std::uint64_t connections_ = 0;
};

} // namespace slurmkube::link

#endif
