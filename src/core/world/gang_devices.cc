/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the claims for devices of a gang's pods. device_facts.cc has those of one pod. */
#include "src/core/device/rank_deal.h"
#include "src/core/policy/gres.h"
#include "src/core/reconcile/report.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/extended_resources.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/hybrid_devices.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_devices.h"
#include "src/core/world/shared_claims.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

bool has_claims(const PodEntry &entry)
{
	return entry.pod && !entry.pod->resource_claims.empty();
}

/* The job did not ask for devices: it was submitted before the claims were known. */
bool has_no_devices(const NodeAllocation &slot, const DeviceRules &rules)
{
	return std::ranges::none_of(slot.gres, [&](const Gres &one) {
		return std::ranges::find(rules, one.name, &DeviceRule::gres) != rules.end();
	});
}

/* Everything that must be true before the claims of a waiting pod are written. */
bool is_placed(const RankFacts &r)
{
	const PlaceFacts &n = r.node;
	return r.side == PodSide::waiting && r.holds_rank && n.is_usable && n.has_room &&
		n.forbidden.empty() && !n.claim_step && n.claim_wait.empty();
}

bool is_named(const Pod &pod, const ResourceClaim &claim)
{
	return std::ranges::any_of(pod.resource_claims, [&](const PodResourceClaim &one) {
		return !one.is_own && one.claim == claim.id.name;
	});
}

/* Moves the claims that the pod names to the shared ones. */
void part_claims(const Pod &pod, RankClaims &rank)
{
	for (const ResourceClaim *claim : rank.claims) {
		if (is_named(pod, *claim))
			rank.shared.push_back(claim);
	}
	std::erase_if(
		rank.claims, [&](const ResourceClaim *claim) { return is_named(pod, *claim); });
}

std::vector<const ResourceClaim *> all_claims(const std::vector<RankClaims> &ranks)
{
	std::vector<const ResourceClaim *> all;
	for (const RankClaims &rank : ranks) {
		all.insert(all.end(), rank.claims.begin(), rank.claims.end());
		for (const ResourceClaim *claim : rank.shared) {
			if (std::ranges::find(all, claim) == all.end())
				all.push_back(claim);
		}
	}
	return all;
}

} // namespace

bool are_claims_unread(const State &state, const Gang &gang)
{
	if (are_devices_listed(state))
		return false;
	return std::ranges::any_of(gang.members, [&](const auto &member) {
		const PodEntry &entry = state.pods.at(member.first);
		return has_claims(entry) && is_live_side(side_of(entry)) &&
			!is_bound_side(side_of(entry));
	});
}

void add_claimed(const State &state, const Pod &pod, Resources &requests)
{
	const auto demand = pod.resource_claims.empty() ? Result<const DeviceDemand *>(nullptr)
							: device_demand(state, pod, ClaimPart::own);
	if (!demand || !*demand)
		return;
	for (const Gres &one : (*demand)->gres)
		requests.extended[claimed_resource(one)] += static_cast<std::int64_t>(one.count);
}

std::string device_trouble_of_gang(const State &state, const PodUid &key, const Gang &gang)
{
	for (const auto &[uid, rank] : gang.members) {
		const PodEntry &entry = state.pods.at(uid);
		if (!has_claims(entry) || side_of(entry) != PodSide::waiting)
			continue;
		const auto demand = device_demand(state, *entry.pod, ClaimPart::own);
		if (!demand)
			return demand.error().what;
		if (!(*demand)->cpus.empty())
			return k_no_cpus_for_gangs;
	}
	std::string why = trouble_of_backed_roles(state, gang);
	return why.empty() ? trouble_of_shared(state, key, gang) : why;
}

/* By node: the ranks there that have claims, in their order. */
std::map<std::string, std::vector<RankFacts *>> FactsReader::ranks_with_claims(
	ComponentFacts &f) const
{
	std::map<std::string, std::vector<RankFacts *>> out;
	for (RankFacts &r : f.ranks) {
		const PodEntry &entry = state_.pods.at(r.uid);
		if (!has_claims(entry))
			continue;
		const std::string &node =
			is_bound_side(r.side) ? bound_node_of(entry) : r.node.name;
		if (!node.empty() && (is_bound_side(r.side) || is_placed(r)))
			out[node].push_back(&r);
	}
	for (auto &[node, ranks] : out)
		std::ranges::stable_sort(ranks, {}, &RankFacts::rank);
	return out;
}

void FactsReader::note_unread_claims(const Gang &gang, ComponentFacts &f) const
{
	if (!are_claims_unread(state_, gang))
		return;
	const bool is_charged = job_side(f.job) == JobSide::allocated;
	for (RankFacts &r : f.ranks) {
		if (r.side != PodSide::waiting)
			continue;
		r.node.device_wait = resource_claims_unread(unreadable_devices(state_));
		if (is_charged)
			wait_for_devices(r.uid, r.node);
	}
}

/* For a gang whose job has nodes: which pod gets which of the job's devices. */
void FactsReader::check_gang_devices(const Gang &gang, ComponentFacts &f) const
{
	if (job_side(f.job) != JobSide::allocated)
		return;
	if (f.job->nodes.size() > 1 && !shared_claims(state_, gang).empty())
		forbid_other_nodes(f);
	for (auto &[node, ranks] : ranks_with_claims(f)) {
		const auto slot = std::ranges::find(f.job->nodes, node, &NodeAllocation::node);
		if (slot != f.job->nodes.end())
			check_devices_on(*slot, ranks, provisional_.contains(f.job->id));
	}
	hold_together(f);
}

/* The job has more nodes than were asked for. Pods that share a claim can be on one only, which is
 * that of those that are bound. */
void FactsReader::forbid_other_nodes(ComponentFacts &f) const
{
	std::set<std::string> bound;
	for (const RankFacts &r : f.ranks) {
		if (is_bound_side(r.side) && names_claims(*r.pod))
			bound.insert(bound_node_of(state_.pods.at(r.uid)));
	}
	for (RankFacts &r : f.ranks) {
		if (is_placed(r) && names_claims(*r.pod) && !bound.contains(r.node.name))
			r.node.forbidden = cannot_be_used(k_shared_claim_elsewhere);
	}
}

/* Until all claims are written no pod is bound, because then the allocation can still be given back
 * as a whole. */
void FactsReader::hold_together(ComponentFacts &f) const
{
	const auto has_begun = [](const RankFacts &r) { return r.busy.bind || is_bound(r); };
	const auto is_open = [&](const RankFacts &r) {
		return r.side == PodSide::waiting && r.holds_rank &&
			has_claims(state_.pods.at(r.uid)) &&
			(r.busy.claim || r.node.claim_step || !r.node.claim_wait.empty() ||
				!r.node.device_wait.empty());
	};
	if (std::ranges::any_of(f.ranks, has_begun) || std::ranges::none_of(f.ranks, is_open))
		return;
	for (RankFacts &r : f.ranks) {
		if (is_placed(r) && !is_open(r))
			r.node.device_wait = k_devices_of_others;
	}
}

/* A claim that is being written, or was written and has not been seen. */
std::optional<AllocateDevices> FactsReader::sent_for(const RankFacts &r) const
{
	const std::optional<ClaimStep> &step = state_.pods.at(r.uid).submitted_step;
	const auto *sent = step ? std::get_if<AllocateDevices>(&*step) : nullptr;
	return sent ? std::optional(*sent) : std::nullopt;
}

/* What a bound pod has, whatever has become of its claims. Error: that is not known. */
Result<std::vector<const ResourceClaim *>> FactsReader::claims_of_bound(const Pod &pod) const
{
	std::vector<const ResourceClaim *> out;
	for (const PodResourceClaim &one : pod.resource_claims) {
		const ResourceClaim *claim = one.is_needless
			? nullptr
			: state_.resource_claims.find({pod.name_space, one.claim});
		if (claim && claim->allocation)
			out.push_back(claim);
		else if (!one.is_needless)
			return Error{Errc::again, resource_claim_missing(one.claim)};
	}
	return out;
}

/* For the ranks whose claims are these. */
FactsReader::SharedUsers FactsReader::users_of_shared(
	const std::vector<RankFacts *> &ranks, const std::vector<RankClaims> &claims) const
{
	SharedUsers out;
	for (std::size_t i = 0; i < ranks.size(); i++) {
		for (const ResourceClaim *claim : claims[i].shared) {
			ClaimUsers &users = out[claim];
			if (!claims[i].is_bound)
				users.waiting.push_back({ranks[i]->pod->name, ranks[i]->uid.text});
			/* one that uses the claim and is of another job would have kept this
			 * one's pods from it before */
			users.others.insert(claim->reserved_for.begin(), claim->reserved_for.end());
		}
	}
	return out;
}

/* Claims that cannot be used yet keep only their own pod from being bound. */
std::vector<RankClaims> FactsReader::claims_of_ranks(
	std::vector<RankFacts *> &ranks, bool is_provisional) const
{
	std::vector<RankClaims> out;
	std::erase_if(ranks, [&](RankFacts *r) {
		const bool is_bound = is_bound_side(r->side);
		const auto claims =
			is_bound ? claims_of_bound(*r->pod) : resource_claims_of(state_, *r->pod);
		if (claims && (is_bound || !is_provisional)) {
			out.push_back({r->uid.text, is_bound, *claims, sent_for(*r), {}});
			part_claims(*r->pod, out.back());
			return false;
		}
		if (!is_bound) {
			r->node.device_wait = claims ? k_devices_not_told : claims.error().what;
			wait_for_devices(r->uid, r->node);
		}
		return true;
	});
	return out;
}

void FactsReader::check_devices_on(
	const NodeAllocation &slot, std::vector<RankFacts *> ranks, bool is_provisional) const
{
	for (const RankFacts *r : ranks) {
		if (!is_bound_side(r->side) || claims_of_bound(*r->pod))
			continue;
		/* its claim was deleted by hand: which devices it has is not known */
		const Error unknown{Errc::again,
			"pod " + r->pod->name + " runs there without the claim of its devices"};
		for (RankFacts *other : ranks) {
			if (!is_bound_side(other->side))
				refuse_deal(other->uid, unknown, slot.node, other->node);
		}
		return;
	}
	const std::vector<RankClaims> claims = claims_of_ranks(ranks, is_provisional);
	const NodeAllocation part = claimed_part(state_, slot, all_claims(claims));
	const auto record = device_record(state_, part);
	const auto deals = record ? deal_to_ranks(claims, part, *record, device_sources(state_))
				  : Result<std::vector<std::vector<ClaimDeal>>>(record.error());
	const SharedUsers users = users_of_shared(ranks, claims);
	for (std::size_t i = 0; i < ranks.size(); i++) {
		RankFacts &r = *ranks[i];
		if (is_bound_side(r.side))
			continue;
		if (deals)
			follow_deals(r.uid, *r.pod, (*deals)[i], users, r);
		else if (has_no_devices(slot, state_.settings.devices))
			r.node.forbidden = cannot_be_used(deals.error().what);
		else
			refuse_deal(r.uid, deals.error(), slot.node, r.node);
	}
}

} // namespace slurmkube::core
