/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claim_store.h - volume claims, volumes and storage classes as the API server reports them, and
 * which of our pods use which claim.
 *
 * placement/claims.h says what a claim means for a pod. This store knows no other store: calls that
 * change something return the pods that must be looked at again.
 */
#ifndef SLURMKUBE_CORE_WORLD_CLAIM_STORE_H
#define SLURMKUBE_CORE_WORLD_CLAIM_STORE_H

#include "src/core/model/now.h"
#include "src/core/placement/claims.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

class ClaimStore
{
      public:
	struct Change {
		/* false: the object is the same as before */
		bool is_any = false;
		/* pods that use the claim, or the claim that the volume is for */
		std::set<PodUid> users;
		/* When to look at the users again, monotonic microseconds: until then a node counts
		 * as refused, because a provisioner could not make the volume there. 0: no node was
		 * refused. */
		std::int64_t again_us = 0;
	};

	/* ---- what the API server reports ---- */
	Change seen(Claim claim, Now now);
	Change seen(Volume volume);
	bool seen(StorageClass storage_class) { return known_.seen(std::move(storage_class)); }
	std::set<PodUid> gone(const ClaimId &id);
	void volume_gone(const std::string &name) { known_.volume_gone(name); }
	void class_gone(const std::string &name) { known_.class_gone(name); }
	void claims_listed(const std::set<std::string> &live_uids)
	{
		known_.claims_listed(live_uids);
	}
	void volumes_listed(const std::set<std::string> &live_uids)
	{
		known_.volumes_listed(live_uids);
	}
	void classes_listed(const std::set<std::string> &live_uids)
	{
		known_.classes_listed(live_uids);
	}
	/* why: text for users; empty: claims can be read. */
	void set_unreadable(std::string why) { unreadable_ = std::move(why); }

	/* ---- which pods use the claims ---- */
	void note(const Pod &pod);
	void want() { is_wanted_ = true; }
	void forget(const PodUid &uid);

	/* ---- views ---- */
	/* A pod or template with claims has been seen, so claims, volumes and classes must be
	 * watched. */
	[[nodiscard]] bool is_wanted() const { return is_wanted_; }
	[[nodiscard]] const Claims &known() const { return known_; }
	[[nodiscard]] const std::string &unreadable() const { return unreadable_; }
	[[nodiscard]] const std::set<PodUid> &users_of(const ClaimId &id) const;
	/* All our pods that have claims. */
	[[nodiscard]] std::set<PodUid> users() const;
	/* Why the claims do not allow the pod on the node at present; nullopt: they do. */
	[[nodiscard]] std::optional<Refusal> refuses(
		const Pod &pod, const KubeNode &node, std::int64_t now_us) const;

      private:
	Claims known_;
	bool is_wanted_ = false;
	std::string unreadable_;
	std::map<ClaimId, std::set<PodUid>> users_;
	std::map<PodUid, std::vector<ClaimId>> claims_of_;
	/* nodes that a provisioner has refused for a claim, and until when; monotonic
	 * microseconds */
	std::map<std::pair<ClaimId, std::string>, std::int64_t> unfit_until_us_;
};

} // namespace slurmkube::core

#endif
