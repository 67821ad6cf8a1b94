/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>

namespace slurmkube::http
{

namespace
{

constexpr int k_backlog = 32;

/* 0: it is none. */
std::uint16_t port_of(std::string_view text)
{
	unsigned port = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
	if (error != std::errc{} || end != text.data() + text.size() || port == 0 || port > 65535)
		return 0;
	return static_cast<std::uint16_t>(port);
}

bool take_v4(const std::string &host, std::uint16_t port, Address &out)
{
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_port = htons(port);
	if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
		return false;
	memcpy(&out.bytes, &address, sizeof(address));
	out.size = sizeof(address);
	out.is_loopback = (ntohl(address.sin_addr.s_addr) >> 24) == 127;
	return true;
}

bool take_v6(const std::string &host, std::uint16_t port, Address &out)
{
	sockaddr_in6 address{};
	address.sin6_family = AF_INET6;
	address.sin6_port = htons(port);
	if (inet_pton(AF_INET6, host.c_str(), &address.sin6_addr) != 1)
		return false;
	memcpy(&out.bytes, &address, sizeof(address));
	out.size = sizeof(address);
	out.is_loopback = memcmp(&address.sin6_addr, &in6addr_loopback, sizeof(in6_addr)) == 0;
	return true;
}

Error io_error(const std::string &text, int error)
{
	return {error == EADDRINUSE ? Errc::conflict : Errc::io,
		"cannot listen at " + text + ": " + std::generic_category().message(error)};
}

} // namespace

Result<Address> parse_address(const std::string &text)
{
	const auto colon = text.rfind(':');
	const std::uint16_t port =
		colon == std::string::npos ? 0 : port_of(std::string_view(text).substr(colon + 1));
	const std::string host = text.substr(0, colon);
	const bool is_v6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
	Address address;
	if (port != 0 &&
		(is_v6 ? take_v6(host.substr(1, host.size() - 2), port, address)
		       : take_v4(host, port, address)))
		return address;
	return Error{Errc::invalid,
		"'" + text +
			"' is not a numeric address with a port, as in 127.0.0.1:9818 or "
			"[::1]:9818"};
}

Result<UniqueFd> listen_tcp(const std::string &text)
{
	const auto address = parse_address(text);
	if (!address)
		return address.error();
	UniqueFd listener(
		socket(address->bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (!listener)
		return io_error(text, errno);
	/* connections of the agent before a restart may be in TIME_WAIT */
	const int on = 1;
	(void)setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener.get(), reinterpret_cast<const sockaddr *>(&address->bytes),
		    address->size) != 0 ||
		listen(listener.get(), k_backlog) != 0)
		return io_error(text, errno);
	return listener;
}

} // namespace slurmkube::http
