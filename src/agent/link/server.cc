/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/link/server.h"

#include "src/agent/unix_listener.h"
#include "src/base/log.h"
#include "src/core/model/names.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace slurmkube::link
{

namespace
{

constexpr std::chrono::seconds k_silence{20};
constexpr std::size_t k_read_bytes = std::size_t{256} * 1024;

bool may_connect(int fd)
{
	ucred peer{};
	socklen_t size = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return false;
	if (peer.uid == 0 || peer.uid == geteuid())
		return true;
	log_warning("a process that is not slurmctld tried to connect: uid=%u pid=%d", peer.uid,
		peer.pid);
	return false;
}

} // namespace

Server::Server(
	agent::Loop &loop, LinkSink &sink, std::string kube_cluster, std::string slurm_cluster)
    : loop_(loop), sink_(sink), kube_cluster_(std::move(kube_cluster)),
      slurm_cluster_(std::move(slurm_cluster))
{
}

Server::~Server()
{
	loop_.cancel(silence_timer_);
	if (peer_)
		loop_.remove(peer_.get());
	if (listener_) {
		loop_.remove(listener_.get());
		(void)unlink(path_.c_str()); /* fails if the file is gone, which is fine */
	}
}

Status Server::listen(const std::string &path)
{
	auto listener = agent::listen_unix(path, 0600);
	if (!listener)
		return in_context("plugin_socket", listener.error());
	listener_ = std::move(*listener);
	path_ = path;
	loop_.set(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_some(); });
	return Ok{};
}

void Server::accept_some()
{
	for (;;) {
		UniqueFd peer(
			accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (!peer)
			return;
		if (may_connect(peer.get()))
			take(std::move(peer));
	}
}

void Server::take(UniqueFd peer)
{
	if (peer_)
		close_peer("a newer plugin has connected");
	peer_ = std::move(peer);
	buffer_.clear();
	last_seq_ = 0;
	greeted_ = false;
	connections_++;
	loop_.set(peer_.get(), EPOLLIN, [this](std::uint32_t) { read_some(); });
	hear_later();
}

void Server::hear_later()
{
	loop_.cancel(silence_timer_);
	heard_ = false;
	silence_timer_ = loop_.after(k_silence, [this] {
		silence_timer_ = 0;
		if (heard_)
			hear_later();
		else
			close_peer("silent for 20 s");
	});
}

void Server::read_some()
{
	std::array<char, 65536> chunk{};
	std::size_t taken = 0;
	/* the rest is read in the next round, so that other callbacks can run */
	while (peer_ && taken < k_read_bytes) {
		const ssize_t n = read(peer_.get(), chunk.data(), chunk.size());
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			close_peer("slurmctld closed it");
			return;
		}
		heard_ = true;
		taken += static_cast<std::size_t>(n);
		buffer_.append(chunk.data(), static_cast<std::size_t>(n));
		if (!take_lines())
			return;
	}
}

bool Server::take_lines()
{
	std::size_t start = 0;
	for (;;) {
		const std::size_t end = buffer_.find('\n', start);
		if (end == std::string::npos)
			break;
		if (!take_line(std::string_view(buffer_).substr(start, end - start)))
			return false;
		start = end + 1;
	}
	buffer_.erase(0, start);
	if (buffer_.size() <= codec::k_link_line_max)
		return true;
	close_peer("a line is longer than 16 MiB");
	return false;
}

bool Server::take_line(std::string_view line)
{
	auto decoded = codec::decode_link(line);
	if (!decoded) {
		close_peer(decoded.error().what.c_str());
		return false;
	}
	if (decoded->seq != last_seq_ + 1) {
		close_peer("a line is missing");
		return false;
	}
	last_seq_ = decoded->seq;
	if (const auto *hello = std::get_if<core::PluginHello>(&decoded->message))
		return take_hello(*hello);
	if (!greeted_) {
		close_peer("the first line is not hello");
		return false;
	}
	if (const auto *refused = std::get_if<codec::Refused>(&decoded->message)) {
		refuse(refused->why);
		return false;
	}
	if (!is_open_ && std::holds_alternative<codec::SnapshotBegin>(decoded->message))
		open();
	if (!is_open_)
		return true;
	sink_.arrived(std::move(decoded->message));
	return true;
}

bool Server::take_hello(const core::PluginHello &hello)
{
	if (greeted_) {
		close_peer("hello came twice");
		return false;
	}
	if (const std::string why = why_refused(hello); !why.empty()) {
		refuse(why);
		return false;
	}
	greeted_ = true;
	welcome();
	hello_ = hello;
	return true;
}

/* The plugin has accepted the welcome. Before, it may refuse this agent, again and again. */
void Server::open()
{
	refusal_.clear();
	log_info("plugin connected slurm=%s plugin=%s cluster=%s", hello_.slurm_version.c_str(),
		hello_.plugin_version.c_str(), hello_.cluster_name.c_str());
	is_open_ = true;
	sink_.opened(hello_);
}

/* The plugin tries again several times a second. */
void Server::refuse(const std::string &why)
{
	if (std::exchange(refusal_, why) != why)
		log_error("plugin refused: %s", why.c_str());
	drop_peer();
}

/* Before the cluster is known, nothing may be done with what the plugin would say. */
void Server::welcome()
{
	if (!greeted_ || cluster_uid_.empty())
		return;
	const std::string line = codec::encode_welcome({.protocol = names::k_link_protocol,
					 .agent_version = SLURMKUBE_VERSION,
					 .cluster_uid = cluster_uid_}) +
		"\n";
	/* a new socket has room for the line */
	(void)!send(peer_.get(), line.data(), line.size(), MSG_NOSIGNAL);
}

void Server::cluster_is(const std::string &cluster_uid)
{
	const std::string before = std::exchange(cluster_uid_, cluster_uid);
	if (before == cluster_uid)
		return;
	if (before.empty())
		welcome();
	else if (peer_)
		close_peer("the API server serves another cluster now");
}

std::string Server::why_refused(const core::PluginHello &hello) const
{
	if (hello.protocol != names::k_link_protocol)
		return "the plugin speaks another protocol: install plugin and agent of the same "
		       "release";
	/* The agent would submit pods here, and end jobs of the same numbers there. */
	if (hello.cluster_name != slurm_cluster_)
		return "the plugin is in the slurmctld of ClusterName=" + hello.cluster_name +
			", and the agent's slurm.conf says ClusterName=" + slurm_cluster_;
	if (hello.kube_cluster.empty() || hello.kube_cluster == kube_cluster_)
		return {};
	return "kube.conf gives this socket to Cluster=" + hello.kube_cluster +
		", and slurmkubed.yaml says cluster: " + kube_cluster_;
}

void Server::close_peer(const char *why)
{
	log_warning("plugin disconnected: %s", why);
	drop_peer();
}

void Server::drop_peer()
{
	loop_.cancel(silence_timer_);
	silence_timer_ = 0;
	loop_.remove(peer_.get());
	peer_.reset();
	greeted_ = false;
	if (std::exchange(is_open_, false))
		sink_.closed();
}

} // namespace slurmkube::link
