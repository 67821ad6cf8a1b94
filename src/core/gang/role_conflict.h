/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * role_conflict.h - roles of a gang that no node suits together, although each of them has nodes of
 * its own.
 *
 * Pure. All tasks of a Slurm job are alike, and nobody can say which role gets which node: a node
 * has to suit all roles of a component. Their templates are alike (components.h), but pods may have
 * more constraints than these, and of more than eight kinds of nodes the last share a job.
 */
#ifndef SLURMKUBE_CORE_GANG_ROLE_CONFLICT_H
#define SLURMKUBE_CORE_GANG_ROLE_CONFLICT_H

#include <string>
#include <vector>

namespace slurmkube::core
{

struct RoleNodes {
	std::string role;                  /* "role 'head'" */
	std::vector<std::string> excluded; /* sorted */
	/* "6 nodes: each has no label pool=gpu (nodeSelector)" */
	std::string why;
};

/* owner: "RayCluster x". candidates: how many nodes there are. Empty: some node suits all roles, or
 * one of them has none. */
std::string role_conflict(
	const std::vector<RoleNodes> &roles, std::size_t candidates, const std::string &owner);

} // namespace slurmkube::core

#endif
