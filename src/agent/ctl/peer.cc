/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/ctl/peer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <vector>

namespace slurmkube::ctl
{

namespace
{

/* The kernel's limit is NGROUPS_MAX, 65,536; it says how many there are if they do not fit. */
std::vector<gid_t> groups_of(int fd)
{
	std::vector<gid_t> groups(64);
	socklen_t size = 0;
	int failed = 0;
	do {
		size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
		failed = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size);
		if (failed != 0 && errno != ERANGE)
			return {};
		groups.resize(size / sizeof(gid_t));
	} while (failed != 0);
	return groups;
}

} // namespace

Peer peer_of(int fd, gid_t operators)
{
	ucred who{};
	socklen_t size = sizeof(who);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
		return {};
	const bool is_operator = who.uid == 0 || who.uid == geteuid() || who.gid == operators ||
		std::ranges::count(groups_of(fd), operators) > 0;
	return {.user = who.uid, .is_operator = is_operator};
}

} // namespace slurmkube::ctl
