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
#include "src/core/world/component.h"
#include "src/core/world/owner_store.h"
#include "src/core/world/peer_index.h"
#include "src/core/world/settings.h"
#include "src/core/world/sync.h"
#include "src/core/world/taint_store.h"

namespace slurmkube::core
{

struct State {
	explicit State(Settings from)
	    : settings(std::move(from)), sync(settings.sees_foreign_pods),
	      clusters(settings.policy.cluster_uid)
	{
	}

	/* ---- views: nullptr where there is none ---- */
	[[nodiscard]] const PodEntry *entry(const PodUid &uid) const;
	[[nodiscard]] const Pod *pod(const PodUid &uid) const;
	[[nodiscard]] const Component *component(const PodUid &key) const;
	[[nodiscard]] const SlurmJob *job(JobId id) const;
	[[nodiscard]] const KubeNode *kube_node(const std::string &name) const;
	[[nodiscard]] const SlurmNode *slurm_node(const std::string &name) const;
	/* Key of the component whose job the pod has; its own uid if it shares none. */
	[[nodiscard]] const PodUid &component_key_of(const PodUid &uid) const;
	/* The component of the pod; an empty one if nothing is known of it. */
	[[nodiscard]] const Component &component_of(const PodUid &uid) const;
	/* The job that counts for a component. */
	[[nodiscard]] const SlurmJob *current_job(const PodUid &key) const;
	/* The same for the component of a pod. */
	[[nodiscard]] const SlurmJob *job_of(const PodUid &uid) const
	{
		return current_job(component_key_of(uid));
	}
	/* Where the pod shares its job with others. */
	[[nodiscard]] const Gang *gang_of(const PodEntry &entry) const;
	/*
	 * A slurmctld that was restored from an older state may have the job of a bound pod pending
	 * again, and start it anywhere: such a job says nothing of the pod. A job of a later
	 * attempt is one that we pinned to the pod's node. What people cancel counts in any case.
	 */
	[[nodiscard]] bool stands_for(
		const PodUid &key, const Component &component, const SlurmJob &job) const;
	[[nodiscard]] bool is_cluster_known() const
	{
		return clusters.is_known() || !settings.needs_cluster;
	}
	/* Why nothing is done: live jobs stand for pods of another cluster under our cluster's
	 * name. */
	[[nodiscard]] bool holds_other_cluster() const
	{
		return !clusters.of_other_clusters().empty();
	}
	/* Everything that decisions need, and no reason to doubt it. */
	[[nodiscard]] bool is_known() const;

	Settings settings;
	std::int64_t seen_us = 0; /* monotonic; when something was last decided */
	Sync sync;
	std::map<PodUid, PodEntry> pods;
	std::map<PodUid, Component> components; /* by key: that of a pod alone is its uid */
	std::map<PodUid, Gang> gangs; /* those of components that may have several ranks */
	/* by key: pods of a PodGroup that run alone, since the others did not need them */
	std::map<PodUid, std::set<PodUid>> standalone;
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

} // namespace slurmkube::core

#endif
