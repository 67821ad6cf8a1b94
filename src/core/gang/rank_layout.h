/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rank_layout.h - which node of an allocation each task and each pod of a gang has.
 *
 * Pure. Slurm may give more CPUs than the tasks need (exclusive nodes, MaxMemPerCPU, whole
 * sockets), so CPUs alone do not say where its tasks are: a node takes as many as its share of
 * CPUs, memory and devices holds. Where shares are larger than that, tasks lie as Slurm lays out
 * its own (block distribution): numbers as even as can be, ranks side by side in the order of the
 * nodes.
 */
#ifndef SLURMKUBE_CORE_GANG_RANK_LAYOUT_H
#define SLURMKUBE_CORE_GANG_RANK_LAYOUT_H

#include "src/core/gang/shape.h"
#include "src/core/policy/gres.h"

namespace slurmkube::core
{

/*
 * The node of each task: those that are fixed stay where they are, the others fill the nodes in the
 * order given. Empty for a task that finds no place, which means that the allocation is not the one
 * that was asked for. tasks_per_node 0: as many as the share there holds.
 */
std::vector<std::string> nodes_of_tasks(const GangShape &shape,
	const std::vector<NodeAllocation> &nodes, const std::map<std::uint32_t, std::string> &fixed,
	std::uint32_t tasks_per_node = 0, const std::vector<Gres> &gres_of_task = {});

/* A pod that has a place in an allocation, or wants the one of its rank. */
struct Occupant {
	const Resources *requests = nullptr;
	bool is_bound = false;
	std::string node = {}; /* of its task */
};

/*
 * Slurm's word counts: what it has on a node is not given out twice, whatever the shape that was
 * worked out for it, which another agent may have seen otherwise. A pod that is too large for what
 * is left at its task gets another node of the allocation, in their order; where none has room its
 * node is empty then.
 */
void fit_to_shares(std::vector<Occupant> &pods, const std::vector<NodeAllocation> &nodes,
	std::uint32_t cpu_unit, const GresTable &table);

} // namespace slurmkube::core

#endif
