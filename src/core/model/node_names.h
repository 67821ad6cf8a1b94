/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_names.h - the names of Kubernetes nodes in Slurm, where several clusters may have nodes of
 * the same name, and where a node's slurmd may have another name than its kubelet.
 *
 * The agent knows nodes by their names in Kubernetes. Names are translated where they go to Slurm
 * or come from it, and in texts that name a command of Slurm.
 */
#ifndef SLURMKUBE_CORE_MODEL_NODE_NAMES_H
#define SLURMKUBE_CORE_MODEL_NODE_NAMES_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace slurmkube::core
{

/* Both directions. policy/label_names.h makes them so that no two nodes have one name. */
struct LabelNames {
	/* Names in Slurm of nodes with a label, or without a name (empty) because another node has
	 * it. A label need not count: the name may be the node's own. */
	std::map<std::string, std::string, std::less<>> in_slurm;
	std::map<std::string, std::string, std::less<>> in_kubernetes;
	bool operator==(const LabelNames &) const = default;
};

struct NodeNames {
	std::string prefix; /* of the names in Slurm; empty: the names are the same */
	std::shared_ptr<const LabelNames> by_label = nullptr; /* nullptr: no node has such a name */

	/* A node without a name in Slurm gets one that Slurm refuses. */
	[[nodiscard]] std::string in_slurm(std::string_view kube_name) const;
	/* A record without the prefix, or with the own name of a node that has another one, is that
	 * of no Kubernetes node. It gets a name that no Kubernetes node can have, so that it is not
	 * taken for another one. */
	[[nodiscard]] std::string in_kubernetes(std::string_view slurm_name) const;
	/* Whether in_kubernetes() has made the name for such a record. */
	[[nodiscard]] static bool is_of_no_node(std::string_view kube_name);
	/* Of those, one with the own name of a node that has another one by its label. */
	[[nodiscard]] bool is_left_behind(std::string_view kube_name) const;
	[[nodiscard]] bool has_no_name(std::string_view kube_name) const;
	[[nodiscard]] bool has_own_name(std::string_view kube_name) const
	{
		return in_slurm(kube_name) == prefix + std::string(kube_name);
	}
	/* Whether the name follows from a label, of this node or of another one. */
	[[nodiscard]] bool is_settled(std::string_view kube_name) const;
	[[nodiscard]] bool are_the_same() const { return prefix.empty() && !by_label; }
	bool operator==(const NodeNames &other) const;
};

} // namespace slurmkube::core

#endif
