/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodes.h - the blocking calls about nodes, for worker threads. calls.h documents each.
 */
#ifndef SLURMKUBE_AGENT_SLURM_NODES_H
#define SLURMKUBE_AGENT_SLURM_NODES_H

#include "src/agent/slurm/calls.h"

namespace slurmkube::slurm
{

Status create_node(const core::NodeSpec &spec, core::Family family);
Status set_node_state(
	const std::string &name, core::NodeStateChange change, const std::string &reason);
Status set_node_extra(const std::string &name, const std::string &extra);
Status delete_node(const std::string &name);

} // namespace slurmkube::slurm

#endif
