/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer_index.h - which of our pods have constraints on other pods: affinity, anti-affinity,
 * topology spread or host ports. Knows no store.
 */
#ifndef SLURMKUBE_CORE_WORLD_PEER_INDEX_H
#define SLURMKUBE_CORE_WORLD_PEER_INDEX_H

#include "src/core/model/pod.h"

#include <set>

namespace slurmkube::core
{

class PeerIndex
{
      public:
	void note(const Pod &pod);
	void forget(const PodUid &uid);

	/* Pods with constraints on other pods. */
	[[nodiscard]] const std::set<PodUid> &constrained() const { return constrained_; }
	[[nodiscard]] bool is_constrained(const PodUid &uid) const
	{
		return constrained_.contains(uid);
	}
	/* Pods whose anti-affinity may exclude others from their node; and those for which it may
	 * exclude others from a zone or the like. */
	[[nodiscard]] const std::set<PodUid> &anti_affinity() const { return anti_affinity_; }
	[[nodiscard]] const std::set<PodUid> &topology_constrained() const
	{
		return topology_constrained_;
	}

      private:
	std::set<PodUid> constrained_, anti_affinity_, topology_constrained_;
};

} // namespace slurmkube::core

#endif
