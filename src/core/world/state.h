/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.h - everything observed. World writes it; planners have it const.
 */
#ifndef SLURMKUBE_CORE_WORLD_STATE_H
#define SLURMKUBE_CORE_WORLD_STATE_H

#include "src/core/placement/foreign.h"
#include "src/core/placement/occupancy.h"
#include "src/core/world/claim_store.h"
#include "src/core/world/cluster_jobs.h"
#include "src/core/world/group.h"
#include "src/core/world/owner_store.h"
#include "src/core/world/peer_index.h"
#include "src/core/world/settings.h"
#include "src/core/world/sync.h"
#include "src/core/world/taint_store.h"

namespace slurmkube::core
{

struct State {
	explicit State(Settings from) : settings(std::move(from)), sync(settings.sees_foreign_pods), clusters(settings.policy.cluster_uid) {}

	/* ---- views: nullptr where there is none ---- */
	[[nodiscard]] const Group *group(const PodUid &uid) const;
	[[nodiscard]] const Pod *pod(const PodUid &uid) const;
	[[nodiscard]] const SlurmJob *job(JobId id) const;
	[[nodiscard]] const KubeNode *kube_node(const std::string &name) const;
	[[nodiscard]] const SlurmNode *slurm_node(const std::string &name) const;
	/* The job that counts for a group. */
	[[nodiscard]] const SlurmJob *current_job(const Group &group) const;
	/* The group that has the job of this one: a member's lead, else itself. */
	[[nodiscard]] const Group &lead_of(const Group &group) const;
	/* The job of its lead. */
	[[nodiscard]] const SlurmJob *job_of(const Group &group) const { return current_job(lead_of(group)); }
	[[nodiscard]] const Gang *gang_of(const Group &group) const;
	[[nodiscard]] bool is_cluster_known() const { return clusters.is_known() || !settings.needs_cluster; }
	/* Why nothing is done: live jobs stand for pods of another cluster under our cluster's name. */
	[[nodiscard]] bool holds_other_cluster() const { return !clusters.of_other_clusters().empty(); }
	/* Everything that decisions need, and no reason to doubt it. */
	[[nodiscard]] bool is_known() const;

	Settings settings;
	std::int64_t seen_us = 0; /* monotonic; when something was last decided */
	Sync sync;
	std::map<PodUid, Group> groups;
	std::map<PodUid, Gang> gangs; /* by lead */
	std::map<PodUid, std::set<PodUid>> loose; /* by lead: pods of a PodGroup that run alone, since the others did not need them */
	std::map<JobId, SlurmJob> jobs;
	ClusterJobs clusters;
	std::map<std::string, KubeNode> kube_nodes;
	std::map<std::string, SlurmNode> slurm_nodes;
	Occupancy occupancy;
	ForeignPods foreign;
	PeerIndex peers;
	TaintStore taints;
	ClaimStore claims;
	OwnerStore owners;
};

/*
 * A slurmctld that was restored from an older state may have the job of a bound pod pending again, and start it anywhere: such a job says nothing of the pod. A
 * job of a later attempt is one that we pinned to the pod's node. What people cancel counts in any case.
 */
bool stands_for_pod(const Group &group, const SlurmJob &job);

} // namespace slurmkube::core

#endif
