/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observation.h - what World can be told: one structure for each kind of observation.
 *
 * A structure whose name ends in Listed closes a list: objects that the list does not contain are
 * gone, or out of sight.
 */
#ifndef SLURMKUBE_CORE_WORLD_OBSERVATION_H
#define SLURMKUBE_CORE_WORLD_OBSERVATION_H

#include "src/core/device/resource_claim.h"
#include "src/core/device/slice.h"
#include "src/core/lease/lease.h"
#include "src/core/model/native_job.h"
#include "src/core/model/owner.h"
#include "src/core/model/plugin.h"
#include "src/core/placement/claims.h"
#include "src/core/policy/identity_rules.h"
#include "src/core/world/settings.h"

#include <map>
#include <optional>
#include <set>
#include <variant>

namespace slurmkube::core
{

/* ---- Kubernetes ---- */
struct PodSeen {
	Pod pod;
};
struct PodGone {
	PodUid uid;
	std::optional<Pod> last = {}; /* the object of a DELETED event, if there was one */
};
struct PodsListed {
	std::set<std::string> live_uids;
};
struct NodeSeen {
	KubeNode node;
};
struct NodeGone {
	std::string name;
};
struct NodesListed {
	std::set<std::string> live_uids;
};

/* Which cluster the API server serves: the uid of the namespace kube-system
 * (world/unseen_pods.cc). */
struct ClusterSeen {
	std::string uid;
};
/* The lists have been started again, so the API server may be another one. Nothing is done until
 * ClusterSeen follows. */
struct ClusterDoubted {
};

/* Who holds the Lease of the agents, and whether that lets this one act. */
struct LeaseSeen {
	LeaseState state;
};

/* ---- identities: world/identity.cc ---- */
struct NamespaceSeen {
	Namespace seen;
};
struct NamespaceGone {
	std::string name;
};
struct NamespacesListed {
	std::set<std::string> live_uids;
};
/* The rules have changed. All namespaces must be reported and listed again, because only what the
 * old rules read of them was kept. */
struct IdentityRulesSet {
	std::vector<NamespaceRule> rules;
	std::uint32_t min_uid;
};
/* The configuration has been read again. The rules of identity come in IdentityRulesSet. What jobs
 * and markers were made with stays: cluster, scheduler name, and the unit of CPUs. */
struct SettingsSet {
	Settings settings;
};
struct UserFound {
	std::string name;
	Result<SlurmUser> user;
};
/* An empty optional: the object does not exist. After an error the question is repeated. */
struct OwnerSeen {
	OwnerId id;
	Result<std::optional<Owner>> answer;
};

/* ---- bound pods of other schedulers: world/node_changes.cc ---- */
struct ForeignSeen {
	Pod pod;
};
struct ForeignGone {
	PodUid uid;
};
struct ForeignListed {
	std::set<std::string> live_uids;
};

/* ---- volumes: world/claims.cc ---- */
struct ClaimsUnreadable {
	std::string why; /* text for users; empty: claims can be read */
};
struct ClaimSeen {
	Claim claim;
};
struct ClaimGone {
	ClaimId id;
};
struct VolumeSeen {
	Volume volume;
};
struct VolumeGone {
	std::string name;
};
struct ClassSeen {
	StorageClass storage_class;
};
struct ClassGone {
	std::string name;
};
struct ClaimsListed {
	std::set<std::string> live_uids;
};
struct VolumesListed {
	std::set<std::string> live_uids;
};
struct ClassesListed {
	std::set<std::string> live_uids;
};

/* ---- devices: world/device_store.h ---- */
struct DevicesUnreadable {
	std::string why; /* text for users; empty: slices and classes can be read */
};
struct SliceSeen {
	ResourceSlice slice;
};
struct SliceGone {
	std::string name;
};
struct SlicesListed {
	std::set<std::string> live_uids;
};
struct DeviceClassSeen {
	DeviceClass device_class;
};
struct DeviceClassGone {
	std::string name;
};
struct DeviceClassesListed {
	std::set<std::string> live_uids;
};
struct TaintRuleSeen {
	DeviceTaintRule rule;
};
struct TaintRuleGone {
	std::string name;
};
/* Also if the API server has no such objects. */
struct TaintRulesListed {
	std::set<std::string> live_uids;
};

/* ---- claims for devices: world/resource_claims.h ---- */
struct ResourceClaimsUnreadable {
	std::string why; /* text for users; empty: claims can be read */
};
struct ResourceClaimSeen {
	ResourceClaim claim;
};
struct ResourceClaimGone {
	ResourceClaimId id;
};
struct ResourceClaimsListed {
	std::set<std::string> live_uids;
};

/* ---- Slurm ---- */
/* All partitions in which no pod can run, and why. */
struct PartitionsRefused {
	std::map<std::string, std::string> refused;
};
struct LinkOpened {
	PluginHello hello;
};
struct LinkLost {
};
struct JobSeen {
	SlurmJob job;
};
struct JobGone {
	JobId id;
};
struct SlurmNodeSeen {
	SlurmNode node;
};
struct SlurmNodeGone {
	std::string name;
};
/* All jobs and nodes have been reported since LinkOpened. */
struct SnapshotEnded {
};
/* The answer to World::take_job_question(). not_found: slurmctld knows no such job. */
struct NativeJobAnswered {
	JobId job;
	Result<NativeJob> answer;
	/* Jobs that slurmctld had to describe for it, also if the right one is not among them. */
	std::size_t described = 1;
};
/* slurmctld has carried out or refused a request. */
struct SlurmAnswered {
};

using Observation = std::variant<PodSeen, PodGone, PodsListed, NodeSeen, NodeGone, NodesListed,
	ClusterSeen, ClusterDoubted, LeaseSeen, NamespaceSeen, NamespaceGone, NamespacesListed,
	IdentityRulesSet, SettingsSet, UserFound, OwnerSeen, ForeignSeen, ForeignGone,
	ForeignListed, ClaimsUnreadable, ClaimSeen, ClaimGone, VolumeSeen, VolumeGone, ClassSeen,
	ClassGone, ClaimsListed, VolumesListed, ClassesListed, DevicesUnreadable, SliceSeen,
	SliceGone, SlicesListed, DeviceClassSeen, DeviceClassGone, DeviceClassesListed,
	TaintRuleSeen, TaintRuleGone, TaintRulesListed, ResourceClaimsUnreadable, ResourceClaimSeen,
	ResourceClaimGone, ResourceClaimsListed, PartitionsRefused, LinkOpened, LinkLost, JobSeen,
	JobGone, SlurmNodeSeen, SlurmNodeGone, SnapshotEnded, NativeJobAnswered, SlurmAnswered>;

} // namespace slurmkube::core

#endif
