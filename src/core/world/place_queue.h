/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place_queue.h - pods that are not submitted since no node may take them, or since another whose
 * place decides about theirs comes first; and when they are looked at again.
 */
#ifndef SLURMKUBE_CORE_WORLD_PLACE_QUEUE_H
#define SLURMKUBE_CORE_WORLD_PLACE_QUEUE_H

#include "src/core/model/now.h"
#include "src/core/model/pod.h"

#include <optional>
#include <set>

namespace slurmkube::core
{

class PlaceQueue
{
      public:
	/* No node may take the pod, or the gang. */
	void add_nowhere(const PodUid &uid) { nowhere_.insert(uid); }
	/* It waits for the node of another which it must not meet. */
	void add_behind(const PodUid &uid) { behind_.insert(uid); }
	[[nodiscard]] bool is_behind(const PodUid &uid) const { return behind_.contains(uid); }
	void leave_behind(const PodUid &uid) { behind_.erase(uid); }
	void forget(const PodUid &uid);

	/* Nodes, or who is on them, are others than they were. */
	void changed() { is_changed_ = true; }
	/* One at a time: each that is submitted wakes the next when it has its answer. */
	std::optional<PodUid> take_behind();
	/* Those whose time has come. */
	std::set<PodUid> take(Now now);

      private:
	std::set<PodUid> nowhere_, behind_;
	bool is_changed_ = false;
	std::int64_t nowhere_next_us_ = 0, behind_next_us_ = 0;
};

} // namespace slurmkube::core

#endif
