/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gang.h - the shape of one job for several pods, and which pod goes where in its allocation.
 *
 * Pure. A job has tasks of one size. Each seat lies in one task, each task on one node; a task takes several pods where they are smaller than it, so that
 * fractions of a CPU are summed before they are rounded, and unlike roles share what the largest needs. Whatever Slurm allocates for the tasks holds the pods.
 */
#ifndef SLURMKUBE_CORE_GANG_H
#define SLURMKUBE_CORE_GANG_H

#include "src/core/grouping.h"

namespace slurmkube::core
{

struct GangShape {
	std::uint32_t tasks = 0;
	std::uint32_t cpus_per_task = 1;
	std::uint64_t memory_mib_per_task = 1;
	std::map<std::string, std::int64_t> extended_per_task;
	std::vector<std::uint32_t> task_of_seat;
	std::string excess = {}; /* what all tasks have beyond what the pods would have alone, for their owners; empty: nothing */
	bool operator==(const GangShape &) const = default;
};

enum class Packing {
	shared,      /* several pods may lie in a task */
	one_per_task /* each pod its own: where a task means a node */
};

/* cpu_unit: thousandths of a CPU that Slurm counts as one */
GangShape shape_of(const std::vector<Seat> &seats, std::uint64_t least_memory_mib, Packing packing = Packing::shared, std::uint32_t cpu_unit = k_whole_cpu);

/*
 * The node of each task: those that are fixed stay where they are, the others fill the nodes in the order given. Empty for a task that finds no place, which
 * means that the allocation is not the one that was asked for. tasks_per_node 0: as many as the CPUs there hold.
 */
std::vector<std::string> nodes_of_tasks(const GangShape &shape, const std::vector<NodeAllocation> &nodes, const std::map<std::uint32_t, std::string> &fixed,
					std::uint32_t tasks_per_node = 0);

/* Slurm's nodes of an allocation, as SLURM_JOB_NODELIST has them, but not folded: "n1,n2,n3". Cut at max bytes, at a comma. */
std::string node_list_of(const std::vector<NodeAllocation> &nodes, std::size_t max_bytes);

} // namespace slurmkube::core

#endif
