/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rank_layout.h - assigns the tasks and pods of a gang to the nodes of its allocation.
 *
 * Pure. Slurm may allocate more CPUs than the tasks need (exclusive nodes, MaxMemPerCPU, whole
 * sockets), so the CPUs alone do not say where the tasks are: a node takes as many tasks as its
 * share of CPUs, memory and devices holds. If the shares hold more tasks than the job has, tasks
 * are distributed as Slurm does it for its own tasks (block distribution): as evenly as possible,
 * with consecutive ranks on the same node, in the order of the nodes.
 */
#ifndef SLURMKUBE_CORE_GANG_RANK_LAYOUT_H
#define SLURMKUBE_CORE_GANG_RANK_LAYOUT_H

#include "src/core/gang/shape.h"
#include "src/core/policy/gres.h"

namespace slurmkube::core
{

/*
 * The node of each task. Tasks in `fixed` keep their node, the others fill the nodes in the order
 * given. The name is empty if no node has room for the task, which means that the allocation does
 * not match the shape. tasks_per_node: maximum; 0: as many as the node's share holds.
 */
std::vector<std::string> nodes_of_tasks(const GangShape &shape,
	const std::vector<NodeAllocation> &nodes, const std::map<std::uint32_t, std::string> &fixed,
	std::uint32_t tasks_per_node = 0, const std::vector<Gres> &gres_of_task = {});

/* A pod that is bound to a node of the allocation, or waits for the node of its rank. */
struct Occupant {
	const Resources *requests = nullptr;
	bool is_bound = false;
	std::string node = {}; /* where it is bound; otherwise that of its task */
};

/*
 * Keeps the pods on each node within the share that Slurm allocated there. The shape alone does not
 * guarantee this, because another agent may have submitted the job with a different shape. A
 * waiting pod that does not fit beside the others on the node of its task gets the first node of
 * the allocation with enough room; if there is none, its node becomes empty. cpu_unit: thousandths
 * of a CPU that Slurm counts as one.
 */
void fit_to_shares(std::vector<Occupant> &pods, const std::vector<NodeAllocation> &nodes,
	std::uint32_t cpu_unit, const GresTable &table);

} // namespace slurmkube::core

#endif
