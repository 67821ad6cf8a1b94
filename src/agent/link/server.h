/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the agent's end of the link: the agent listens and the plugin connects
 * (doc/design/protocol.md section 2).
 *
 * On the loop's thread. There is at most one plugin: a new connection replaces the old one, because
 * after a restart or fail-over of slurmctld the newest plugin is the live one. It does so when both
 * sides have accepted each other, so that the plugin of another slurmctld does not cut the link
 * before it is refused. Only root and the agent's own user may connect. A line that cannot be
 * decoded, a gap in seq, or 20 s of silence closes the connection; the plugin then connects again
 * and sends a snapshot.
 */
#ifndef SLURMKUBE_AGENT_LINK_SERVER_H
#define SLURMKUBE_AGENT_LINK_SERVER_H

#include "src/agent/loop.h"
#include "src/base/owned.h"
#include "src/base/result.h"
#include "src/codec/link.h"

#include <memory>
#include <string>
#include <vector>

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

	/* Which Kubernetes cluster the API server serves. The plugin sends its snapshot after it
	 * has heard that; if it becomes another one, the link begins again. */
	void cluster_is(const std::string &cluster_uid);
	/* Closes the link, so that the plugin sends its snapshot again. why: for the log */
	void begin_again(const char *why);
	/* Whether the plugin waits for the welcome, or whether to accept it. */
	[[nodiscard]] bool is_waiting() const;
	/* Why one of the two sides refused the last link; empty: it was accepted, or there was
	 * none. */
	[[nodiscard]] const std::string &refusal() const { return refusal_; }

      private:
	struct Peer {
		UniqueFd fd;
		std::string buffer;
		std::uint64_t last_seq = 0;
		core::PluginHello hello;
		bool greeted = false; /* hello has arrived, and was accepted */
		bool heard = false;   /* something has arrived since the last silence check */
		agent::Loop::TimerId silence_timer = 0;
	};

	void accept_some();
	void take(UniqueFd fd);
	void read_some(Peer &peer);
	/* false: the peer is gone */
	bool take_lines(Peer &peer);
	bool take_line(Peer &peer, std::string_view line);
	bool take_hello(Peer &peer, const core::PluginHello &hello);
	void welcome(Peer &peer);
	void open(Peer &peer);
	void refuse(Peer &peer, const std::string &why);
	[[nodiscard]] std::string why_refused(const core::PluginHello &hello) const;
	[[nodiscard]] bool is_open(const Peer &peer) const { return &peer == peer_.get(); }
	void close(Peer &peer, const char *why);
	void drop(Peer &peer);
	void stop_watching(Peer &peer);
	void hear_later(Peer &peer);

	agent::Loop &loop_;
	LinkSink &sink_;
	const std::string kube_cluster_, slurm_cluster_;
	std::string path_, refusal_, cluster_uid_;
	UniqueFd listener_;
	std::unique_ptr<Peer> peer_; /* its snapshot has begun, and opened() was called */
	std::vector<std::unique_ptr<Peer>> newcomers_; /* the most recent last */
};

} // namespace slurmkube::link

#endif
