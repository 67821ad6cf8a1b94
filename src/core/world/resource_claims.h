/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resource_claims.h - claims for devices as the API server reports them, which of our pods use
 * which, and which nodes could not serve a pod.
 *
 * device/ says what a claim means for a pod. This store knows no other store: calls that change
 * something return the pods that must be looked at again.
 */
#ifndef SLURMKUBE_CORE_WORLD_RESOURCE_CLAIMS_H
#define SLURMKUBE_CORE_WORLD_RESOURCE_CLAIMS_H

#include "src/core/device/demand.h"
#include "src/core/device/extended_resource.h"
#include "src/core/model/now.h"
#include "src/core/model/pod.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

class ResourceClaims
{
      public:
	/* ---- what the API server reports ---- */
	std::set<PodUid> seen(ResourceClaim claim);
	std::set<PodUid> gone(const ResourceClaimId &id);
	std::set<PodUid> listed(const std::set<std::string> &live_uids);
	/* The watch may lag behind: no claim is read before they have been listed again. */
	void doubt() { is_listed_ = false; }
	/* why: text for users; empty: claims can be read. */
	void set_unreadable(std::string why) { unreadable_ = std::move(why); }

	/* ---- our pods ---- */
	void note(const Pod &pod);
	/* The same for a template with backed resources, under a uid of its own. */
	void note_template(const Pod &pod);
	void forget(const PodUid &uid);
	/* Slurm gave the pod devices of the node that cannot be used: the node is left out until
	 * then (monotonic microseconds). */
	void refuse(
		const PodUid &uid, const std::string &node, std::string why, std::int64_t until_us);

	/* ---- views ---- */
	/* A pod of ours with claims has been seen, so they must be watched. */
	[[nodiscard]] bool is_wanted() const { return is_wanted_; }
	[[nodiscard]] bool is_listed() const { return is_listed_; }
	[[nodiscard]] const std::string &unreadable() const { return unreadable_; }
	[[nodiscard]] const ResourceClaim *find(const ResourceClaimId &id) const;
	[[nodiscard]] std::set<PodUid> users() const;
	/* The claim for which the device is allocated; nullptr: none but `except`. */
	[[nodiscard]] const ResourceClaim *holder_of(
		const DeviceId &device, const ResourceClaimId &except) const;
	/* The uids of the pods that had the device last, or have it; several: they shared a
	 * claim. */
	[[nodiscard]] const std::vector<std::string> &last_users_of(const DeviceId &device) const;
	/* Claims with devices that are reserved for the pod, whether it uses them or not. */
	[[nodiscard]] const std::set<ResourceClaimId> &allocated_for(const PodUid &uid) const;
	/* The pod's claim for extended resources: as the API server has it, or else as it has to be
	 * created; nullptr: the pod needs none. */
	[[nodiscard]] const ResourceClaim *extended_of(const PodUid &uid) const;
	/* nullptr: the pod needs none. */
	[[nodiscard]] const ExtendedClaim *wanted_of(const PodUid &uid) const;
	/* Why the node is left out; nullptr: it is not. */
	[[nodiscard]] const std::string *refusal_of(
		const PodUid &uid, const std::string &node, std::int64_t now_us) const;

	/* ---- what claims ask for, kept for claims that ask for the same ---- */
	/* The reference is valid until the next call. */
	[[nodiscard]] const Result<DeviceDemand> &demand_of(
		const std::vector<const ResourceClaim *> &claims, const DeviceSources &from) const;
	[[nodiscard]] const Selectors &selectors() const { return selectors_; }
	/* Slices, classes or rules have changed. */
	void forget_demands();

      private:
	[[nodiscard]] std::set<PodUid> users_of(
		const ResourceClaimId &id, const ResourceClaim &claim) const;
	void drop_uses(const PodUid &uid);
	/* before: what was known of it; nullptr: nothing */
	void hold(const ResourceClaim &claim, const ResourceClaim *before);
	void release(const ResourceClaim &claim);

	struct Refused {
		std::string why;
		std::int64_t until_us = 0;
	};

	std::map<ResourceClaimId, ResourceClaim> claims_;
	std::map<DeviceId, std::set<ResourceClaimId>> holders_;
	std::map<DeviceId, std::vector<std::string>> last_users_;
	bool is_wanted_ = false, is_listed_ = false;
	std::string unreadable_;
	std::map<ResourceClaimId, std::set<PodUid>> users_;
	std::map<PodUid, std::vector<ResourceClaimId>> claims_of_;
	std::map<PodUid, std::map<std::string, Refused>> refused_;
	std::map<PodUid, ExtendedClaim> wanted_;
	/* claims for extended resources that exist, by the uid of the pod */
	std::map<std::string, std::set<ResourceClaimId>> extended_;
	std::map<std::string, std::set<ResourceClaimId>> allocated_for_; /* by uid of the pod */
	Selectors selectors_;
	mutable std::map<std::string, Result<DeviceDemand>> demands_;
};

} // namespace slurmkube::core

#endif
