/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/sink.h"

#include "src/base/log.h"
#include "src/plugins/job_submit/kube/budget.h"
#include "src/plugins/job_submit/kube/facts.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace slurmkube::plugin
{

namespace
{

/* When slurmctld reconfigures itself (23.11 and later), the old process releases the port within
 * some milliseconds, on a slow machine within a second. */
constexpr std::int64_t k_retry = 30 * k_ms, k_retry_later = 1000 * k_ms,
		       k_trouble_after = 3000 * k_ms;
constexpr int k_backlog = 1024;
constexpr std::size_t k_connections_max = 256;
/* Per turn; each takes about 10 us. So root and SlurmUser are served in between, however many
 * others connect. */
constexpr unsigned k_accepts_max = 64;
constexpr std::int64_t k_partial = 2 * k_ms;
constexpr std::int64_t k_silence = 100 * k_ms; /* no answers for this time after a bad message */
/* Time for the whole message. Slurm sends at once, but on a busy machine its thread may lose the
 * processor between connect() and send(). */
constexpr std::int64_t k_patience = 2000 * k_ms;
constexpr std::int64_t k_patience_unknown = 100 * k_ms; /* if the user is unknown */

/* Reads and discards what has arrived: close() with unread bytes would reset the connection. */
void drain(int fd)
{
	char buffer[16384];
	(void)recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
}

} // namespace

std::string Sink::trouble() const
{
	std::lock_guard lock(mutex_);
	return trouble_;
}

void Sink::set_trouble(std::string what)
{
	std::lock_guard lock(mutex_);
	if (what == trouble_)
		return;
	if (!what.empty())
		log_error("%s", what.c_str());
	trouble_ = std::move(what);
}

UniqueFd Sink::listen_socket()
{
	UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	int one = 1;
	/* a restart must not wait; without this, bind() reports an error */
	(void)setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* do not wait until the previous slurmctld, of the same user, has closed its socket
	 * either */
	(void)setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	sockaddr_in address = {};
	address.sin_family = AF_INET;
	address.sin_port = htons(static_cast<std::uint16_t>(port_));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bool listens = fd &&
		bind(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) ==
			0 &&
		listen(fd.get(), k_backlog) == 0;
	if (listens) {
		log_info("sink listens on 127.0.0.1:%d", port_);
		set_trouble({});
		failing_since_ = 0;
		return fd;
	}
	std::string why = "SinkPort " + std::to_string(port_) + ": " +
		std::strerror(errno); // NOLINT(concurrency-mt-unsafe): glibc's is safe
	if (failing_since_ == 0)
		failing_since_ = now_ns();
	else if (now_ns() - failing_since_ >= k_trouble_after)
		set_trouble(std::move(why));
	return {};
}

void Sink::run()
{
	Thread::go_on(
		stop_, [this] { listen_once(); }, [this] { connections_.clear(); });
	connections_.clear();
}

void Sink::listen_once()
{
	UniqueFd listener = listen_socket();
	if (!listener) {
		stop_.wait(trouble_.empty() ? k_retry : k_retry_later);
		return;
	}
	owners_.emplace(listener.get());
	if (!owners_->are_known())
		log_info("this kernel does not tell whose a connection to the sink is");
	serve(listener);
}

void Sink::serve(const UniqueFd &listener)
{
	while (!stop_.is_set()) {
		wait(listener);
		std::size_t kept = 0;
		for (std::size_t i = 0; i < connections_.size(); i++)
			if (!is_done(connections_[i],
				    polled_[i + 2].revents != 0 || connections_[i].is_partial))
				std::swap(connections_[kept++], connections_[i]);
		connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(kept),
			connections_.end());
		if (polled_[1].revents != 0)
			take_in(listener);
	}
}

/* Waits until something arrives, or a connection's time is over. If there are too many connections,
 * new ones stay in the backlog. */
void Sink::wait(const UniqueFd &listener)
{
	std::int64_t until = INT64_MAX, now = now_ns();
	polled_.clear();
	polled_.push_back({stop_.fd(), POLLIN, 0});
	polled_.push_back(
		{connections_.size() < k_connections_max ? listener.get() : -1, POLLIN, 0});
	for (const Connection &connection : connections_) {
		polled_.push_back({connection.is_partial ? -1 : connection.fd.get(), POLLIN, 0});
		until = std::min(until, connection.is_partial ? now + k_partial : connection.until);
	}
	int timeout = connections_.empty()
		? -1
		: static_cast<int>(std::max<std::int64_t>(until - now, 0) / k_ms) + 1;
	(void)poll(polled_.data(), polled_.size(), timeout);
}

void Sink::take_in(const UniqueFd &listener)
{
	for (unsigned n = 0; n < k_accepts_max && connections_.size() < k_connections_max; n++) {
		UniqueFd fd(
			accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (!fd) {
			if (errno == EMFILE || errno == ENFILE)
				/* otherwise this loop would spin until some descriptor is closed */
				stop_.wait(k_ms);
			return;
		}
		costs_.sink_contacts.fetch_add(1, std::memory_order_relaxed);
		if (!may_speak(fd.get())) {
			costs_.sink_refused.fetch_add(1, std::memory_order_relaxed);
			drain(fd.get());
			continue;
		}
		connections_.push_back({std::move(fd),
			now_ns() + (owners_->are_known() ? k_patience : k_patience_unknown)});
	}
}

bool Sink::may_speak(int connection)
{
	if (!owners_->are_known())
		return true;
	const auto uid = owners_->peer_of(connection);
	return uid && (*uid == 0 || *uid == geteuid());
}

/* A bad message costs a request to munged, which slurmctld itself needs. */
void Sink::answer(int connection)
{
	if (now_ns() < silent_until_)
		return;
	if (!kube_seam_answer(connection) && !owners_->are_known())
		silent_until_ = now_ns() + k_silence;
}

bool Sink::is_done(Connection &connection, bool is_readable)
{
	unsigned char head[KUBE_MESSAGE_HEAD];
	int there = 0;
	bool is_late = now_ns() >= connection.until;
	if (!is_readable && !is_late)
		return false;
	ssize_t n = recv(connection.fd.get(), head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	if (n == static_cast<ssize_t>(sizeof(head))) {
		std::uint32_t length = kube_seam_answerable(head);
		bool is_whole = ioctl(connection.fd.get(), FIONREAD, &there) == 0 &&
			there >= static_cast<int>(length);
		connection.is_partial = length != 0 && !is_whole;
		if (length != 0 && is_whole)
			answer(connection.fd.get());
	} else {
		connection.is_partial = n > 0;
	}
	if (connection.is_partial && !is_late)
		return false;
	drain(connection.fd.get());
	return true;
}

} // namespace slurmkube::plugin
