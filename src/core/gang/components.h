/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * components.h - which roles of a workload share a Slurm job.
 *
 * Pure. All tasks of a Slurm job are alike and have the same constraints (sbatch(1)), so roles that
 * ask for other nodes, tolerate other taints or need other devices have jobs of their own:
 * components. Roles that differ in CPUs and memory only share a job while that wastes little, since
 * one job starts at once and several have to wait for each other. Decided from what the owner says
 * alone: another agent, at another time, finds the same.
 */
#ifndef SLURMKUBE_CORE_GANG_COMPONENTS_H
#define SLURMKUBE_CORE_GANG_COMPONENTS_H

#include "src/core/model/owner.h"

#include <string>
#include <vector>

namespace slurmkube::core
{

/* Beyond that, sets of roles with the same constraints and devices share a job of the largest
 * size. */
inline constexpr std::size_t k_components_most = 8;
/* Of CPUs or memory that one job for unlike sizes has beside what its pods request. */
inline constexpr int k_waste_most_percent = 25;

struct ComponentRoles {
	std::vector<Role> roles; /* in their owner's order */
	/* of its ranks, over the whole workload: ascending; empty where there is one component */
	std::vector<std::uint32_t> workload_ranks;
};

/* By the first role of each, in the owner's order, those without pods included. */
std::vector<ComponentRoles> components_of(const std::vector<Role> &roles);

inline constexpr char k_component_mark = '+'; /* no uid of Kubernetes has it */

/* The marker's uid of a component's job: the workload's, with "+1" and so on behind it for all but
 * the first. */
std::string component_key(const std::string &workload, std::size_t component);
/* The workload's, of any of its components. */
std::string workload_key(const std::string &component);
std::size_t component_of_key(const std::string &component);
/* As component_key() makes it: anybody may write an annotation. */
bool is_component_key(const std::string &key);

} // namespace slurmkube::core

#endif
