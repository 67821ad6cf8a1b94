/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_lines.h - lines for Slurm's topology.conf (TopologyPlugin=topology/tree) from what
 * Kubernetes says of the place of its nodes. Pure.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_TOPOLOGY_LINES_H
#define SLURMKUBE_CORE_RECONCILE_TOPOLOGY_LINES_H

#include "src/base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core
{

struct PlacedNode {
	std::string name; /* in Slurm */
	std::string spec; /* slinky_topology() */
	std::map<std::string, std::string> labels;
};

/* The switches of a node from the outermost to its own, at most 10; empty: nothing says where it
 * is. The annotation counts before the labels, whose keys are given outermost first. */
std::vector<std::string> switches_of(
	const PlacedNode &node, const std::vector<std::string> &label_keys);

/*
 * One switch named root is above all nodes. The name of each other switch begins with root, because
 * the site's own lines may have a switch of the same name, and slurmctld does not start with two.
 * Then follows the name that Kubernetes gives it, with the names of the switches above it where it
 * would be ambiguous, with '_' for characters that Slurm does not take, and cut so that it has at
 * most 64 characters. A switch comes before the one that contains it.
 *
 * Errc::too_large: more than 1,000 switches. slurmctld needs time with the third power of their
 * number at each start.
 */
Result<std::vector<std::string>> topology_lines(const std::vector<PlacedNode> &nodes,
	const std::vector<std::string> &label_keys, const std::string &root);

} // namespace slurmkube::core

#endif
