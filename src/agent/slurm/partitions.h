/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * partitions.h - which partitions mix nodes of Kubernetes with others; blocking. For worker threads.
 *
 * Slurm before 25.05 starts native jobs on external nodes, where no slurmd answers; every version gives pods nodes that no kubelet serves.
 */
#ifndef SLURMKUBE_AGENT_SLURM_PARTITIONS_H
#define SLURMKUBE_AGENT_SLURM_PARTITIONS_H

#include "src/base/result.h"

#include <set>
#include <string>
#include <vector>

namespace slurmkube::slurm
{

/* Has the host list ("n[1-4],m") names of both kinds? */
bool is_mixed(const std::string &hosts, const std::set<std::string> &external);

/* Their names. external: Slurm's nodes that have no slurmd. */
Result<std::vector<std::string>> mixed_partitions(const std::set<std::string> &external);

} // namespace slurmkube::slurm

#endif
