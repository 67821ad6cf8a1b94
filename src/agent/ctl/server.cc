/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/ctl/server.h"

#include "src/agent/unix_listener.h"
#include "src/codec/json.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace slurmkube::ctl
{

namespace
{

constexpr mode_t k_socket_mode = 0660;
constexpr std::chrono::seconds k_deadline{5};
constexpr std::size_t k_read_at_once = 4096;

bool try_again(int error)
{
	return error == EAGAIN || error == EINTR;
}

} // namespace

Server::Server(agent::Loop &loop, Handler handler) : loop_(loop), handler_(std::move(handler)) {}

Server::~Server()
{
	while (!clients_.empty())
		drop(clients_.begin()->first);
	if (!listener_)
		return;
	loop_.remove(listener_.get());
	(void)unlink(path_.c_str()); /* somebody may have removed it; that is fine */
}

Status Server::listen(const std::string &path)
{
	auto listener = agent::listen_unix(path, k_socket_mode);
	if (!listener)
		return in_context("control socket", listener.error());
	listener_ = std::move(listener).value();
	path_ = path;
	watch_listener();
	return Ok{};
}

/* Not while the house is full: the kernel keeps the others waiting. */
void Server::watch_listener()
{
	const std::uint32_t events = clients_.size() < k_clients_max ? EPOLLIN : 0U;
	loop_.set(listener_.get(), events, [this](std::uint32_t) { accept_some(); });
}

void Server::accept_some()
{
	while (clients_.size() < k_clients_max) {
		UniqueFd peer(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
		if (!peer)
			break; /* none left, or it went away again */
		take(std::move(peer));
	}
	watch_listener();
}

void Server::take(UniqueFd peer)
{
	const int fd = peer.get();
	Client &client = clients_[fd];
	client.fd = std::move(peer);
	client.deadline = loop_.after(k_deadline, [this, fd] { drop(fd); });
	loop_.set(fd, EPOLLIN, [this, fd](std::uint32_t) { ready(fd); });
}

void Server::ready(int fd)
{
	const auto found = clients_.find(fd);
	if (found == clients_.end())
		return;
	Client &client = found->second;
	if (client.out.empty() ? read_from(client) : write_to(client))
		drop(fd);
}

bool Server::read_from(Client &client)
{
	std::array<char, k_read_at_once> piece;
	const ssize_t got = read(client.fd.get(), piece.data(), piece.size());
	if (got <= 0)
		return got == 0 || !try_again(errno);
	client.in.append(piece.data(), static_cast<std::size_t>(got));
	const auto end = client.in.find('\n');
	if (end == std::string::npos && client.in.size() <= k_request_max)
		return false;
	answer(client, client.in.substr(0, end));
	return write_to(client);
}

void Server::answer(Client &client, const std::string &line)
{
	auto request = codec::parse_json(line, k_request_max);
	if (!request)
		client.out = error_reply(request.error().what);
	else if (!json_object_is_type(request->get(), json_type_object))
		client.out = error_reply("a request is a JSON object");
	else
		client.out = handler_(request->get());
	client.out += '\n';
}

bool Server::write_to(Client &client)
{
	const ssize_t sent = send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
	if (sent < 0 && !try_again(errno))
		return true;
	client.out.erase(0, sent > 0 ? static_cast<std::size_t>(sent) : 0);
	if (client.out.empty())
		return true;
	const int fd = client.fd.get();
	loop_.set(fd, EPOLLOUT, [this, fd](std::uint32_t) { ready(fd); });
	return false;
}

void Server::drop(int fd)
{
	const auto found = clients_.find(fd);
	if (found == clients_.end())
		return;
	loop_.remove(fd);
	loop_.cancel(found->second.deadline);
	const bool was_full = clients_.size() == k_clients_max;
	clients_.erase(found);
	if (was_full && listener_)
		watch_listener();
}

std::string error_reply(const std::string &sentence)
{
	const codec::Json reply = codec::new_object();
	codec::put(reply.get(), "ok", false);
	codec::put(reply.get(), "error", sentence);
	return codec::to_text(reply.get());
}

} // namespace slurmkube::ctl
