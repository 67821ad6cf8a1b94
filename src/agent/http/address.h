/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address.h - the address at which the agent serves HTTP: "127.0.0.1:9818" or "[::1]:9818".
 *
 * Only numeric addresses: a name might lead to another interface tomorrow, and looking it up would
 * block the loop.
 */
#ifndef SLURMKUBE_AGENT_HTTP_ADDRESS_H
#define SLURMKUBE_AGENT_HTTP_ADDRESS_H

#include "src/base/owned.h"
#include "src/base/result.h"

#include <string>

#include <sys/socket.h>

namespace slurmkube::http
{

struct Address {
	sockaddr_storage bytes{};
	socklen_t size = 0;
	bool is_loopback = false;
};

/* invalid: text is no numeric address with a port of 1 to 65535. */
Result<Address> parse_address(const std::string &text);

/* A listening TCP socket: non-blocking, close-on-exec. conflict: the port is taken. io: other
 * failures. text is the address as the administrator wrote it, for messages. */
Result<UniqueFd> listen_tcp(const std::string &text);

} // namespace slurmkube::http

#endif
