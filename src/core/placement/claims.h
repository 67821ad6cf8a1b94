/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claims.h - volume claims of pods: which nodes they leave, and what has to be done before a pod
 * with claims is bound.
 *
 * Pure. The rules are those of kube-scheduler 1.37's plugins volumebinding, volumezone and, for
 * ReadWriteOncePod, volumerestrictions; testsuite/component/oracle compares them. A claim whose
 * StorageClass says WaitForFirstConsumer waits for a scheduler's word: either a volume that exists
 * is given to it (the volume's claimRef), or its provisioner is told the node (the claim's
 * annotation volume.kubernetes.io/selected-node). Storage capacity and numbers of volumes a node
 * may attach are not looked at: a provisioner that has no room says so by taking the annotation
 * away.
 */
#ifndef SLURMKUBE_CORE_PLACEMENT_CLAIMS_H
#define SLURMKUBE_CORE_PLACEMENT_CLAIMS_H

#include "src/base/result.h"
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
	std::string owner_uid; /* of its controller, such as the pod of an ephemeral volume */
	std::string storage_class;
	std::string volume;    /* spec.volumeName */
	bool is_bound = false; /* to that volume, and the controller has said so */
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
	std::optional<ClaimId> claim; /* that it is for */
	std::string claim_uid;        /* empty: any claim of that name */
	std::int64_t bytes = 0;
	std::set<std::string> access_modes;
	std::string volume_mode = "Filesystem";
	std::map<std::string, std::string> labels;
	std::optional<std::vector<NodeTerm>> node_terms; /* one must hold; none: any node */
	bool operator==(const Volume &) const = default;
};

struct StorageClass {
	std::string name, uid, provisioner;
	bool waits_for_pod = false;       /* volumeBindingMode WaitForFirstConsumer */
	std::vector<NodeTerm> topologies; /* where volumes may be made; none: anywhere */
	bool operator==(const StorageClass &) const = default;
};

/* What to write, so that a claim is bound for a node. Versions are preconditions. */
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
using ClaimStep = std::variant<GiveVolume, SelectNode>;

const ClaimId &claim_of(const ClaimStep &step);

/* Of one pod on one node. */
struct ClaimPlan {
	std::vector<ClaimStep> steps; /* to do */
	/* the word is given, the volume's controller has not finished */
	std::vector<ClaimId> awaited;
};

class Claims
{
      public:
	/* true: something has changed */
	bool seen(Claim claim);
	bool seen(Volume volume);
	bool seen(StorageClass storage_class);
	void gone(const ClaimId &id) { claims_.erase(id); }
	void volume_gone(const std::string &name) { volumes_.erase(name); }
	void class_gone(const std::string &name) { classes_.erase(name); }
	void claims_listed(const std::set<std::string> &live_uids);
	void volumes_listed(const std::set<std::string> &live_uids);
	void classes_listed(const std::set<std::string> &live_uids);
	/* Before that nothing is known of any claim. */
	[[nodiscard]] bool is_listed() const
	{
		return claims_listed_ && volumes_listed_ && classes_listed_;
	}

	/* Why the pod can run on no node now, whichever it is; empty: there may be one. */
	[[nodiscard]] std::string trouble_of(const Pod &pod) const;
	/* After trouble_of() was empty. */
	[[nodiscard]] std::optional<Refusal> refuses(const Pod &pod, const KubeNode &node) const;
	/* After refuses() had nothing against it. */
	[[nodiscard]] ClaimPlan plan(const Pod &pod, const KubeNode &node) const;
	/* Its claims that only one pod may use. */
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
