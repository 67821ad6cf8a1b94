/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to write next for a claim; deal.cc says which devices it gets. */
#include "src/core/device/deal.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

std::vector<DeviceResult> results_of(const ClaimDeal &deal)
{
	std::vector<DeviceResult> out;
	for (const ChosenDevice &one : deal.devices)
		out.push_back(one.result);
	return out;
}

bool is_reserved_for(const ResourceClaim &claim, const std::string &pod_uid)
{
	return std::ranges::find(claim.reserved_for, pod_uid) != claim.reserved_for.end();
}

} // namespace

bool is_allocated(const ClaimDeal &deal)
{
	const ResourceClaim &claim = *deal.claim;
	return claim.allocation && claim.allocation->results == results_of(deal);
}

bool is_done(const ClaimDeal &deal, const std::string &pod_uid)
{
	return is_allocated(deal) && is_reserved_for(*deal.claim, pod_uid);
}

bool is_of_others(const ResourceClaim &claim, const std::set<std::string> &pod_uids)
{
	if (!claim.allocation && claim.reserved_for.empty())
		return false;
	return claim.reserved_for.empty() ||
		!std::ranges::all_of(claim.reserved_for,
			[&](const std::string &uid) { return pod_uids.contains(uid); });
}

std::optional<ReleaseDevices> step_back(const ResourceClaim &claim, const std::string &pod_uid)
{
	if (!claim.allocation || !is_reserved_for(claim, pod_uid))
		return std::nullopt;
	/* Kubernetes does not free a claim that is allocated and reserved for no pod */
	return ReleaseDevices{claim.id, claim.uid, claim.resource_version,
		claim.reserved_for.size() > 1 ? pod_uid : std::string()};
}

std::optional<DeviceStep> next_step(const ClaimDeal &deal, const std::string &node,
	const std::string &pod_name, const std::string &pod_uid, const ClaimUsers &users)
{
	const ResourceClaim &claim = *deal.claim;
	std::vector<ClaimUser> open = users.waiting;
	if (open.empty())
		open = {{pod_name, pod_uid}};
	std::set<std::string> all = users.others;
	for (const ClaimUser &one : open)
		all.insert(one.uid);
	if (is_done(deal, pod_uid) || is_of_others(claim, all))
		return std::nullopt;
	if (claim.uid.empty())
		return CreateClaim{claim.id, pod_name, pod_uid, claim.requests};
	if (claim.allocation && !is_allocated(deal)) {
		/* one after the other, so that their writes do not conflict */
		const auto first = std::ranges::find_if(claim.reserved_for, [&](const auto &uid) {
			return std::ranges::find(open, uid, &ClaimUser::uid) != open.end();
		});
		if (first == claim.reserved_for.end() || *first != pod_uid)
			return std::nullopt;
		return step_back(claim, pod_uid);
	}
	std::erase_if(open, [&](const ClaimUser &one) { return is_reserved_for(claim, one.uid); });
	open.resize(std::min(open.size(),
		k_claim_users_most - std::min(k_claim_users_most, claim.reserved_for.size())));
	if (open.empty() || open.front().uid != pod_uid)
		return std::nullopt;
	if (claim.allocation)
		return ReserveClaim{claim.id, claim.uid, claim.resource_version, std::move(open)};
	if (std::ranges::find(claim.finalizers, k_claim_finalizer) == claim.finalizers.end()) {
		ProtectClaim step{claim.id, claim.uid, claim.resource_version, claim.finalizers};
		step.finalizers.emplace_back(k_claim_finalizer);
		return step;
	}
	return AllocateDevices{claim.id, claim.uid, claim.resource_version, node, deal.devices,
		deal.configs, std::move(open)};
}

} // namespace slurmkube::core
