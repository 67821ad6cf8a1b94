/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deal.h - which claim of a pod gets which of the devices that Slurm has chosen, and what to write
 * next so that the claims say so.
 *
 * Pure.
 */
#ifndef SLURMKUBE_CORE_DEVICE_DEAL_H
#define SLURMKUBE_CORE_DEVICE_DEAL_H

#include "src/core/device/fit.h"
#include "src/core/device/steps.h"
#include "src/core/model/job.h"

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace slurmkube::core
{

/* What one claim gets. */
struct ClaimDeal {
	const ResourceClaim *claim = nullptr; /* of the caller */
	std::vector<ChosenDevice> devices;
	std::vector<ChosenConfig> configs;
};

using DeviceStep =
	std::variant<ProtectClaim, AllocateDevices, ReserveClaim, ReleaseDevices, CreateClaim>;

/*
 * slot: what the job has on the pod's node. extra: of the node's record in Slurm, with the devices
 * by index (inventory.h). Errors: those of given_to(); a device does not meet its request any more.
 * The text is for users.
 */
Result<std::vector<ClaimDeal>> deal(const std::vector<const ResourceClaim *> &claims,
	const NodeAllocation &slot, const std::string &extra, const DeviceSources &from);

/* The same for devices that are known, and claims whose requests have no alternatives. */
Result<std::vector<ClaimDeal>> deal_given(const std::vector<const ResourceClaim *> &claims,
	const std::vector<DeviceId> &given, const std::string &node, const DeviceSources &from);

/* Whether the claim says exactly this, and is reserved for the pod. */
bool is_done(const ClaimDeal &deal, const std::string &pod_uid);

/* The claim says these devices, for whichever pods. */
bool is_allocated(const ClaimDeal &deal);

/* The pods of a gang that share a claim. */
struct ClaimUsers {
	std::vector<ClaimUser> waiting = {}; /* for a node, and not bound; in the order of ranks */
	std::set<std::string> others = {};   /* uids; also of pods that have ended */
};

/* The next write for a claim of a pod that is not bound; nullopt: none is needed, or the claim is
 * in use by another pod and has to become free first (is_of_others()), or another pod of the gang
 * is the one that writes. users: if pods of a gang share the claim. */
std::optional<DeviceStep> next_step(const ClaimDeal &deal, const std::string &node,
	const std::string &pod_name, const std::string &pod_uid, const ClaimUsers &users = {});

/* The write by which a pod that is not bound gives up an allocated claim. Pods that share it leave
 * one after the other, in the order opposite to that of their reservations. nullopt: it is not this
 * pod's turn. */
std::optional<ReleaseDevices> step_back(const ResourceClaim &claim, const std::string &pod_uid);

/* The claim is allocated or reserved, and not only for these pods. */
bool is_of_others(const ResourceClaim &claim, const std::set<std::string> &pod_uids);

} // namespace slurmkube::core

#endif
