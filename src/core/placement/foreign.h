/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign.h - pods that Slurm did not place: pods of DaemonSets, static pods, and pods of other
 * schedulers.
 *
 * Slurm does not know these pods. What they use of a node is subtracted from the node's size in
 * Slurm, and their ports and anti-affinity count like those of Slurm's pods. A pod is stored from
 * its binding to its end, with only the fields that matter for this.
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
	/* These return the nodes whose share for foreign pods has changed. */
	std::set<std::string> seen(Pod pod);
	std::set<std::string> gone(const PodUid &uid);
	std::set<std::string> listed(const std::set<std::string> &live_uids);

	[[nodiscard]] Holders on(const std::string &node) const;
	/* The sum of their requests on the node; `pods` is their number. */
	[[nodiscard]] Resources held(const std::string &node) const;
	/* Pods whose anti-affinity may keep others off their node. */
	[[nodiscard]] const std::set<PodUid> &anti_affinity() const { return anti_affinity_; }
	/* Pods whose anti-affinity has a topology larger than a node. */
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

/* What remains of a node for pods that Slurm places. Never below 0. */
Resources without(const Resources &allocatable, const Resources &used);

} // namespace slurmkube::core

#endif
