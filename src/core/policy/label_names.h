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

/* The names in Slurm under which jobs of pods run on a node. */
struct NamesInUse {
	std::set<std::string> sure;
	/* Of jobs with several nodes: whoever may write annotations can exchange these. */
	std::set<std::string> likely;
};
using InUse = std::map<std::string, NamesInUse>; /* by names in Kubernetes */

/* Whether Slurm has a hybrid node of that name. */
using IsHybrid = std::function<bool(const std::string &)>;

struct FoundNames {
	NodeNames names;
	/* What is wrong with labels, for administrators; at most 16. */
	std::vector<std::string> troubles;
};

/*
 * nodes: the managed ones. A node keeps a name in use, also one that is not in nodes.
 * Without is_hybrid nothing is known of Slurm's nodes, and labels are believed.
 */
FoundNames names_by_label(const std::map<std::string, KubeNode> &nodes, const std::string &prefix,
	const InUse &in_use, const IsHybrid &is_hybrid);

/* The value of the label; empty: the node does not have it. */
std::string label_of_slurm(const KubeNode &node);

/* False: its label has not been looked at yet. */
bool is_label_settled(const KubeNode &node, const NodeNames &names);

bool has_name_in_slurm(const KubeNode &node, const NodeNames &names);

} // namespace slurmkube::core

#endif
