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

/* What is shared out, and where. */
struct Table {
	std::vector<DeviceId> left;
	const std::string &node;
	const DeviceSources &from;
};

/* The claim of the rank and what it gets; nullopt: it has not been served. */
struct Place {
	const RankClaims *rank;
	const ResourceClaim *claim;
	std::optional<ClaimDeal> deal;
};

bool is_reserved(const ResourceClaim &claim, const std::string &pod_uid)
{
	return claim.allocation &&
		std::ranges::find(claim.reserved_for, pod_uid) != claim.reserved_for.end();
}

/* The devices that the claim says or has been told; nullopt: none. */
std::optional<ClaimDeal> told(const Place &place)
{
	const ResourceClaim &claim = *place.claim;
	const std::optional<AllocateDevices> &sent = place.rank->sent;
	ClaimDeal out{&claim, {}, {}};
	if (is_reserved(claim, place.rank->pod_uid)) {
		for (const DeviceResult &one : claim.allocation->results)
			out.devices.push_back({one, {}});
		return out;
	}
	if (claim.allocation || !sent || sent->claim != claim.id || sent->uid != claim.uid)
		return std::nullopt;
	out.devices = sent->devices;
	out.configs = sent->configs;
	return out;
}

std::vector<DeviceId> counted(const ClaimDeal &deal)
{
	std::vector<DeviceId> out;
	for (const ChosenDevice &one : deal.devices) {
		if (!one.result.is_for_admin)
			out.push_back(one.result.device);
	}
	return out;
}

/* Whether the devices meet the claim now. */
bool is_met(const ClaimDeal &deal, const Table &table)
{
	Alternatives ways({deal.claim});
	const std::vector<DeviceId> devices = counted(deal);
	do {
		if (deal_given(ways.claims(), devices, table.node, table.from))
			return true;
	} while (ways.next());
	return false;
}

/* Takes the devices out of what is left. false: some are not there; then nothing is taken. */
bool take(const ClaimDeal &deal, std::vector<DeviceId> &left)
{
	std::vector<DeviceId> rest = left;
	for (const DeviceId &one : counted(deal)) {
		const auto found = std::ranges::find(rest, one);
		if (found == rest.end())
			return false;
		rest.erase(found);
	}
	left = std::move(rest);
	return true;
}

void keep_bound(std::vector<Place> &places, Table &table)
{
	for (Place &place : places) {
		if (!place.rank->is_bound)
			continue;
		place.deal = ClaimDeal{place.claim, {}, {}};
		if (!place.claim->allocation)
			continue;
		for (const DeviceResult &one : place.claim->allocation->results) {
			place.deal->devices.push_back({one, {}});
			/* they need not be those of the job */
			if (!one.is_for_admin)
				std::erase(table.left, one.device);
		}
	}
}

void keep_told(std::vector<Place> &places, Table &table)
{
	for (Place &place : places) {
		auto deal = place.deal ? std::nullopt : told(place);
		if (deal && is_met(*deal, table) && take(*deal, table.left))
			place.deal = std::move(deal);
	}
}

/* One way for all ranks with alternatives: their claims ask for the same. */
bool go_on(std::deque<Alternatives> &ways)
{
	bool has_choices = false;
	for (Alternatives &one : ways) {
		if (one.has_choices() && !one.next())
			return false;
		has_choices = has_choices || one.has_choices();
	}
	return has_choices;
}

Result<std::vector<ClaimDeal>> deal_to_all(std::deque<Alternatives> &ways, const Table &table)
{
	std::optional<Error> first;
	do {
		std::vector<const ResourceClaim *> claims;
		for (const Alternatives &one : ways)
			claims.insert(claims.end(), one.claims().begin(), one.claims().end());
		auto out = deal_given(claims, table.left, table.node, table.from);
		if (out)
			return out;
		first = first ? first : out.error();
	} while (go_on(ways));
	return *first;
}

/* Error: that of the first way. */
Status serve(std::vector<Place> &places, const Table &table)
{
	/* places of one rank follow each other, and a way is one of all its claims together */
	std::deque<Alternatives> ways;
	for (std::size_t i = 0; i < places.size();) {
		const RankClaims *rank = places[i].rank;
		std::vector<const ResourceClaim *> claims;
		for (; i < places.size() && places[i].rank == rank; i++) {
			if (!places[i].deal)
				claims.push_back(places[i].claim);
		}
		if (!claims.empty())
			ways.emplace_back(std::move(claims));
	}
	auto deals = deal_to_all(ways, table);
	if (!deals)
		return deals.error();
	auto next = deals->begin();
	for (Place &place : places) {
		if (place.deal)
			continue;
		place.deal = std::move(*next++);
		place.deal->claim = place.claim;
	}
	return Ok{};
}

} // namespace

Result<std::vector<std::vector<ClaimDeal>>> deal_to_ranks(const std::vector<RankClaims> &ranks,
	const NodeAllocation &slot, const std::string &extra, const DeviceSources &from)
{
	auto given = given_to(slot, extra, from.rules);
	if (!given)
		return given.error();
	Table table{std::move(*given), slot.node, from};
	std::vector<Place> places;
	for (const RankClaims &rank : ranks) {
		for (const ResourceClaim *claim : rank.claims)
			places.push_back({&rank, claim, std::nullopt});
	}
	keep_bound(places, table);
	std::vector<Place> kept = places;
	Table rest = table;
	keep_told(kept, rest);
	Status served = serve(kept, rest);
	if (!served) {
		kept = std::move(places);
		served = serve(kept, table);
	}
	if (!served)
		return served.error();
	std::vector<std::vector<ClaimDeal>> out(ranks.size());
	for (Place &place : kept)
		out[static_cast<std::size_t>(place.rank - ranks.data())].push_back(
			std::move(*place.deal));
	return out;
}

} // namespace slurmkube::core
