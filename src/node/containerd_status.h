/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containerd_status.h - what containerd has written of a container, for an epilog that waits for
 * one whose start may have failed: containerd tells no plugin that runc could not start a program.
 *
 * The file is read because a question would cost more: an NRI plugin that connects makes all work
 * on containers wait until stops that have begun are over, which takes grace periods. Reads only
 * what says that the container will not start; anything else means that it is not known. Source:
 * containerd 2.2 and 2.4, internal/cri/store/container/status.go, internal/cri/server/
 * container_start.go.
 */
#ifndef SLURMKUBE_NODE_CONTAINERD_STATUS_H
#define SLURMKUBE_NODE_CONTAINERD_STATUS_H

#include <filesystem>
#include <string>

namespace slurmkube::node
{

class ContainerdStatus
{
      public:
	ContainerdStatus() = default; /* knows nothing */
	/* root: of containerd's configuration. */
	explicit ContainerdStatus(std::filesystem::path root) : root_(std::move(root)) {}

	/* Whether the container has ended, or could not be started, so that containerd will not
	 * start it. It may have processes. */
	[[nodiscard]] bool has_ended(const std::string &container) const;

      private:
	std::filesystem::path root_;
};

} // namespace slurmkube::node

#endif
