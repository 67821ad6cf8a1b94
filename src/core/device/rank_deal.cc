/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/device/rank_deal.h"

#include "src/core/device/alternatives.h"
#include "src/core/device/given.h"

#include <algorithm>
#include <deque>

namespace slurmkube::core
{

namespace
{

bool is_reserved(const ResourceClaim &claim, const std::string &pod_uid)
{
	return claim.allocation &&
		std::ranges::find(claim.reserved_for, pod_uid) != claim.reserved_for.end();
}

/* The devices that the claims of the pod say. nullopt: not all say some of this pod. */
std::optional<std::vector<ClaimDeal>> said_by(const RankClaims &rank)
{
	std::vector<ClaimDeal> out;
	for (const ResourceClaim *claim : rank.claims) {
		if (!is_reserved(*claim, rank.pod_uid))
			return std::nullopt;
		ClaimDeal &deal = out.emplace_back(ClaimDeal{claim, {}, {}});
		for (const DeviceResult &one : claim->allocation->results)
			deal.devices.push_back({one, {}});
	}
	return out;
}

/* Takes the devices of the claims out of what is left. false: some are not there; then nothing is
 * taken. */
bool take(const std::vector<ClaimDeal> &deals, std::vector<DeviceId> &left)
{
	std::vector<DeviceId> rest = left;
	for (const ClaimDeal &deal : deals) {
		for (const ChosenDevice &chosen : deal.devices) {
			if (chosen.result.is_for_admin)
				continue;
			const auto found = std::ranges::find(rest, chosen.result.device);
			if (found == rest.end())
				return false;
			rest.erase(found);
		}
	}
	left = std::move(rest);
	return true;
}

/* A bound pod keeps what it has, even if the devices are not those of the job. */
std::vector<ClaimDeal> kept_by(const RankClaims &rank, std::vector<DeviceId> &left)
{
	auto deals = said_by(rank);
	if (!deals || (!take(*deals, left) && !rank.is_bound))
		return {};
	return std::move(*deals);
}

/* One way for all: the claims of all ranks ask for the same. */
std::vector<const ResourceClaim *> joined(const std::deque<Alternatives> &ways)
{
	std::vector<const ResourceClaim *> out;
	for (const Alternatives &one : ways)
		out.insert(out.end(), one.claims().begin(), one.claims().end());
	return out;
}

bool go_on(std::deque<Alternatives> &ways)
{
	return !ways.empty() &&
		std::ranges::all_of(ways, [](Alternatives &one) { return one.next(); });
}

/* Error: that of the first way. */
Result<std::vector<ClaimDeal>> deal_to_all(std::deque<Alternatives> &ways,
	const std::vector<DeviceId> &left, const std::string &node, const DeviceSources &from)
{
	const auto first = deal_given(joined(ways), left, node, from);
	auto out = first;
	while (!out && go_on(ways))
		out = deal_given(joined(ways), left, node, from);
	return out ? out : first;
}

} // namespace

Result<std::vector<std::vector<ClaimDeal>>> deal_to_ranks(const std::vector<RankClaims> &ranks,
	const NodeAllocation &slot, const std::string &extra, const DeviceSources &from)
{
	auto given = given_to(slot, extra, from.rules);
	if (!given)
		return given.error();
	std::vector<std::vector<ClaimDeal>> out;
	std::deque<Alternatives> ways;
	for (const RankClaims &rank : ranks)
		out.push_back(kept_by(rank, *given));
	for (std::size_t i = 0; i < ranks.size(); i++) {
		if (out[i].empty() && !ranks[i].is_bound)
			ways.emplace_back(ranks[i].claims);
	}
	auto deals = deal_to_all(ways, *given, slot.node, from);
	if (!deals)
		return deals.error();
	auto next = deals->begin();
	for (std::size_t i = 0; i < ranks.size(); i++) {
		if (!out[i].empty() || ranks[i].is_bound)
			continue;
		for (const ResourceClaim *claim : ranks[i].claims) {
			next->claim = claim;
			out[i].push_back(std::move(*next++));
		}
	}
	return out;
}

} // namespace slurmkube::core
