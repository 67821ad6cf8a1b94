/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * occupancy.h - the binding gate: what pods really hold on each node, terminating ones included.
 *
 * Slurm frees a job's resources the moment it ends, the containers go on for seconds. A pod is
 * bound only where the kubelet has room. Measured on kubelets (doc/design/architecture.md): a share
 * is free at a terminal phase or at a normal deletion, never earlier; after a forced deletion
 * containers live on, so the share is held for some time more.
 */
#ifndef SLURMKUBE_CORE_PLACEMENT_OCCUPANCY_H
#define SLURMKUBE_CORE_PLACEMENT_OCCUPANCY_H

#include "src/core/model/pod.h"

#include <map>
#include <string>
#include <vector>

namespace slurmkube::core
{

class Occupancy
{
      public:
	/*
	 * The pod holds its requests on this node from now on. Repeating it with others is a resize
	 * in place: what it was bound with counts at least, since a kubelet may be slow to shrink
	 * it. Returns whether what it held has changed.
	 */
	bool take(const std::string &node, const PodUid &pod, const Resources &requests);
	/* Returns whether it held anything. */
	bool release(const std::string &node, const PodUid &pod);

	[[nodiscard]] bool has_room(const std::string &node, const Resources &allocatable,
		const Resources &requests) const;
	[[nodiscard]] Resources held(const std::string &node) const;
	[[nodiscard]] std::vector<PodUid> holders(const std::string &node) const;
	[[nodiscard]] std::size_t pods_on(const std::string &node) const;

      private:
	struct NodeShare {
		Resources sum;
		struct Held {
			/* now: the larger of that and what it asks for now */
			Resources at_binding, now;
		};
		std::map<PodUid, Held> pods; /* sum is always the sum of what they hold now */
	};
	std::map<std::string, NodeShare> nodes_;
};

} // namespace slurmkube::core

#endif
