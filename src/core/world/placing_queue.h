/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placing_queue.h - pods that are not submitted, because no node may take them or because a pod on
 * which their placement depends comes first; and when these pods are looked at again.
 */
#ifndef SLURMKUBE_CORE_WORLD_PLACING_QUEUE_H
#define SLURMKUBE_CORE_WORLD_PLACING_QUEUE_H

#include "src/core/model/now.h"
#include "src/core/model/pod.h"

#include <optional>
#include <set>

namespace slurmkube::core
{

class PlacingQueue
{
      public:
	/* No node may take the pod or the gang at present. */
	void add_unschedulable(const PodUid &uid) { unschedulable_.insert(uid); }
	/* The pod waits for the node of another pod, which it must not meet. */
	void add_waiting_for_peer(const PodUid &uid) { waiting_for_peer_.insert(uid); }
	[[nodiscard]] bool is_waiting_for_peer(const PodUid &uid) const
	{
		return waiting_for_peer_.contains(uid);
	}
	void leave_peer(const PodUid &uid) { waiting_for_peer_.erase(uid); }
	void forget(const PodUid &uid);

	/* Nodes have changed, or the pods on them. */
	void changed() { is_changed_ = true; }
	/* Only one at a time: when slurmctld has answered its submission, the next one is taken. */
	std::optional<PodUid> take_waiting_for_peer();
	/* Those that have to be looked at again at that time. */
	std::set<PodUid> take(Now now);

      private:
	std::set<PodUid> unschedulable_, waiting_for_peer_;
	bool is_changed_ = false;
	std::int64_t unschedulable_next_us_ = 0, peer_next_us_ = 0;
};

} // namespace slurmkube::core

#endif
