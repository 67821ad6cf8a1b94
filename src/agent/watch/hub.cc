/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/watch/hub.h"

#include "src/codec/json.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <utility>

namespace slurmkube::watch
{

namespace
{

using agent::Clock;

/* An object takes some five microseconds. */
constexpr std::size_t k_looks_at_once = 1000;
/* Bytes and objects for one watcher in one round of the loop. */
constexpr std::size_t k_bytes_at_once = std::size_t{16} * 1024;
constexpr std::size_t k_objects_at_once = 256;
/* Looks take at most this part of the loop's time, once all objects are known. */
constexpr int k_rest_times = 20;
constexpr std::chrono::milliseconds k_longest_pause{2000};

short states_of(const UniqueFd &fd, short wanted)
{
	pollfd one{fd.get(), wanted, 0};
	return poll(&one, 1, 0) == 1 ? one.revents : short{0};
}

/* The kernel says so while at most a quarter of the socket's buffer waits to be read. */
bool has_room(const UniqueFd &fd)
{
	return (states_of(fd, POLLOUT) & POLLOUT) != 0;
}

bool has_hung_up(const UniqueFd &fd)
{
	return (states_of(fd, 0) & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

} // namespace

Hub::Hub(agent::Loop &loop, Source &source, Times times)
    : loop_(loop), source_(source), times_(times)
{
}

Hub::~Hub()
{
	while (!clients_.empty())
		close(clients_.begin()->first, "slurmkubed stops");
	loop_.cancel(next_flush_);
	loop_.cancel(next_tick_);
}

std::string Hub::refusal(const ctl::Peer &peer) const
{
	std::size_t of_user = 0, of_users = 0;
	for (const auto &[watcher, client] : clients_) {
		of_user += client.peer.user == peer.user ? 1U : 0U;
		of_users += client.peer.is_operator ? 0U : 1U;
	}
	if (!peer.is_operator && of_user >= k_watchers_of_user_max)
		return "you have " + std::to_string(of_user) +
			" watches already; end one of them first";
	if (!peer.is_operator && of_users >= k_watchers_of_users_max)
		return "users have " + std::to_string(of_users) +
			" watches already; try again when one of them has ended";
	if (clients_.size() >= k_watchers_max)
		return "slurmkubed serves " + std::to_string(clients_.size()) +
			" watches already; try again when one of them has ended";
	return "";
}

void Hub::serve(UniqueFd connection, Wish wish, const std::string &first)
{
	const ctl::Peer peer = wish.peer;
	if (!std::exchange(is_watched_, true)) {
		source_.keep_changes(true);
		was_ready_ = source_.is_ready();
		last_walk_ = Clock::now();
		next_tick_ = loop_.after(times_.tick, [this] { tick(); });
	}
	const auto watcher = table_.join(std::move(wish));
	if (!watcher)
		return; /* the caller has not asked refusal() */
	Client &client = clients_[*watcher];
	client.fd = std::move(connection);
	client.peer = peer;
	client.moved = Clock::now();
	client.out = first + "\n";
	wait(*watcher, client, true);
	plan();
}

void Hub::changed()
{
	if (is_watched_ && (source_.has_changes() || source_.is_ready() != was_ready_))
		plan();
}

void Hub::plan()
{
	if (next_flush_ != 0)
		return;
	const auto delay = std::max(Clock::duration(0), last_flush_ + pause_ - Clock::now());
	next_flush_ = loop_.after(delay, [this] {
		next_flush_ = 0;
		flush();
	});
}

void Hub::look_at_changes()
{
	Changed changed = source_.take_changes();
	if (changed.is_all)
		table_.begin_walk();
	changed_.merge(changed.objects);
	for (std::size_t i = 0; i < k_looks_at_once && !changed_.empty(); i++) {
		table_.look(*changed_.begin());
		changed_.erase(changed_.begin());
	}
	table_.walk(k_looks_at_once);
}

void Hub::flush()
{
	last_flush_ = Clock::now();
	look_at_changes();
	const auto cost = Clock::now() - last_flush_;
	/* the first watcher waits for all objects */
	pause_ = table_.is_complete()
		? std::clamp<Clock::duration>(cost * k_rest_times, times_.pause, k_longest_pause)
		: cost;
	const bool was_ready = std::exchange(was_ready_, source_.is_ready());
	const bool has_turned = was_ready != was_ready_;
	for (auto client = clients_.begin(); client != clients_.end();) {
		const std::size_t watcher = client->first;
		client->second.is_told_ready &= !has_turned;
		++client; /* it may be dropped */
		pump(watcher);
	}
	if (!changed_.empty() || table_.is_walking())
		plan();
}

/* ---- one watcher ---- */

std::string Hub::alive_line() const
{
	return std::string(R"({"type":"alive","ready":)") + (was_ready_ ? "true" : "false") + "}\n";
}

void Hub::wait(std::size_t watcher, Client &client, bool for_room)
{
	client.waits_for_room = for_room;
	loop_.set(client.fd.get(), for_room ? std::uint32_t{EPOLLOUT} : 0,
		[this, watcher](std::uint32_t) { ready(watcher); });
}

void Hub::ready(std::size_t watcher)
{
	const auto found = clients_.find(watcher);
	if (found == clients_.end())
		return;
	/* the event may belong to an earlier client with this descriptor */
	if (has_hung_up(found->second.fd))
		drop(watcher);
	else
		pump(watcher);
}

void Hub::fill(std::size_t watcher, Client &client)
{
	if (!std::exchange(client.is_told_ready, true))
		client.out += alive_line();
	std::size_t examined_most = k_objects_at_once;
	while (client.out.size() < k_bytes_at_once &&
		table_.next(watcher, examined_most, client.out)) {
	}
}

/* false: the watcher has gone. */
bool Hub::send_some(Client &client)
{
	const ssize_t sent = send(client.fd.get(), client.out.data() + client.sent,
		client.out.size() - client.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0)
		return errno == EAGAIN || errno == EINTR;
	client.sent += static_cast<std::size_t>(sent);
	if (client.sent == client.out.size()) {
		client.out.clear();
		client.sent = 0;
	}
	client.moved = Clock::now();
	return true;
}

/* A watcher without room is not given lines: what changes until it reads is merged. */
void Hub::pump(std::size_t watcher)
{
	Client &client = clients_.at(watcher);
	const auto has_work = [&] {
		return !client.out.empty() || !client.is_told_ready || table_.has_more(watcher);
	};
	if (has_work() && has_room(client.fd)) {
		if (client.out.empty())
			fill(watcher, client);
		if (!client.out.empty() && !send_some(client))
			return drop(watcher);
	}
	if (has_work() == client.waits_for_room)
		return;
	client.moved = Clock::now();
	wait(watcher, client, has_work());
}

/* A line that was sent in part is completed first. */
void Hub::say_last(Client &client, const std::string &reason)
{
	std::string last;
	if (client.sent > 0)
		last = client.out.substr(
			client.sent, client.out.find('\n', client.sent) + 1 - client.sent);
	const codec::Json line = codec::new_object();
	codec::put(line.get(), "type", "closed");
	codec::put(line.get(), "reason", reason);
	last += codec::to_text(line.get()) + "\n";
	/* it does not fit if the watcher's user has made the buffer smaller */
	(void)send(client.fd.get(), last.data(), last.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Hub::close(std::size_t watcher, const std::string &reason)
{
	say_last(clients_.at(watcher), reason);
	drop(watcher);
}

void Hub::drop(std::size_t watcher)
{
	loop_.remove(clients_.at(watcher).fd.get());
	clients_.erase(watcher);
	table_.leave(watcher);
	last_watched_ = Clock::now();
}

/* ---- time ---- */

void Hub::tick()
{
	const Clock::time_point now = Clock::now();
	for (auto client = clients_.begin(); client != clients_.end();) {
		const auto one = client++;
		tick_client(one->first, one->second, now);
	}
	if (now - last_walk_ >= times_.walk && !table_.is_walking()) {
		last_walk_ = now;
		table_.begin_walk();
		plan();
	}
	next_tick_ = 0;
	if (clients_.empty() && now - last_watched_ >= times_.linger)
		rest();
	else
		next_tick_ = loop_.after(times_.tick, [this] { tick(); });
}

void Hub::tick_client(std::size_t watcher, Client &client, Clock::time_point now)
{
	if (client.waits_for_room && now - client.moved >= times_.stall)
		return close(watcher,
			"too slow: nothing was read for " +
				std::to_string(std::chrono::duration_cast<std::chrono::seconds>(
					times_.stall)
						       .count()) +
				" s");
	if (client.waits_for_room || now - client.moved < times_.heartbeat)
		return;
	client.is_told_ready = false;
	pump(watcher);
}

/* Until the next watcher comes. */
void Hub::rest()
{
	is_watched_ = false;
	source_.keep_changes(false);
	changed_.clear();
	table_.clear();
	loop_.cancel(std::exchange(next_flush_, 0));
}

} // namespace slurmkube::watch
