/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology.h - which external nodes are in no switch and no block of Slurm's topology. Slurm starts
 * no job there: with topology/tree it refuses each as "Requested node configuration is not
 * available" (measured with 22.05).
 *
 * Source: topology.conf(5). The answer comes from scontrol: since 23.11 a client reads a topology
 * only with slurmctld's TopologyPlugin, and the plugins of 23.11 to 24.11 need a symbol (topo_conf
 * of src/interfaces/topology.c) that libslurm.so does not export.
 */
#ifndef SLURMKUBE_AGENT_SLURM_TOPOLOGY_H
#define SLURMKUBE_AGENT_SLURM_TOPOLOGY_H

#include "src/base/result.h"

#include <set>
#include <string>

#include <slurm/slurm.h>

namespace slurmkube::slurm
{

/* Waits for scontrol, so call it in worker threads. Empty with a plugin that knows no switches
 * (topology/default, flat). external: Slurm's nodes without slurmd. Errors: those of output_of() in
 * programs.h. */
Result<std::set<std::string>> outside_topology(
	const slurm_conf_t &conf, const std::set<std::string> &external);

/* Pure. The nodes of all "Nodes=HOSTLIST" in a text as `scontrol show topology` prints it. */
std::set<std::string> nodes_of_topology(const std::string &text);

} // namespace slurmkube::slurm

#endif
