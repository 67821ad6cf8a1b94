/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_names.h - the names of Kubernetes nodes in Slurm, where several clusters may have nodes of
 * the same name.
 *
 * The agent knows nodes by their names in Kubernetes. Names are translated where they go to Slurm
 * or come from it, and in texts that name a command of Slurm.
 */
#ifndef SLURMKUBE_CORE_MODEL_NODE_NAMES_H
#define SLURMKUBE_CORE_MODEL_NODE_NAMES_H

#include <string>
#include <string_view>

namespace slurmkube::core
{

struct NodeNames {
	std::string prefix; /* of the names in Slurm; empty: the names are the same */

	[[nodiscard]] std::string in_slurm(std::string_view kube_name) const;
	/* A record without the prefix is that of no Kubernetes node. It gets a name that no
	 * Kubernetes node can have, so that it is not taken for another one. */
	[[nodiscard]] std::string in_kubernetes(std::string_view slurm_name) const;
	/* Whether in_kubernetes() has made the name for such a record. */
	[[nodiscard]] static bool is_of_no_node(std::string_view kube_name);
	bool operator==(const NodeNames &) const = default;
};

} // namespace slurmkube::core

#endif
