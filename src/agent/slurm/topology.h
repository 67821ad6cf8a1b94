/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology.h - which external nodes are in no switch and no block of Slurm's topology. Slurm starts
 * no job there: with topology/tree it refuses each as "Requested node configuration is not
 * available" (measured with 22.05).
 *
 * Source: topology.conf(5). Blocking questions to slurmctld, for worker threads.
 */
#ifndef SLURMKUBE_AGENT_SLURM_TOPOLOGY_H
#define SLURMKUBE_AGENT_SLURM_TOPOLOGY_H

#include "src/base/result.h"

#include <set>
#include <string>

#include <slurm/slurm.h>

namespace slurmkube::slurm
{

/* Empty with a plugin that knows no switches (topology/default, flat). external: Slurm's nodes
 * without slurmd. Error: slurmctld does not answer. */
Result<std::set<std::string>> outside_topology(
	const slurm_conf_t &conf, const std::set<std::string> &external);

/* Pure. The nodes of all "Nodes=HOSTLIST" in a text as `scontrol show topology` prints it. */
std::set<std::string> nodes_of_topology(const std::string &text);

} // namespace slurmkube::slurm

#endif
