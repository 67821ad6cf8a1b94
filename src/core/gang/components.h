/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * components.h - decides which roles of a workload share a Slurm job.
 *
 * Pure. All tasks of a Slurm job have the same size and the same constraints (sbatch(1)). Roles
 * that need different nodes, tolerate different taints or need different devices therefore get jobs
 * of their own, called components. Roles that differ only in CPUs and memory share a job as long as
 * that wastes little: one job starts at once, while several jobs have to wait for each other. The
 * decision uses only what the owner specifies, so another agent, at another time, decides the same.
 */
#ifndef SLURMKUBE_CORE_GANG_COMPONENTS_H
#define SLURMKUBE_CORE_GANG_COMPONENTS_H

#include "src/core/model/owner.h"

#include <string>
#include <vector>

namespace slurmkube::core
{

/* Maximum number of components per workload. A set of roles is not split by size if that would
 * exceed the maximum, and roles with further constraints join the last set. */
inline constexpr std::size_t k_components_most = 8;
/* How much more CPU or memory than its pods request a job for pods of different sizes may have, in
 * percent. */
inline constexpr int k_waste_most_percent = 25;

struct ComponentRoles {
	std::vector<Role> roles; /* in the owner's order */
	/* ranks of its pods counted over the whole workload, ascending; empty if there is only one
	 * component */
	std::vector<std::uint32_t> workload_ranks;
};

/* Ordered by the first role of each component, in the owner's order. Roles without pods are
 * included. */
std::vector<ComponentRoles> components_of(const std::vector<Role> &roles);

inline constexpr char k_component_mark = '+'; /* does not occur in Kubernetes uids */

/* The uid in the marker of a component's job: the workload's key for component 0, followed by "+1",
 * "+2" and so on for the others. */
std::string component_key(const std::string &workload, std::size_t component);
/* The workload's key, from the key of any of its components. */
std::string workload_key(const std::string &component);
std::size_t component_of_key(const std::string &component);
/* Whether component_key() could have made this key. Annotations are checked with it, because any
 * author of a pod may write them. */
bool is_component_key(const std::string &key);

} // namespace slurmkube::core

#endif
