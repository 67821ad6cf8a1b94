/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/socket_owner.h"

#include <cstring>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <unistd.h>

namespace slurmkube::plugin
{

namespace
{

bool address_of(int fd, bool of_peer, sockaddr_in &address)
{
	socklen_t size = sizeof(address);
	auto *generic = reinterpret_cast<sockaddr *>(&address);
	const int failed =
		of_peer ? getpeername(fd, generic, &size) : getsockname(fd, generic, &size);
	return failed == 0 && address.sin_family == AF_INET;
}

} // namespace

SocketOwners::SocketOwners(int listener)
    : fd_(socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG))
{
	sockaddr_in ours = {}, nobody = {};
	const auto owner = address_of(listener, false, ours) ? ask(ours, nobody) : std::nullopt;
	works_ = owner && owner->uid == geteuid();
}

bool SocketOwners::send_query(const sockaddr_in &theirs, const sockaddr_in &ours)
{
	struct {
		nlmsghdr header;
		inet_diag_req_v2 wanted;
	} query = {};
	query.header.nlmsg_len = sizeof(query);
	query.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	query.header.nlmsg_flags = NLM_F_REQUEST;
	query.header.nlmsg_seq = ++sequence_;
	query.wanted.sdiag_family = AF_INET;
	query.wanted.sdiag_protocol = IPPROTO_TCP;
	query.wanted.idiag_states = ~0U;
	query.wanted.id.idiag_sport = theirs.sin_port;
	query.wanted.id.idiag_dport = ours.sin_port;
	query.wanted.id.idiag_src[0] = theirs.sin_addr.s_addr;
	query.wanted.id.idiag_dst[0] = ours.sin_addr.s_addr;
	query.wanted.id.idiag_cookie[0] = query.wanted.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	return fd_ &&
		send(fd_.get(), &query, sizeof(query), 0) == static_cast<ssize_t>(sizeof(query));
}

std::optional<SocketOwners::Answer> SocketOwners::ask(
	const sockaddr_in &theirs, const sockaddr_in &ours)
{
	if (!send_query(theirs, ours))
		return std::nullopt;
	/* The kernel has answered when send() returns; an answer to an earlier query has another
	 * sequence number. */
	alignas(nlmsghdr) char buffer[4096];
	for (ssize_t n = 0; (n = recv(fd_.get(), buffer, sizeof(buffer), MSG_DONTWAIT)) > 0;) {
		nlmsghdr header = {};
		inet_diag_msg found = {};
		if (n < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(found))))
			continue;
		std::memcpy(&header, buffer, sizeof(header));
		std::memcpy(&found, buffer + NLMSG_HDRLEN, sizeof(found));
		if (header.nlmsg_seq == sequence_ && header.nlmsg_type == SOCK_DIAG_BY_FAMILY)
			return Answer{found.idiag_uid, found.idiag_inode};
	}
	return std::nullopt;
}

/* A closed socket has no inode, and the kernel reports root as its owner. */
std::optional<std::uint32_t> SocketOwners::peer_of(int connection)
{
	sockaddr_in theirs = {}, ours = {};
	if (!address_of(connection, true, theirs) || !address_of(connection, false, ours))
		return std::nullopt;
	const auto answer = ask(theirs, ours);
	return answer && answer->inode != 0 ? std::optional(answer->uid) : std::nullopt;
}

} // namespace slurmkube::plugin
