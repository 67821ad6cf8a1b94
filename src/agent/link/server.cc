/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/link/server.h"

#include "src/agent/unix_listener.h"
#include "src/base/log.h"
#include "src/core/model/names.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace slurmkube::link
{

namespace
{

constexpr std::chrono::seconds k_silence{20};
constexpr std::size_t k_newcomers_max = 8;
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
	if (peer_)
		stop_watching(*peer_);
	for (const auto &newcomer : newcomers_)
		stop_watching(*newcomer);
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

void Server::take(UniqueFd fd)
{
	if (newcomers_.size() >= k_newcomers_max)
		close(*newcomers_.front(), "too many that are not accepted yet");
	Peer &peer = *newcomers_.emplace_back(std::make_unique<Peer>());
	peer.fd = std::move(fd);
	loop_.set(peer.fd.get(), EPOLLIN, [this, &peer](std::uint32_t) { read_some(peer); });
	hear_later(peer);
}

void Server::hear_later(Peer &peer)
{
	loop_.cancel(peer.silence_timer);
	peer.heard = false;
	peer.silence_timer = loop_.after(k_silence, [this, &peer] {
		peer.silence_timer = 0;
		if (peer.heard)
			hear_later(peer);
		else
			close(peer, "silent for 20 s");
	});
}

void Server::read_some(Peer &peer)
{
	std::array<char, 65536> chunk{};
	std::size_t taken = 0;
	/* the rest is read in the next round, so that other callbacks can run */
	while (taken < k_read_bytes) {
		const ssize_t n = read(peer.fd.get(), chunk.data(), chunk.size());
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			return close(peer, "slurmctld closed it");
		peer.heard = true;
		taken += static_cast<std::size_t>(n);
		peer.buffer.append(chunk.data(), static_cast<std::size_t>(n));
		if (!take_lines(peer))
			return;
	}
}

bool Server::take_lines(Peer &peer)
{
	std::size_t start = 0;
	for (;;) {
		const std::size_t end = peer.buffer.find('\n', start);
		if (end == std::string::npos)
			break;
		if (!take_line(peer, std::string_view(peer.buffer).substr(start, end - start)))
			return false;
		start = end + 1;
	}
	peer.buffer.erase(0, start);
	if (peer.buffer.size() <= codec::k_link_line_max)
		return true;
	close(peer, "a line is longer than 16 MiB");
	return false;
}

bool Server::take_line(Peer &peer, std::string_view line)
{
	auto decoded = codec::decode_link(line);
	if (!decoded) {
		close(peer, decoded.error().what.c_str());
		return false;
	}
	if (decoded->seq != peer.last_seq + 1) {
		close(peer, "a line is missing");
		return false;
	}
	peer.last_seq = decoded->seq;
	if (const auto *hello = std::get_if<core::PluginHello>(&decoded->message))
		return take_hello(peer, *hello);
	if (!peer.greeted) {
		close(peer, "the first line is not hello");
		return false;
	}
	if (const auto *refused = std::get_if<codec::Refused>(&decoded->message)) {
		refuse(peer, refused->why);
		return false;
	}
	if (!is_open(peer) && std::holds_alternative<codec::SnapshotBegin>(decoded->message))
		open(peer);
	if (is_open(peer))
		sink_.arrived(std::move(decoded->message));
	return true;
}

bool Server::take_hello(Peer &peer, const core::PluginHello &hello)
{
	if (peer.greeted) {
		close(peer, "hello came twice");
		return false;
	}
	if (const std::string why = why_refused(hello); !why.empty()) {
		refuse(peer, why);
		return false;
	}
	const auto before =
		std::ranges::find_if(newcomers_, [](const auto &other) { return other->greeted; });
	if (before != newcomers_.end())
		close(**before, "a newer plugin has connected");
	peer.greeted = true;
	peer.hello = hello;
	welcome(peer);
	return true;
}

/* The plugin has accepted the welcome. Before, it may refuse this agent, again and again. */
void Server::open(Peer &peer)
{
	if (peer_)
		close(*peer_, "a newer plugin has connected");
	const auto place = std::ranges::find_if(
		newcomers_, [&](const auto &newcomer) { return newcomer.get() == &peer; });
	peer_ = std::move(*place);
	newcomers_.erase(place);
	refusal_.clear();
	log_info("plugin connected slurm=%s plugin=%s cluster=%s", peer.hello.slurm_version.c_str(),
		peer.hello.plugin_version.c_str(), peer.hello.cluster_name.c_str());
	sink_.opened(peer.hello);
}

/* The plugin tries again several times a second. */
void Server::refuse(Peer &peer, const std::string &why)
{
	if (std::exchange(refusal_, why) != why)
		log_error("plugin refused: %s", why.c_str());
	drop(peer);
}

bool Server::is_waiting() const
{
	return std::ranges::any_of(
		newcomers_, [](const auto &newcomer) { return newcomer->greeted; });
}

/* Before the cluster is known, nothing may be done with what the plugin would say. */
void Server::welcome(Peer &peer)
{
	if (!peer.greeted || cluster_uid_.empty())
		return;
	const std::string line = codec::encode_welcome({.protocol = names::k_link_protocol,
					 .agent_version = SLURMKUBE_VERSION,
					 .cluster_uid = cluster_uid_,
					 .knows_hybrids = true}) +
		"\n";
	/* a new socket has room for the line */
	(void)!send(peer.fd.get(), line.data(), line.size(), MSG_NOSIGNAL);
}

void Server::cluster_is(const std::string &cluster_uid)
{
	const std::string before = std::exchange(cluster_uid_, cluster_uid);
	if (before == cluster_uid)
		return;
	if (before.empty()) {
		for (const auto &newcomer : newcomers_)
			welcome(*newcomer);
		return;
	}
	constexpr char why[] = "the API server serves another cluster now";
	begin_again(why);
	while (!newcomers_.empty())
		close(*newcomers_.front(), why);
}

/* Of the others nothing has been taken yet. */
void Server::begin_again(const char *why)
{
	if (peer_)
		close(*peer_, why);
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

void Server::close(Peer &peer, const char *why)
{
	log_warning("plugin disconnected: %s", why);
	drop(peer);
}

void Server::stop_watching(Peer &peer)
{
	loop_.cancel(peer.silence_timer);
	loop_.remove(peer.fd.get());
}

void Server::drop(Peer &peer)
{
	stop_watching(peer);
	if (!is_open(peer)) {
		std::erase_if(
			newcomers_, [&](const auto &newcomer) { return newcomer.get() == &peer; });
		return;
	}
	peer_.reset();
	sink_.closed();
}

} // namespace slurmkube::link
