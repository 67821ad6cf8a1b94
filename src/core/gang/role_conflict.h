/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * role_conflict.h - explains that no node suits all roles of a gang, although each role by itself
 * has suitable nodes.
 *
 * Pure. All tasks of a Slurm job have the same constraints, and there is no control over which role
 * gets which node, so a node has to suit all roles of a component. Their templates have the same
 * constraints (components.h), but pods may have more constraints than their templates, and if a
 * workload has more than eight sets of constraints the last component combines several of them.
 */
#ifndef SLURMKUBE_CORE_GANG_ROLE_CONFLICT_H
#define SLURMKUBE_CORE_GANG_ROLE_CONFLICT_H

#include <string>
#include <vector>

namespace slurmkube::core
{

struct RoleNodes {
	std::string role;                  /* "role 'head'" */
	std::vector<std::string> excluded; /* nodes, sorted */
	/* "6 nodes: each has no label pool=gpu (nodeSelector)" */
	std::string why;
};

/* The message for the user; empty if some node suits all roles, or if a single role has no suitable
 * node. candidates: number of nodes. owner: for example "RayCluster x". */
std::string role_conflict(
	const std::vector<RoleNodes> &roles, std::size_t candidates, const std::string &owner);

} // namespace slurmkube::core

#endif
