/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign.h - pods that others placed: DaemonSets, static pods, other schedulers.
 *
 * Slurm knows nothing of them. What they use of a node is taken off its size, and their ports and
 * anti-affinity count like those of our own. Of each only what matters for that is kept, from its
 * binding to its end.
 */
#ifndef SLURMKUBE_CORE_PLACEMENT_FOREIGN_H
#define SLURMKUBE_CORE_PLACEMENT_FOREIGN_H

#include "src/core/placement/placement.h"

#include <set>

namespace slurmkube::core
{

class ForeignPods
{
      public:
	/* Both return the nodes whose share has changed, none or one or two. */
	std::set<std::string> seen(Pod pod);
	std::set<std::string> gone(const PodUid &uid);
	std::set<std::string> listed(const std::set<std::string> &live_uids);

	[[nodiscard]] Holders on(const std::string &node) const;
	/* Requests of all of them there; pods is their number. */
	[[nodiscard]] Resources held(const std::string &node) const;
	/* Those whose anti-affinity may keep others off their node. */
	[[nodiscard]] const std::set<PodUid> &anti_affinity() const { return anti_affinity_; }
	/* Those whose anti-affinity goes by more than the node. */
	[[nodiscard]] const std::set<PodUid> &topology_constrained() const
	{
		return topology_constrained_;
	}
	[[nodiscard]] const std::map<PodUid, Pod> &all() const { return pods_; }

      private:
	std::map<PodUid, Pod> pods_;
	std::map<std::string, std::set<PodUid>> by_node_;
	std::set<PodUid> anti_affinity_, topology_constrained_;
};

/* What is left of a node for Slurm's pods. Never below 0. */
Resources without(const Resources &allocatable, const Resources &used);

} // namespace slurmkube::core

#endif
