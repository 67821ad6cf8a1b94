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

/* A claim, the ranks that use it, and what it gets; nullopt: it has not been served. */
struct Place {
	const ResourceClaim *claim;
	std::vector<const RankClaims *> ranks;
	bool is_shared;
	std::optional<ClaimDeal> deal;
};

bool is_of_bound(const Place &place)
{
	return std::ranges::any_of(place.ranks, &RankClaims::is_bound);
}

/* A shared claim may be reserved only for pods of the gang that have ended or are about to. */
bool is_allocated_for(const Place &place)
{
	const ResourceClaim &claim = *place.claim;
	return claim.allocation &&
		(place.is_shared ||
			std::ranges::find(claim.reserved_for, place.ranks.front()->pod_uid) !=
				claim.reserved_for.end());
}

bool is_for(const std::optional<AllocateDevices> &sent, const ResourceClaim &claim)
{
	return sent && sent->claim == claim.id && sent->uid == claim.uid;
}

/* The devices that the claim says or has been told; nullopt: none. */
std::optional<ClaimDeal> told(const Place &place)
{
	const ResourceClaim &claim = *place.claim;
	ClaimDeal out{&claim, {}, {}};
	if (is_allocated_for(place)) {
		for (const DeviceResult &one : claim.allocation->results)
			out.devices.push_back({one, {}});
		return out;
	}
	const auto writer = std::ranges::find_if(
		place.ranks, [&](const RankClaims *rank) { return is_for(rank->sent, claim); });
	if (claim.allocation || writer == place.ranks.end())
		return std::nullopt;
	out.devices = (*writer)->sent->devices;
	out.configs = (*writer)->sent->configs;
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
		if (!is_of_bound(place))
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

/* Claims that have not been served. */
struct Unserved {
	std::vector<const ResourceClaim *> shared;
	std::vector<std::vector<const ResourceClaim *>> own; /* by rank */
};

Unserved unserved(const std::vector<Place> &places)
{
	Unserved out;
	/* places of one rank follow each other, and a way is one of all its claims together */
	const RankClaims *last = nullptr;
	for (const Place &place : places) {
		if (place.deal)
			continue;
		if (place.is_shared) {
			out.shared.push_back(place.claim);
			continue;
		}
		if (place.ranks.front() != last)
			out.own.emplace_back();
		last = place.ranks.front();
		out.own.back().push_back(place.claim);
	}
	return out;
}

/* In the order of the claims, shared ones first. */
Result<std::vector<ClaimDeal>> deal_to_all(const Unserved &asked, const Table &table)
{
	std::optional<Error> first;
	Alternatives shared(asked.shared);
	do {
		std::deque<Alternatives> ways;
		for (const auto &claims : asked.own)
			ways.emplace_back(claims);
		do {
			std::vector<const ResourceClaim *> claims = shared.claims();
			for (const Alternatives &one : ways)
				claims.insert(
					claims.end(), one.claims().begin(), one.claims().end());
			auto out = deal_given(claims, table.left, table.node, table.from);
			if (out)
				return out;
			first = first ? first : out.error();
		} while (go_on(ways));
	} while (shared.next());
	return *first;
}

/* Error: that of the first way. */
Status serve(std::vector<Place> &places, const Table &table)
{
	auto deals = deal_to_all(unserved(places), table);
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

/* Shared claims first, then those of each rank. */
std::vector<Place> places_of(const std::vector<RankClaims> &ranks)
{
	std::vector<Place> out;
	for (const RankClaims &rank : ranks) {
		for (const ResourceClaim *claim : rank.shared) {
			const auto known = std::ranges::find(out, claim, &Place::claim);
			if (known == out.end())
				out.push_back({claim, {&rank}, true, std::nullopt});
			else
				known->ranks.push_back(&rank);
		}
	}
	/* in one order for all gangs, so that two of them do not wait for each other */
	std::ranges::sort(out, {}, [](const Place &place) { return place.claim->id; });
	for (const RankClaims &rank : ranks) {
		for (const ResourceClaim *claim : rank.claims)
			out.push_back({claim, {&rank}, false, std::nullopt});
	}
	return out;
}

} // namespace

Result<std::vector<std::vector<ClaimDeal>>> deal_to_ranks(const std::vector<RankClaims> &ranks,
	const NodeAllocation &slot, const std::string &extra, const DeviceSources &from)
{
	auto given = published_to(slot, extra, from.rules, from.inventory);
	if (!given)
		return given.error();
	Table table{std::move(*given), slot.node, from};
	std::vector<Place> places = places_of(ranks);
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
	for (const Place &place : kept) {
		for (const RankClaims *rank : place.ranks)
			out[static_cast<std::size_t>(rank - ranks.data())].push_back(*place.deal);
	}
	return out;
}

} // namespace slurmkube::core
