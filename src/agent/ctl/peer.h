/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer.h - who is at the other end of a Unix socket, as the kernel says it (unix(7): SO_PEERCRED,
 * SO_PEERGROUPS), and whose pods and jobs that peer may see.
 *
 * Operators see everything: root, the agent's own user, and members of the socket file's group,
 * which is the agent's. Every other user sees what runs, or would run, as that user in Slurm.
 */
#ifndef SLURMKUBE_AGENT_CTL_PEER_H
#define SLURMKUBE_AGENT_CTL_PEER_H

#include <cstdint>

#include <sys/types.h>

namespace slurmkube::ctl
{

struct Peer {
	std::int64_t user = -1; /* -1: the kernel did not tell */
	bool is_operator = false;

	/* owner: a user id; negative: nobody knows whose it is */
	[[nodiscard]] bool may_see(std::int64_t owner) const
	{
		return is_operator || (owner >= 0 && owner == user);
	}
};

/* The credentials are those at the time of connect(). */
Peer peer_of(int fd, gid_t operators);

} // namespace slurmkube::ctl

#endif
