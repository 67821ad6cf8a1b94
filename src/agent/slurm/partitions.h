/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * partitions.h - what `skube check` asks slurmctld for: whose the controller is, and which nodes
 * each partition has; blocking. For worker threads.
 *
 * Slurm before 25.05 starts native jobs on external nodes, where no slurmd answers; every version
 * gives pods nodes that no kubelet serves.
 */
#ifndef SLURMKUBE_AGENT_SLURM_PARTITIONS_H
#define SLURMKUBE_AGENT_SLURM_PARTITIONS_H

#include "src/base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::slurm
{

struct Partition {
	std::string name;
	bool is_up = false;                   /* jobs may start there */
	std::size_t external = 0, others = 0; /* nodes */
};

struct Survey {
	std::uint32_t slurm_user_id = 0;
	std::string slurm_user;
	std::vector<Partition> partitions;
};

/* Counts the names of a host list ("n[1-4],m") of each kind. external: Slurm's nodes that have no
 * slurmd. */
Partition counted(const std::string &hosts, const std::set<std::string> &external);

/* Fails where slurmctld does not answer. */
Result<Survey> survey(const std::set<std::string> &external);

/* Where Slurm starts jobs for CPUs that another job's pod still uses, and charges both. */
struct SharingPartitions {
	std::map<std::string, std::string> refused; /* no pod can run there as it must; and why */
	/* have external nodes, and suspend jobs in favour of others */
	std::vector<std::string> suspending;
};
Result<SharingPartitions> sharing_partitions(const std::set<std::string> &external);

/* OverSubscribe=FORCE:N with N over 1, as slurmctld tells it in max_share */
bool is_oversubscribed(std::uint16_t max_share);

} // namespace slurmkube::slurm

#endif
