/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/link.h"

#include "src/base/log.h"
#include "src/core/model/names.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace slurmkube::plugin
{

namespace
{

constexpr std::int64_t k_stats_every = 5000 * k_ms;
constexpr std::int64_t k_wait_after_refusal = 1000 * k_ms;
constexpr std::int64_t k_wait_for_picture = 20 * k_ms;
constexpr std::size_t k_write_at = 64 * 1024;
constexpr std::size_t k_input_max = 4096; /* the agent sends one short line */
constexpr int k_look_up_ms = 100;         /* how soon a blocked write notices a dropped queue */
constexpr std::int64_t k_ns_in_us = 1000;
constexpr std::int64_t k_alive_every = 250 * k_ms;
constexpr char k_no_control[] = "this slurmctld is not in control any more";

std::string failure(const char *what)
{
	return std::string(what) + ": " +
		std::strerror(
			errno); // NOLINT(concurrency-mt-unsafe): glibc's is safe for known numbers
}

} // namespace

Link::Link(Setup setup, FeedReader &feed, Costs &costs, const Stop &stop)
    : setup_(std::move(setup)), feed_(feed), costs_(costs), stop_(stop)
{
}

/* A missing agent is normal, so each change is logged once. */
void Link::report(const std::string &what)
{
	if (what == last_report_)
		return;
	log_info("link to %s: %s", setup_.socket.c_str(), what.c_str());
	last_report_ = what;
}

Status Link::check_peer(int fd) const
{
	ucred peer = {};
	socklen_t length = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
		return Error{Errc::io, failure("SO_PEERCRED")};
	if (peer.uid != 0 && peer.uid != setup_.slurm_user)
		return Error{Errc::denied,
			"the listener runs as uid " + std::to_string(peer.uid) +
				", which is neither root nor SlurmUser"};
	return Ok{};
}

Result<UniqueFd> Link::connect() const
{
	UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (!fd)
		return Error{Errc::io, failure("socket")};
	sockaddr_un address = {};
	address.sun_family = AF_UNIX;
	setup_.socket.copy(address.sun_path, sizeof(address.sun_path) - 1);
	if (::connect(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
		return Error{Errc::again, failure("no agent")};
	Status peer = check_peer(fd.get());
	if (!peer)
		return peer.error();
	return fd;
}

void Link::run()
{
	Thread::go_on(
		stop_, [this] { connect_once(); },
		[this] {
			feed_.close();
			fd_.reset();
		});
}

void Link::connect_once()
{
	if (!feed_.is_complete()) {
		stop_.wait(k_wait_for_picture, &feed_.changed());
		return;
	}
	auto fd = connect();
	const bool is_served = fd.ok();
	std::string why = is_served ? serve(std::move(*fd)) : fd.error().what;
	if (!stop_.is_set())
		report(why);
	/* An agent that refuses us would get the whole snapshot again and again. */
	if (is_served && !welcomed_ && !stop_.wait(k_wait_after_refusal))
		return;
	random_ = random_ * 1664525U + 1013904223U; /* Knuth's constants; only spreads reconnects */
	stop_.wait(backoff_.next(random_ >> 8U));
}

std::string Link::serve(UniqueFd fd)
{
	costs_.reconnects.fetch_add(1, std::memory_order_relaxed);
	fd_ = std::move(fd);
	seq_ = 0;
	stats_at_ = now_ns();
	welcomed_ = false;
	out_.clear();
	in_.clear();
	told_ = setup_.hello();
	std::string why = send(told_);
	if (why.empty())
		why = flush();
	while (why.empty())
		why = wait_and_send();
	feed_.close();
	fd_.reset();
	return why;
}

std::string Link::send(const codec::LinkMessage &message)
{
	out_ += codec::encode_link(++seq_, message);
	out_ += '\n';
	return out_.size() < k_write_at ? std::string() : flush();
}

std::string Link::send_snapshot(const codec::Welcome &welcome)
{
	const auto snapshot = feed_.open(welcome.cluster_uid, welcome.knows_hybrids);
	if (!snapshot)
		return snapshot.error().code == Errc::conflict ? refuse(snapshot.error().what)
							       : snapshot.error().what;
	welcomed_ = true;
	stats_at_ = 0;
	return send_all(*snapshot);
}

/* The reason goes to both logs. */
std::string Link::refuse(const std::string &why)
{
	welcomed_ = false;
	(void)send(codec::Refused{why});
	(void)flush();
	return why;
}

std::string Link::send_all(const std::vector<codec::LinkMessage> &messages)
{
	for (const codec::LinkMessage &message : messages) {
		std::string why = send(message);
		if (!why.empty())
			return why;
	}
	return flush();
}

/* Waits while the agent is slow: the feed's queue is bounded, and ends the wait when it is
 * dropped. */
std::string Link::flush()
{
	std::size_t done = 0;
	while (done < out_.size()) {
		ssize_t n = ::send(fd_.get(), out_.data() + done, out_.size() - done, MSG_NOSIGNAL);
		if (n > 0) {
			done += static_cast<std::size_t>(n);
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return failure("write");
		pollfd fds[] = {{fd_.get(), POLLOUT, 0}, {stop_.fd(), POLLIN, 0}};
		(void)poll(fds, 2, k_look_up_ms);
		if (stop_.is_set())
			return "stopped";
		if (feed_.is_dropped()) {
			costs_.queue_drops.fetch_add(1, std::memory_order_relaxed);
			return "the agent reads too slowly: queue dropped";
		}
	}
	out_.clear();
	return {};
}

/* The feed may be late: it learns of a loss of control from the keeper, which may be waiting for a
 * lock while the next controller begins. */
std::string Link::wait_and_send()
{
	std::int64_t now = now_ns();
	if (!setup_.is_in_control())
		return k_no_control;
	if (now - stats_at_ >= k_stats_every) {
		stats_at_ = now;
		if (setup_.hello() != told_)
			return "what the greeting said of kube.conf, the sink or PrologSlurmctld "
			       "has changed";
		std::string why = send(setup_.stats());
		if (why.empty())
			why = flush();
		if (!why.empty())
			return why;
	}
	if (welcomed_ && now - alive_at_ >= k_alive_every) {
		alive_at_ = now;
		std::string why = send_all({codec::Alive{now / k_ns_in_us}});
		if (!why.empty())
			return why;
	}
	constexpr int timeout = k_alive_every / k_ms;
	pollfd fds[] = {
		{fd_.get(), POLLIN, 0}, {stop_.fd(), POLLIN, 0}, {feed_.changed().fd(), POLLIN, 0}};
	(void)poll(fds, 3, timeout);
	if (stop_.is_set())
		return "stopped";
	if (fds[0].revents != 0) {
		std::string why = read_input();
		if (!why.empty())
			return why;
	}
	feed_.changed().clear();
	std::vector<codec::LinkMessage> messages;
	if (!welcomed_)
		return {};
	return feed_.take(messages) ? send_all(messages) : why_not_taken();
}

std::string Link::why_not_taken()
{
	if (const std::string refusal = feed_.refusal(); !refusal.empty())
		return refuse(refusal);
	if (!feed_.is_dropped())
		return k_no_control;
	costs_.queue_drops.fetch_add(1, std::memory_order_relaxed);
	return "the agent reads too slowly: queue dropped";
}

std::string Link::read_input()
{
	char buffer[1024];
	ssize_t n = recv(fd_.get(), buffer, sizeof(buffer), 0);
	if (n == 0)
		return "the agent closed";
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? std::string() : failure("read");
	in_.append(buffer, static_cast<std::size_t>(n));
	std::string why;
	for (std::size_t end; why.empty() && (end = in_.find('\n')) != std::string::npos;
		in_.erase(0, end + 1))
		why = take_line(std::string_view(in_).substr(0, end));
	return why.empty() && in_.size() > k_input_max ? "the agent talks too much" : why;
}

/* Lines after the welcome come from a newer agent and are ignored. */
std::string Link::take_line(std::string_view line)
{
	if (welcomed_)
		return {};
	auto welcome = codec::decode_welcome(line);
	if (!welcome)
		return welcome.error().what;
	if (welcome->protocol != names::k_link_protocol)
		return "the agent speaks protocol " + std::to_string(welcome->protocol);
	std::string why = send_snapshot(*welcome);
	if (!welcomed_)
		return why;
	backoff_.reset();
	report("connected to agent " + welcome->agent_version +
		(welcome->knows_hybrids ? "" : ", which is older and gets no hybrid nodes"));
	return why;
}

} // namespace slurmkube::plugin
