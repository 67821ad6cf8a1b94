/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.h - everything that was observed. Only World writes it; planners get a const reference.
 */
#ifndef SLURMKUBE_CORE_WORLD_STATE_H
#define SLURMKUBE_CORE_WORLD_STATE_H

#include "src/core/lease/lease.h"
#include "src/core/placement/foreign.h"
#include "src/core/placement/occupancy.h"
#include "src/core/world/claim_store.h"
#include "src/core/world/cluster_jobs.h"
#include "src/core/world/component.h"
#include "src/core/world/device_store.h"
#include "src/core/world/native_jobs.h"
#include "src/core/world/owner_store.h"
#include "src/core/world/peer_index.h"
#include "src/core/world/resource_claims.h"
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

	/* ---- views; nullptr: there is no such object ---- */
	[[nodiscard]] const PodEntry *entry(const PodUid &uid) const;
	[[nodiscard]] const Pod *pod(const PodUid &uid) const;
	[[nodiscard]] const Component *component(const PodUid &key) const;
	[[nodiscard]] const SlurmJob *job(JobId id) const;
	[[nodiscard]] const KubeNode *kube_node(const std::string &name) const;
	[[nodiscard]] const SlurmNode *slurm_node(const std::string &name) const;
	/* Of a job of that component; empty: not known. */
	[[nodiscard]] Marker marker_of(const PodUid &key, JobId id) const;
	/* Key of the component whose job the pod shares; the pod's own uid if it shares none. */
	[[nodiscard]] const PodUid &component_key_of(const PodUid &uid) const;
	/* The component of the pod; an empty one if nothing is known about it. */
	[[nodiscard]] const Component &component_of(const PodUid &uid) const;
	/* The job that counts for a component; nullptr: it has none. */
	[[nodiscard]] const SlurmJob *current_job(const PodUid &key) const;
	/* The same for the component of a pod. */
	[[nodiscard]] const SlurmJob *job_of(const PodUid &uid) const
	{
		return current_job(component_key_of(uid));
	}
	/* nullptr: the pod does not share its job with others. */
	[[nodiscard]] const Gang *gang_of(const PodEntry &entry) const;
	/*
	 * Whether the job counts for the component's bound pods. A slurmctld that was restored from
	 * an older state may have the job of a bound pod pending again and start it on any node:
	 * such a job says nothing about the pod. A job of a later attempt is one that we submitted
	 * for the pod's node. A cancelled job always counts, because somebody wanted that end.
	 */
	[[nodiscard]] bool stands_for(
		const PodUid &key, const Component &component, const SlurmJob &job) const;
	[[nodiscard]] bool is_cluster_known() const
	{
		return clusters.is_known() || !settings.needs_cluster;
	}
	/* Nothing may be done: live jobs under our cluster's name stand for pods of another
	 * cluster. */
	[[nodiscard]] bool holds_other_cluster() const
	{
		return !clusters.of_other_clusters().empty();
	}
	/* No other Slurm cluster serves our pods, as far as the Lease of the agents tells. */
	[[nodiscard]] bool has_lease() const
	{
		return !settings.needs_lease || lease.standing == LeaseStanding::free;
	}
	/* Everything that decisions need is known, and there is no reason to doubt it. */
	[[nodiscard]] bool is_known() const;

	Settings settings;
	/* when something was last decided; monotonic microseconds */
	std::int64_t seen_us = 0;
	Sync sync;
	std::map<PodUid, PodEntry> pods;
	std::map<PodUid, Component> components; /* by key; the key for a pod alone is its uid */
	std::map<PodUid, Gang> gangs;           /* components that may have several ranks */
	/* By key of a component: pods that have jobs of their own, because the others did not need
	 * them (PodGroup) or had no place for them. */
	std::map<PodUid, std::set<PodUid>> standalone;
	std::map<JobId, SlurmJob> jobs;
	ClusterJobs clusters;
	LeaseState lease;
	/* since anything was decided last, another agent led by the Lease */
	bool was_led_by_another = false;
	/* what the watches show may be older than what that agent did */
	bool has_lists_of_before = false;
	std::map<std::string, KubeNode> kube_nodes;
	std::map<std::string, SlurmNode> slurm_nodes;
	/* Nodes of Kubernetes that Slurm gave to pods, although it shows no record of them, for
	 * example because the record has lost its feature. No job may get them. */
	std::set<std::string> recordless_nodes;
	Occupancy occupancy;
	ForeignPods foreign;
	PeerIndex peers;
	TaintStore taints;
	ClaimStore claims;
	DeviceStore devices;
	ResourceClaims resource_claims;
	OwnerStore owners;
	NativeJobs native_jobs;
};

} // namespace slurmkube::core

#endif
