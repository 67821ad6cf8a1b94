/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/ctl/server.h"

#include "src/agent/unix_listener.h"
#include "src/base/text.h"
#include "src/codec/json.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace slurmkube::ctl
{

namespace
{

constexpr mode_t k_socket_mode = 0666;
constexpr std::chrono::seconds k_deadline{5};
constexpr std::size_t k_read_at_once = 4096;
constexpr unsigned k_accepts_at_once = 16;
constexpr char k_too_often[] =
	"you have asked too often: 20 questions at once and 2 per second are "
	"answered; ask again in a few seconds";

std::size_t clients_most(const Peer &peer)
{
	return peer.is_operator ? k_clients_of_operator_max : k_clients_of_user_max;
}

bool has_hung_up(const UniqueFd &peer)
{
	pollfd one{peer.get(), 0, 0};
	return poll(&one, 1, 0) == 1;
}

codec::Json error_object(const std::string &sentence)
{
	codec::Json reply = codec::new_object();
	codec::put(reply.get(), "ok", false);
	codec::put(reply.get(), "error", sentence);
	return reply;
}

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
	(void)unlink(path_.c_str()); /* fails if the file has been removed, which is fine */
}

Status Server::listen(const std::string &path)
{
	auto listener = agent::listen_unix(path, k_socket_mode);
	if (!listener)
		return in_context("control socket", listener.error());
	struct stat file {
	};
	if (stat(path.c_str(), &file) != 0)
		return Error{Errc::io,
			"control socket: " + path + ": " + std::generic_category().message(errno)};
	operators_ = file.st_gid;
	listener_ = std::move(listener).value();
	path_ = path;
	loop_.set(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_some(); });
	return Ok{};
}

/* Accepts a few clients at a time, so that those already accepted get their turn. */
void Server::accept_some()
{
	for (unsigned i = 0; i < k_accepts_at_once; i++) {
		UniqueFd peer(
			accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
		if (!peer)
			return; /* no more clients, or the client has gone */
		take(std::move(peer));
	}
}

/* Drops the client that has been silent longest, one of the same user first, if there is no room
 * for another. A client whose request has arrived is not dropped, and an operator's only for an
 * operator. false: there is no room. */
bool Server::make_room(const Peer &peer)
{
	std::size_t of_user = 0, of_users = 0;
	const Client *silent = nullptr, *silent_of_user = nullptr;
	const auto prefer = [](const Client *&chosen, const Client &client) {
		if (!chosen || client.number < chosen->number)
			chosen = &client;
	};
	for (const auto &[fd, client] : clients_) {
		of_user += client.peer.user == peer.user ? 1 : 0;
		of_users += client.peer.is_operator ? 0 : 1;
		if (!client.asked && client.peer.user == peer.user)
			prefer(silent_of_user, client);
		if (!client.asked && (peer.is_operator || !client.peer.is_operator))
			prefer(silent, client);
	}
	const bool user_is_full = of_user >= clients_most(peer);
	if (!user_is_full && clients_.size() < k_clients_max &&
		(peer.is_operator || of_users < k_clients_of_users_max))
		return true;
	const Client *leaves = user_is_full || silent_of_user ? silent_of_user : silent;
	if (leaves)
		drop(leaves->fd.get());
	return leaves != nullptr;
}

void Server::take(UniqueFd peer)
{
	const int fd = peer.get();
	const Peer who = peer_of(fd, operators_);
	if (!make_room(who))
		return; /* the destructor closes the connection */
	Client &client = clients_[fd];
	client.fd = std::move(peer);
	client.peer = who;
	client.number = ++last_number_;
	client.deadline = loop_.after(k_deadline, [this, fd] { drop(fd); });
	loop_.set(fd, EPOLLIN, [this, fd](std::uint32_t) { ready(fd); });
	/* The request has usually arrived with the connection, and must not wait for further
	 * clients. */
	ready(fd);
}

void Server::ready(int fd)
{
	const auto found = clients_.find(fd);
	if (found == clients_.end())
		return;
	Client &client = found->second;
	if (client.asked && client.out.empty()) {
		/* the event may belong to an earlier client with this descriptor */
		if (has_hung_up(client.fd))
			drop(fd);
	} else if (client.asked ? write_to(client) : read_from(client)) {
		drop(fd);
	}
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
	queue(client, client.in.substr(0, end));
	return false;
}

void Server::queue(Client &client, std::string line)
{
	const int fd = client.fd.get();
	client.asked = true;
	client.in = std::move(line);
	/* Here, because whoever hangs up before the answer has asked, too. */
	client.is_too_often =
		!client.peer.is_operator && !rates_.take(client.peer.user, agent::now().mono_us);
	/* ignore further input; epoll still reports that the client hangs up */
	loop_.set(fd, 0, [this, fd](std::uint32_t) { ready(fd); });
	queue_.emplace_back(fd, client.number);
	if (queue_.size() == 1)
		loop_.post([this, alive = std::weak_ptr(alive_)] {
			if (!alive.expired())
				answer_next();
		});
}

/* One answer per round of the loop. Those who have hung up take no round: otherwise one user could
 * make the queue longer without end. */
void Server::answer_next()
{
	Client *next = nullptr;
	while (!next && !queue_.empty()) {
		const auto [fd, number] = queue_.front();
		queue_.pop_front();
		const auto found = clients_.find(fd);
		if (found != clients_.end() && found->second.number == number)
			next = &found->second;
	}
	if (!queue_.empty())
		loop_.post([this, alive = std::weak_ptr(alive_)] {
			if (!alive.expired())
				answer_next();
		});
	if (next)
		answer(*next);
}

/* The reply is always delivered in the loop's next round, so that there is one path for immediate
 * and for late replies. */
void Server::answer(Client &client)
{
	const int fd = client.fd.get();
	const std::string line = std::exchange(client.in, {});
	const Reply reply = [this, fd, number = client.number, alive = std::weak_ptr(alive_)](
				    std::string text) {
		/* json-c escapes neither DEL nor C1, and takes what is not UTF-8 */
		make_printable(text.data(), text.size());
		if (!alive.expired())
			loop_.post([this, fd, number, alive, text = std::move(text)] {
				if (!alive.expired())
					deliver(fd, number, text);
			});
	};
	if (client.is_too_often)
		return reply(error_reply(k_too_often));
	auto request = codec::parse_json(line, k_request_max);
	if (!request)
		reply(error_reply(request.error().what));
	else if (!json_object_is_type(request->get(), json_type_object))
		reply(error_reply("a request is a JSON object"));
	else
		/* the client may be taken */
		handler_(request->get(), Peer(client.peer), reply,
			[this, fd] { return release(fd); });
}

void Server::deliver(int fd, std::uint64_t number, std::string text)
{
	const auto found = clients_.find(fd);
	if (found == clients_.end() || found->second.number != number || !found->second.out.empty())
		return;
	found->second.out = std::move(text) + "\n";
	if (write_to(found->second))
		drop(fd);
}

bool Server::write_to(Client &client)
{
	const ssize_t sent = send(client.fd.get(), client.out.data() + client.sent,
		client.out.size() - client.sent, MSG_NOSIGNAL);
	if (sent < 0 && !try_again(errno))
		return true;
	client.sent += sent > 0 ? static_cast<std::size_t>(sent) : 0;
	if (client.sent == client.out.size())
		return true;
	const int fd = client.fd.get();
	loop_.set(fd, EPOLLOUT, [this, fd](std::uint32_t) { ready(fd); });
	return false;
}

void Server::drop(int fd)
{
	(void)release(fd);
}

UniqueFd Server::release(int fd)
{
	const auto found = clients_.find(fd);
	if (found == clients_.end())
		return {};
	loop_.remove(fd);
	loop_.cancel(found->second.deadline);
	UniqueFd connection = std::move(found->second.fd);
	clients_.erase(found);
	return connection;
}

std::string error_reply(const std::string &sentence)
{
	return codec::to_text(error_object(sentence).get());
}

std::string again_reply(const std::string &sentence)
{
	const codec::Json reply = error_object(sentence);
	codec::put(reply.get(), "again", true);
	return codec::to_text(reply.get());
}

} // namespace slurmkube::ctl
