/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shape.h - the shape of one job for several pods, and which pod goes where in its allocation.
 *
 * Pure. A job has tasks of one size. Each rank lies in one task, each task on one node; a task
 * takes several pods where they are smaller than it, so that fractions of a CPU are summed before
 * they are rounded, and unlike roles share what the largest needs. Whatever Slurm allocates for the
 * tasks holds the pods.
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
	/* what all tasks have beyond what the pods would have alone, for their owners; empty:
	 * nothing */
	std::string excess = {};
	bool operator==(const GangShape &) const = default;
};

enum class Packing {
	shared,      /* several pods may lie in a task */
	one_per_task /* each pod its own: where a task means a node */
};

/* To the larger of both, resource by resource. */
void raise(Resources &to, const Resources &at_least);

/* What empty nodes of one size hold, as Slurm's records and the kubelets have it. */
struct NodeSize {
	std::uint32_t cpus = 0; /* Slurm's */
	std::uint64_t memory_mib = 0;
	std::int64_t pods = 0; /* 0: any number */
	std::string gres = {}; /* "gpu:a100:4" */
	auto operator<=>(const NodeSize &) const = default;
};
using NodeSizes = std::map<NodeSize, std::size_t>; /* and how many nodes have it */

/*
 * cpu_unit: thousandths of a CPU that Slurm counts as one. Pods share a task only as far as the
 * nodes hold such tasks, and never beyond the devices of the largest pod. A pod that requests
 * neither CPU nor devices counts as one CPU, as it does alone, unless the nodes have too few. nodes
 * empty: they are not known.
 */
GangShape shape_of(const std::vector<Rank> &ranks, std::uint64_t least_memory_mib,
	Packing packing = Packing::shared, std::uint32_t cpu_unit = k_whole_cpu,
	const NodeSizes &nodes = {});

/* Tasks of that size that an empty node holds. gres: of a task, "gpu:2". */
std::uint64_t tasks_on(const NodeSize &node, std::uint32_t cpus, std::uint64_t memory_mib,
	const std::string &gres = {});

/* Slurm's nodes of an allocation, as SLURM_JOB_NODELIST has them, but not folded: "n1,n2,n3". Cut
 * at max bytes, at a comma. */
std::string node_list_of(const std::vector<NodeAllocation> &nodes, std::size_t max_bytes);

} // namespace slurmkube::core

#endif
