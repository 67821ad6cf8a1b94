/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * occupancy.h - what pods hold on each node, including terminating pods: the check before binding.
 *
 * Slurm frees a job's resources as soon as the job ends, but its containers may run for some more
 * seconds. A pod is bound only where the kubelet has room. As measured on kubelets
 * (doc/design/architecture.md), a share is free when the pod is in a terminal phase or has been
 * deleted normally, and never earlier. After a forced deletion containers continue to run, so the
 * share is held for some more time.
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
	 * The pod holds these requests on this node. A repeated call with other requests is a
	 * resize in place; then the pod holds at least what it was bound with, because a kubelet
	 * may be slow to shrink it. Returns whether a repeated call has changed what the pod holds.
	 */
	bool take(const std::string &node, const PodUid &pod, const Resources &requests);
	/* Returns whether the pod held anything. */
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
			/* now: the larger of at_binding and the current requests */
			Resources at_binding, now;
		};
		std::map<PodUid, Held> pods; /* `sum` is the total of Held::now */
	};
	std::map<std::string, NodeShare> nodes_;
};

} // namespace slurmkube::core

#endif
