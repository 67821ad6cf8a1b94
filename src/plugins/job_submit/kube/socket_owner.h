/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * socket_owner.h - the user at the other end of a TCP connection over loopback.
 *
 * The kernel knows the user (sock_diag(7)), as for a Unix socket. The question costs some
 * microseconds and no resource of slurmctld, while verifying credentials costs a request to munged.
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
	/* listener: a listening socket of this process, used to test whether the kernel answers at
	 * all. */
	explicit SocketOwners(int listener);
	[[nodiscard]] bool are_known() const { return works_; }
	/* The user of an accepted connection. Empty: the other end is closed, or the kernel does
	 * not report it. */
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
