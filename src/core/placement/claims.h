/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claims.h - volume claims of pods: which nodes they permit, and what has to be written before a
 * pod with claims is bound.
 *
 * Pure. The rules are those of kube-scheduler 1.37's plugins volumebinding, volumezone and, for
 * ReadWriteOncePod, volumerestrictions; testsuite/component/oracle compares the results. A claim
 * whose StorageClass has WaitForFirstConsumer waits for the scheduler's decision: the scheduler
 * either assigns an existing volume (the volume's claimRef), or tells the provisioner the node (the
 * claim's annotation volume.kubernetes.io/selected-node). Storage capacity and the number of
 * volumes that a node can attach are not checked: a provisioner without room removes the
 * annotation.
 */
#ifndef SLURMKUBE_CORE_PLACEMENT_CLAIMS_H
#define SLURMKUBE_CORE_PLACEMENT_CLAIMS_H

#include "src/base/result.h"
#include "src/core/device/steps.h"
#include "src/core/placement/placement.h"

#include <set>
#include <variant>

namespace slurmkube::core
{

struct ClaimId {
	std::string name_space, name;
	auto operator<=>(const ClaimId &) const = default;
};

struct Claim {
	ClaimId id;
	std::string uid, resource_version;
	/* uid of the claim's controller, such as the pod of an ephemeral volume */
	std::string owner_uid;
	std::string storage_class;
	std::string volume;    /* spec.volumeName */
	bool is_bound = false; /* to that volume, as confirmed by the volume controller */
	bool is_lost = false, deleting = false;
	std::string selected_node;
	std::int64_t bytes = 0;
	std::set<std::string> access_modes;
	std::string volume_mode = "Filesystem";
	std::optional<PodSelector> selector;
	bool operator==(const Claim &) const = default;
};

struct Volume {
	std::string name, uid, resource_version, storage_class;
	bool is_available = false, deleting = false;
	std::optional<ClaimId> claim; /* for which the volume is reserved */
	std::string claim_uid;        /* empty: any claim with that name */
	std::int64_t bytes = 0;
	std::set<std::string> access_modes;
	std::string volume_mode = "Filesystem";
	std::map<std::string, std::string> labels;
	/* one term must match; nullopt: any node */
	std::optional<std::vector<NodeTerm>> node_terms;
	bool operator==(const Volume &) const = default;
};

struct StorageClass {
	std::string name, uid, provisioner;
	bool waits_for_pod = false;       /* volumeBindingMode WaitForFirstConsumer */
	std::vector<NodeTerm> topologies; /* where volumes can be created; empty: anywhere */
	bool operator==(const StorageClass &) const = default;
};

/* What to write so that a claim is bound for a node. The versions are preconditions of the
 * write. */
struct GiveVolume {
	ClaimId claim;
	std::string claim_uid, claim_version;
	std::string volume, volume_uid, volume_version;
	bool operator==(const GiveVolume &) const = default;
};
struct SelectNode {
	ClaimId claim;
	std::string claim_uid, claim_version;
	std::string node;
	bool operator==(const SelectNode &) const = default;
};
/* What is written for a claim before its pod is bound; all but the first two are for devices. */
using ClaimStep = std::variant<GiveVolume, SelectNode, CreateClaim, ProtectClaim, AllocateDevices,
	ReserveClaim, MapRequests, ReleaseDevices>;

const std::string &claim_name_of(const ClaimStep &step);
/* What the claim is given, for logs: "given volume v1", "given gpu-0, gpu-1". */
std::string step_text(const ClaimStep &step);

/* What the claims of one pod need on one node. */
struct ClaimPlan {
	std::vector<ClaimStep> steps; /* for volumes */
	/* claims that are decided, but that the volume's controller has not bound yet */
	std::vector<ClaimId> awaited;
};

class Claims
{
      public:
	/* Return whether anything has changed. */
	bool seen(Claim claim);
	bool seen(Volume volume);
	bool seen(StorageClass storage_class);
	void gone(const ClaimId &id) { claims_.erase(id); }
	void volume_gone(const std::string &name) { volumes_.erase(name); }
	void class_gone(const std::string &name) { classes_.erase(name); }
	void claims_listed(const std::set<std::string> &live_uids);
	void volumes_listed(const std::set<std::string> &live_uids);
	void classes_listed(const std::set<std::string> &live_uids);
	/* Whether all three lists are complete; before that, nothing can be said about a claim. */
	[[nodiscard]] bool is_listed() const
	{
		return claims_listed_ && volumes_listed_ && classes_listed_;
	}

	/* Why the pod cannot run on any node at present; empty: nothing is known against it. */
	[[nodiscard]] std::string trouble_of(const Pod &pod) const;
	/* Call only if trouble_of() returned an empty text. */
	[[nodiscard]] std::optional<Refusal> refuses(const Pod &pod, const KubeNode &node) const;
	/* Call only if refuses() returned nullopt. */
	[[nodiscard]] ClaimPlan plan(const Pod &pod, const KubeNode &node) const;
	/* The pod's claims with ReadWriteOncePod, which only one pod may use. */
	[[nodiscard]] std::vector<ClaimId> exclusive(const Pod &pod) const;
	[[nodiscard]] const Claim *find(const ClaimId &id) const;

      private:
	[[nodiscard]] std::string trouble_of(const Pod &pod, const PodClaim &wanted) const;
	[[nodiscard]] bool waits_for_pod(const Claim &claim) const;
	[[nodiscard]] std::vector<const Claim *> claims_of(const Pod &pod, bool bound) const;
	[[nodiscard]] std::optional<Refusal> bound_refuses(
		const Claim &claim, const KubeNode &node) const;
	[[nodiscard]] bool can_provision(const Claim &claim, const KubeNode &node) const;
	[[nodiscard]] const Volume *match(
		const Claim &claim, const KubeNode &node, const std::set<std::string> &taken) const;
	std::optional<Refusal> plan(const Pod &pod, const KubeNode &node, ClaimPlan &out) const;

	std::map<ClaimId, Claim> claims_;
	std::map<std::string, Volume> volumes_;
	std::map<std::string, StorageClass> classes_;
	bool claims_listed_ = false, volumes_listed_ = false, classes_listed_ = false;
};

} // namespace slurmkube::core

#endif
