/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/request.h"

#include "src/base/text.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <system_error>
#include <unistd.h>

namespace slurmkube::skube
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds k_patience{10};
/* 100,000 pods take about 30 MiB */
constexpr std::size_t k_reply_max = std::size_t{256} * 1024 * 1024;

std::string errno_text(int error)
{
	return std::generic_category().message(error);
}

Error unreachable(const std::string &path, int error)
{
	const std::string what = "cannot reach slurmkubed at " + path + ": " + errno_text(error);
	if (error == EACCES || error == EPERM)
		return Error{Errc::denied,
			what +
				"; the site has closed its directory to you: run this as root or "
				"SlurmUser, or join the group that owns the socket"};
	return Error{Errc::io,
		what +
			"; is it running (systemctl status slurmkubed), and is this its "
			"control_socket?"};
}

Result<UniqueFd> connect_to(const std::string &path)
{
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	if (path.empty() || path.size() >= sizeof(address.sun_path))
		return unreachable(path, ENAMETOOLONG);
	memcpy(address.sun_path, path.c_str(), path.size() + 1);
	UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	if (!fd ||
		connect(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) !=
			0)
		return unreachable(path, errno);
	return fd;
}

/* The request is much smaller than a socket's buffer, so that one send() takes all of it. */
bool send_line(const UniqueFd &fd, const std::string &line)
{
	return send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) ==
		static_cast<ssize_t>(line.size());
}

bool wait_readable(const UniqueFd &fd, Clock::time_point deadline)
{
	const auto left =
		std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now())
			.count();
	pollfd watched{fd.get(), POLLIN, 0};
	return left > 0 && poll(&watched, 1, static_cast<int>(left)) == 1;
}

Result<std::string> read_all(const UniqueFd &fd)
{
	const auto deadline = Clock::now() + k_patience;
	std::string all;
	std::array<char, 65536> piece;
	while (all.size() <= k_reply_max) {
		if (!wait_readable(fd, deadline))
			return Error{Errc::io,
				"slurmkubed does not answer: it took the question and said nothing "
				"for 10 s; see its log"};
		const ssize_t got = read(fd.get(), piece.data(), piece.size());
		if (got == 0)
			return all;
		if (got < 0)
			return Error{Errc::io,
				"slurmkubed broke off: " + errno_text(errno) + "; see its log"};
		all.append(piece.data(), static_cast<std::size_t>(got));
	}
	return Error{Errc::too_large, "the reply is longer than 256 MiB"};
}

std::string request_line(const std::string &verb, codec::Json more)
{
	const codec::Json request = more ? std::move(more) : codec::new_object();
	codec::put(request.get(), "verb", verb);
	return codec::to_text(request.get()) + "\n";
}

} // namespace

Result<UniqueFd> send_request(
	const std::string &socket_path, const std::string &verb, codec::Json more)
{
	auto fd = connect_to(socket_path);
	if (fd && !send_line(*fd, request_line(verb, std::move(more))))
		return Error{
			Errc::io, "slurmkubed broke off: " + errno_text(errno) + "; see its log"};
	return fd;
}

Result<codec::Json> ask(const std::string &socket_path, const std::string &verb, codec::Json more)
{
	const auto fd = send_request(socket_path, verb, std::move(more));
	if (!fd)
		return fd.error();
	const auto text = read_all(*fd);
	if (!text)
		return text.error();
	auto reply = codec::parse_json(*text, k_reply_max);
	if (!reply)
		return Error{Errc::io,
			"slurmkubed sent no JSON (" + reply.error().what +
				"); are skube and slurmkubed of one release?"};
	if (!codec::get_bool(reply->get(), "ok"))
		return Error{codec::get_bool(reply->get(), "again") ? Errc::again : Errc::invalid,
			printable(codec::get_string(
				reply->get(), "error", "slurmkubed gave no reason"))};
	return reply;
}

} // namespace slurmkube::skube
