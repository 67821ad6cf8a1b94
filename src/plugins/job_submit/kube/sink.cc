/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/sink.h"

#include "src/base/log.h"
#include "src/plugins/job_submit/kube/pace.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace slurmkube::plugin
{

namespace
{

constexpr std::int64_t k_retry = 2000 * k_ms;
constexpr int k_backlog = 1024;
constexpr int k_patience_ms = 2; /* for the message's first bytes; Slurm sends at once */

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
	(void)setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)); /* a restart must not wait; without it bind says so */
	sockaddr_in address = {};
	address.sin_family = AF_INET;
	address.sin_port = htons(static_cast<std::uint16_t>(port_));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bool listens = fd && bind(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0 && listen(fd.get(), k_backlog) == 0;
	if (listens) {
		log_info("sink listens on 127.0.0.1:%d", port_);
		set_trouble({});
		return fd;
	}
	set_trouble("SinkPort " + std::to_string(port_) + ": " + std::strerror(errno)); // NOLINT(concurrency-mt-unsafe): glibc's is safe
	return {};
}

void Sink::run()
{
	while (!stop_.is_set()) {
		UniqueFd listener = listen_socket();
		if (listener)
			serve(listener);
		else
			stop_.wait(k_retry);
	}
}

void Sink::serve(const UniqueFd &listener)
{
	while (!stop_.is_set()) {
		pollfd fds[] = {{listener.get(), POLLIN, 0}, {stop_.fd(), POLLIN, 0}};
		(void)poll(fds, 2, -1);
		if (fds[0].revents == 0)
			continue;
		UniqueFd connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (connection)
			swallow(connection);
		else if (errno == EMFILE || errno == ENFILE)
			stop_.wait(k_ms); /* or this loop would spin until somebody closes something */
	}
}

void Sink::swallow(const UniqueFd &connection)
{
	char buffer[16384];
	pollfd fds[] = {{connection.get(), POLLIN, 0}};
	costs_.sink_contacts.fetch_add(1, std::memory_order_relaxed);
	if (poll(fds, 1, k_patience_ms) > 0)
		(void)recv(connection.get(), buffer, sizeof(buffer), 0); /* what it says does not matter */
}

} // namespace slurmkube::plugin
