/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * partitions.h - blocking questions to slurmctld, for worker threads: its SlurmUser, the nodes of
 * each partition, and which partitions share CPUs.
 *
 * `skube check` reports partitions that mix external and native nodes: Slurm before 25.05 starts
 * native jobs on external nodes, which have no slurmd, and every version starts pods on native
 * nodes, which have no kubelet.
 */
#ifndef SLURMKUBE_AGENT_SLURM_PARTITIONS_H
#define SLURMKUBE_AGENT_SLURM_PARTITIONS_H

#include "src/agent/slurm/hybrid_settings.h"
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
	bool is_up = false; /* UP: jobs may start there */
	/* numbers of nodes */
	std::size_t external = 0, hybrid = 0, others = 0;
};

/* The nodes that the plugin reports, by their names in Slurm. */
struct KubeNodes {
	std::set<std::string> external, hybrid;
	/* the longest grace period of their pods; without a limit, Kubernetes' default */
	std::int64_t grace_seconds = 30;
	bool have_native_pods = false; /* nodes.pods_in_native_jobs */
};

struct Survey {
	std::uint32_t slurm_user_id = 0;
	std::string slurm_user;
	std::vector<Partition> partitions;
	std::set<std::string> to_suspend;       /* external nodes, see power_saving.h */
	std::set<std::string> outside_topology; /* external nodes, see topology.h */
	std::string topology_trouble;           /* why outside_topology is not known */
	/* what is wrong in slurm.conf and cgroup.conf for hybrid nodes; empty without such nodes */
	std::vector<SettingTrouble> hybrid_troubles;
};

/* Counts the nodes of each kind in a host list ("n[1-4],m"). */
Partition counted(const std::string &hosts, const KubeNodes &nodes);

/* Error: slurmctld does not answer. */
Result<Survey> survey(const KubeNodes &nodes);

/* Partitions in which Slurm starts jobs on CPUs that the pod of another job still uses, and charges
 * both jobs. */
struct SharingPartitions {
	std::map<std::string, std::string> refused; /* by name, with the reason why no pod may
						     * run there */
	/* partitions with external nodes that suspend jobs in favour of others */
	std::vector<std::string> suspending;
};
Result<SharingPartitions> sharing_partitions(const std::set<std::string> &external);

/* OverSubscribe=FORCE:N with N > 1, as slurmctld encodes it in max_share. */
bool is_oversubscribed(std::uint16_t max_share);

} // namespace slurmkube::slurm

#endif
