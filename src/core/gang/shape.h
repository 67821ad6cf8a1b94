/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shape.h - the shape of one job for several pods: its tasks, and which pod is in which task.
 *
 * Pure. All tasks of a job have the same size. Each rank is in one task, and each task is on one
 * node. A task may hold several smaller pods: then fractions of a CPU are summed before they are
 * rounded up, and small pods use the room that the largest pod makes necessary. Whatever Slurm
 * allocates for the tasks holds the pods.
 */
#ifndef SLURMKUBE_CORE_GANG_SHAPE_H
#define SLURMKUBE_CORE_GANG_SHAPE_H

#include "src/core/gang/grouping.h"
#include "src/core/model/job.h"

namespace slurmkube::core
{

struct GangShape {
	std::uint32_t tasks = 0;
	std::uint32_t cpus_per_task = 1;
	std::uint64_t memory_mib_per_task = 1;
	std::map<std::string, std::int64_t> extended_per_task;
	std::vector<std::uint32_t> task_of_rank;
	/* what each rank counts with, and the sum of the ranks in each task */
	std::vector<std::uint64_t> memory_mib_of_rank = {}, memory_mib_of_task = {};
	/* text for the pods' owners: what the job has beyond what jobs of one pod each would have;
	 * empty if nothing */
	std::string excess = {};
	bool operator==(const GangShape &) const = default;
};

enum class Packing {
	shared,      /* several pods may share a task */
	one_per_task /* each pod has its own task, so that a limit of tasks per node limits pods */
};

/* Raises each resource of `to` to the amount in `at_least`, if that is larger. */
void raise(Resources &to, const Resources &at_least);

/* What an empty node holds, according to its Slurm record and its kubelet. */
struct NodeSize {
	std::uint32_t cpus = 0; /* as Slurm counts them */
	std::uint64_t memory_mib = 0;
	std::int64_t pods = 0; /* maximum; 0: no limit */
	std::string gres = {}; /* "gpu:a100:4" */
	auto operator<=>(const NodeSize &) const = default;
};
using NodeSizes = std::map<NodeSize, std::size_t>; /* number of nodes of each size */

/*
 * Returns the cheapest shape that the empty nodes can hold, or the cheapest of all if they can hold
 * none. cpu_unit: thousandths of a CPU that Slurm counts as one. least_memory_mib: minimum memory
 * that each pod counts with. Pods share a task only if the nodes can hold such tasks, and a task
 * never has more devices than the largest pod requests. A pod that requests neither CPU nor devices
 * counts as one Slurm CPU, as in a job of its own, unless the nodes have too few CPUs for that.
 * nodes: empty if their sizes are unknown.
 */
GangShape shape_of(const std::vector<Rank> &ranks, std::uint64_t least_memory_mib,
	Packing packing = Packing::shared, std::uint32_t cpu_unit = k_whole_cpu,
	const NodeSizes &nodes = {});

/* The rank's part of its task's memory, in proportion to what the ranks of the task count with; at
 * least what the rank counts with, unless the task has less for all of them. 0: no such rank. */
std::uint64_t memory_share_of(const GangShape &shape, std::uint32_t rank);

/* Number of tasks of this size that an empty node holds. cpus: as Slurm counts them. gres: of one
 * task, for example "gpu:2". */
std::uint64_t tasks_on(const NodeSize &node, std::uint32_t cpus, std::uint64_t memory_mib,
	const std::string &gres = {});

/* The nodes of an allocation as in SLURM_JOB_NODELIST, but not folded into ranges: "n1,n2,n3".
 * Names that would exceed max_bytes are left out at the end. */
std::string node_list_of(const std::vector<NodeAllocation> &nodes, std::size_t max_bytes);

} // namespace slurmkube::core

#endif
