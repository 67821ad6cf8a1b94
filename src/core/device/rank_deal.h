/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rank_deal.h - which pods of a gang get which of the devices that Slurm has given to their job on
 * a node.
 *
 * Pure. Slurm gives devices to the job, and the job's pods there share them out.
 */
#ifndef SLURMKUBE_CORE_DEVICE_RANK_DEAL_H
#define SLURMKUBE_CORE_DEVICE_RANK_DEAL_H

#include "src/core/device/deal.h"

#include <optional>
#include <string>
#include <vector>

namespace slurmkube::core
{

/* A pod of the job on the node, which lives and has claims. */
struct RankClaims {
	std::string pod_uid;
	bool is_bound = false;
	std::vector<const ResourceClaim *> claims; /* of the caller; for this pod alone */
	/* a write for one of the claims that may have been done, and has not been seen */
	std::optional<AllocateDevices> sent = {};
	/* claims that other pods of the job may share */
	std::vector<const ResourceClaim *> shared = {};
};

/*
 * What each rank's claims get, in the order of the ranks: first those that it shares, which get
 * their devices once. A claim that says, or has been told, devices of the job which still meet it
 * keeps them, so the deal stays the same while it is written; so does every claim of a pod that is
 * bound. All other claims are served in their order. The own claims of all pods take the same one
 * of their alternatives. If that leaves a claim without devices, all pods that are not bound are
 * served anew. Errors: as of deal().
 */
Result<std::vector<std::vector<ClaimDeal>>> deal_to_ranks(const std::vector<RankClaims> &ranks,
	const NodeAllocation &slot, const std::string &extra, const DeviceSources &from);

} // namespace slurmkube::core

#endif
