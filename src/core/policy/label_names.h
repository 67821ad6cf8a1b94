/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_names.h - the names in Slurm that nodes have by the label slurm-kube.io/slurm-node.
 *
 * Pure. A kubelet may label its own node (NodeRestriction of Kubernetes), so a label takes no name
 * from another node: a node's own name goes before labels, and a name that several labels give is
 * given to none of them, unless one has it already. A node keeps its name while it has jobs, so
 * that a label which comes, changes or goes does not part pods from their jobs.
 */
#ifndef SLURMKUBE_CORE_POLICY_LABEL_NAMES_H
#define SLURMKUBE_CORE_POLICY_LABEL_NAMES_H

#include "src/core/model/node.h"
#include "src/core/model/node_names.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace slurmkube::core
{

struct FoundNames {
	NodeNames names;
	/* What is wrong with labels, for administrators; at most 16. */
	std::vector<std::string> troubles;
};

/* By a node's name in Kubernetes. */
using IsInUse = std::function<bool(const std::string &)>;

/*
 * nodes: the managed ones. before: the names that were used until now. is_in_use: whether a node
 * must keep its name; without a function, no node must. It is asked about
 * nodes with labels only, also about those that are not in nodes.
 */
FoundNames names_by_label(const std::map<std::string, KubeNode> &nodes, const NodeNames &before,
	const IsInUse &is_in_use);

} // namespace slurmkube::core

#endif
