/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology.h - which external nodes are in no switch and no block of Slurm's topology. Slurm starts
 * no job there: with topology/tree it refuses each as "Requested node configuration is not
 * available" (measured with 22.05).
 *
 * Source: topology.conf(5), topology.yaml(5). The answer comes from scontrol: since 23.11 a client
 * reads a topology only with slurmctld's TopologyPlugin, and the plugins of 23.11 to 24.11 need a
 * symbol (topo_conf of src/interfaces/topology.c) that libslurm.so does not export.
 */
#ifndef SLURMKUBE_AGENT_SLURM_TOPOLOGY_H
#define SLURMKUBE_AGENT_SLURM_TOPOLOGY_H

#include "src/base/result.h"

#include <optional>
#include <set>
#include <string>

#include <slurm/slurm.h>

namespace slurmkube::slurm
{

/* Waits for scontrol, so call it in worker threads. external: Slurm's nodes without slurmd; those
 * of no partition do not count. Empty without switches (topology/default, flat). Errors: those of
 * output_of() in programs.h; io: scontrol printed no topology although there is one. */
Result<std::set<std::string>> outside_topology(const slurm_conf_t &conf,
	const partition_info_msg_t &partitions, const std::set<std::string> &external);

/* Pure. The nodes of all "Nodes=HOSTLIST" in a text as `scontrol --oneliner show topology` prints
 * it. None: the text has no switch, block or ring. */
std::optional<std::set<std::string>> nodes_of_topology(const std::string &text);

} // namespace slurmkube::slurm

#endif
