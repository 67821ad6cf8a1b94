/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * socket_owner.h - which user is at the other end of a TCP connection over loopback.
 *
 * The kernel knows it (sock_diag(7)), as for a Unix socket; it costs some microseconds and nothing
 * of what slurmctld needs, where a look at credentials would cost a request to munged.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SOCKET_OWNER_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SOCKET_OWNER_H

#include "src/base/owned.h"

#include <cstdint>
#include <optional>

#include <netinet/in.h>

namespace slurmkube::plugin
{

class SocketOwners
{
      public:
	/* listener: a socket of ours, by which it is found out whether this kernel answers at
	 * all. */
	explicit SocketOwners(int listener);
	[[nodiscard]] bool are_known() const { return works_; }
	/* Of a connection that we accepted. Nothing: its other end is closed, or the kernel does
	 * not say. */
	[[nodiscard]] std::optional<std::uint32_t> peer_of(int connection);

      private:
	struct Answer {
		std::uint32_t uid, inode;
	};
	bool send_query(const sockaddr_in &theirs, const sockaddr_in &ours);
	[[nodiscard]] std::optional<Answer> ask(const sockaddr_in &theirs, const sockaddr_in &ours);
	UniqueFd fd_;
	std::uint32_t sequence_ = 0;
	bool works_ = false;
};

} // namespace slurmkube::plugin

#endif
