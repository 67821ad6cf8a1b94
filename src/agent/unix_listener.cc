/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/unix_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace slurmkube::agent
{

namespace
{

constexpr int k_backlog = 128;

std::string errno_text(int error)
{
	return std::generic_category().message(error);
}

UniqueFd new_socket()
{
	return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool somebody_answers(const sockaddr_un &address)
{
	const UniqueFd probe = new_socket();
	return probe &&
		connect(probe.get(), reinterpret_cast<const sockaddr *>(&address),
			sizeof(address)) == 0;
}

} // namespace

Result<UniqueFd> listen_unix(const std::string &path, mode_t mode)
{
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	if (path.empty() || path.size() >= sizeof(address.sun_path))
		return Error{Errc::invalid,
			"'" + path + "' must have 1 to " +
				std::to_string(sizeof(address.sun_path) - 1) + " bytes"};
	memcpy(address.sun_path, path.c_str(), path.size() + 1);
	if (somebody_answers(address))
		return Error{Errc::conflict,
			"another process listens at " + path + ": is slurmkubed running twice?"};
	(void)unlink(path.c_str()); /* left by a process that is gone; may be absent */
	UniqueFd listener = new_socket();
	if (!listener)
		return Error{Errc::io, "socket: " + errno_text(errno)};
	/* The umask gives the file its permissions from the beginning: with chmod, others could
	 * connect before. */
	const mode_t before = umask(static_cast<mode_t>(~mode & 0777));
	const int rc =
		bind(listener.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address));
	const int bind_error = errno;
	(void)umask(before);
	if (rc != 0)
		return Error{Errc::io,
			"cannot listen at " + path + ": " + errno_text(bind_error) +
				"; does its directory exist?"};
	if (listen(listener.get(), k_backlog) != 0)
		return Error{Errc::io, "cannot listen at " + path + ": " + errno_text(errno)};
	return listener;
}

} // namespace slurmkube::agent
