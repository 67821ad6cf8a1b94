/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hybrid_nodes.h - nodes that native jobs and pods use at the same time.
 *
 * Slurm keeps giving them to native jobs, whatever Kubernetes says, so they are never drained for
 * pods: the jobs of pods exclude them. Pure; views of State only.
 */
#ifndef SLURMKUBE_CORE_WORLD_HYBRID_NODES_H
#define SLURMKUBE_CORE_WORLD_HYBRID_NODES_H

#include "src/core/placement/placement.h"
#include "src/core/world/state.h"

namespace slurmkube::core
{

/* Why the pod may not run on this hybrid node; nullopt: it may, or the node is not hybrid. node:
 * nullptr: Kubernetes does not have it. */
std::optional<Refusal> hybrid_refuses(
	const State &state, const Pod &pod, const KubeNode *node, const SlurmNode &record);

/* What the job has on the node, in MiB. 0: the node is not hybrid, or Slurm does not count
 * memory. */
std::uint64_t memory_share(const State &state, const SlurmJob &job, const std::string &node);

} // namespace slurmkube::core

#endif
