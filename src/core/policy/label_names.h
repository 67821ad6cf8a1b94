/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_names.h - the names in Slurm that hybrid nodes have by the label slurm-kube.io/slurm-node.
 *
 * Pure, and without a memory: the same observations give the same names (decision 19). A kubelet
 * may label its own node (NodeRestriction of Kubernetes), so a label takes no name from another
 * node.
 */
#ifndef SLURMKUBE_CORE_POLICY_LABEL_NAMES_H
#define SLURMKUBE_CORE_POLICY_LABEL_NAMES_H

#include "src/core/model/node.h"
#include "src/core/model/node_names.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

/* The names in Slurm under which jobs of pods run on each node, by names in Kubernetes. */
using NamesInUse = std::map<std::string, std::set<std::string>>;

struct FoundNames {
	NodeNames names;
	/* What is wrong with labels, for administrators; at most 16. */
	std::vector<std::string> troubles;
};

/*
 * nodes: the managed ones. A node in in_use keeps its name, also one that is not in nodes.
 * is_hybrid: whether Slurm has a hybrid node of that name; without a function, that is not known,
 * and labels are believed.
 */
FoundNames names_by_label(const std::map<std::string, KubeNode> &nodes, const std::string &prefix,
	const NamesInUse &in_use, const std::function<bool(const std::string &)> &is_hybrid);

/* The value of the label; empty: the node does not have it. */
std::string label_of_slurm(const KubeNode &node);

/* False: the node has none, or its label has not been looked at yet. */
bool has_name_in_slurm(const KubeNode &node, const NodeNames &names);

} // namespace slurmkube::core

#endif
