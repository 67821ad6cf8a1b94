/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * observation.h - what World can be told: one small structure for each thing that is observed.
 *
 * Names that end in Listed close a list: what they do not name is gone, or out of sight.
 */
#ifndef SLURMKUBE_CORE_WORLD_OBSERVATION_H
#define SLURMKUBE_CORE_WORLD_OBSERVATION_H

#include "src/core/model/owner.h"
#include "src/core/model/plugin.h"
#include "src/core/placement/claims.h"
#include "src/core/policy/identity_rules.h"

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

/* Which cluster this is: the uid of its namespace kube-system (world/unseen_pods.cc). */
struct ClusterSeen {
	std::string uid;
};
/* The lists have begun anew: it may be another by now, and nothing is done until it is told. */
struct ClusterDoubted {
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
/* Other rules: all namespaces must be told and listed anew, and no pod is anybody until then. */
struct IdentityRulesSet {
	std::vector<NamespaceRule> rules;
	std::uint32_t min_uid;
};
struct UserFound {
	std::string name;
	Result<SlurmUser> user;
};
/* An empty optional: there is no such object. An error is asked about again. */
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
	std::string why; /* for texts; empty: they are not */
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

/* ---- Slurm ---- */
/* Partitions in which no pod can run, and why; as a whole. */
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
/* What was seen since LinkOpened is all there is. */
struct SnapshotEnded {
};
/* slurmctld has carried out a request, or refused it. */
struct SlurmAnswered {
};

using Observation = std::variant<PodSeen, PodGone, PodsListed, NodeSeen, NodeGone, NodesListed,
	ClusterSeen, ClusterDoubted, NamespaceSeen, NamespaceGone, NamespacesListed,
	IdentityRulesSet, UserFound, OwnerSeen, ForeignSeen, ForeignGone, ForeignListed,
	ClaimsUnreadable, ClaimSeen, ClaimGone, VolumeSeen, VolumeGone, ClassSeen, ClassGone,
	ClaimsListed, VolumesListed, ClassesListed, PartitionsRefused, LinkOpened, LinkLost,
	JobSeen, JobGone, SlurmNodeSeen, SlurmNodeGone, SnapshotEnded, SlurmAnswered>;

} // namespace slurmkube::core

#endif
