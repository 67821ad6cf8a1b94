/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power_saving.h - which external nodes Slurm's power saving would switch off: SuspendProgram would
 * run with the name of a healthy node of Kubernetes.
 *
 * Source: power_save.c of slurmctld (power_save_set_timeouts() and _parse_exc_nodes());
 * slurm.conf(5) on SuspendTime, SuspendExcNodes and SuspendExcParts.
 */
#ifndef SLURMKUBE_AGENT_SLURM_POWER_SAVING_H
#define SLURMKUBE_AGENT_SLURM_POWER_SAVING_H

#include <set>
#include <string>

#include <slurm/slurm.h>

namespace slurmkube::slurm
{

/* Pure. external: Slurm's nodes without slurmd. An exception with a number (n[1-4]:2) protects none
 * of its nodes. */
std::set<std::string> nodes_to_suspend(const slurm_conf_t &conf,
	const partition_info_msg_t &partitions, const std::set<std::string> &external);

} // namespace slurmkube::slurm

#endif
