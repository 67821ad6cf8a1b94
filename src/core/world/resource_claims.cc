/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/resource_claims.h"

#include "src/core/device/extended_resource.h"
#include "src/core/device/steps.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Kinds of claims to remember: any user may make another one. */
constexpr std::size_t k_demands_most = 256;
/* Selectors, names and constraints of all claims of a pod. */
constexpr std::size_t k_key_bytes_most = 64 << 10;
/* Last users of a device: twice as many as a claim can be reserved for. */
constexpr std::size_t k_users_most = 2 * k_claim_users_most;

void add(std::string &key, const std::string &part)
{
	key += std::to_string(part.size()) + ':' + part;
}

void add(std::string &key, const DeviceRequest &request)
{
	add(key, "request " + request.name);
	add(key, request.device_class);
	add(key,
		(request.is_all ? "all" : std::to_string(request.count)) +
			(request.is_for_admin ? " admin " : " ") + request.tolerations_text);
	for (const std::string &selector : request.selectors)
		add(key, selector);
	for (const DeviceRequest &one : request.alternatives)
		add(key, one);
}

/* Claims with equal keys ask for the same. */
std::string key_of(const std::vector<const ResourceClaim *> &claims)
{
	std::string key;
	for (const ResourceClaim *claim : claims) {
		if (key.size() > k_key_bytes_most)
			return key;
		add(key, claim->unsupported);
		for (const DeviceRequest &request : claim->requests)
			add(key, request);
		for (const DeviceConstraint &constraint : claim->constraints) {
			add(key, constraint.is_distinct ? "distinct" : "match");
			add(key, constraint.attribute);
			for (const std::string &request : constraint.requests)
				add(key, request);
		}
		add(key, "claim");
	}
	return key;
}

} // namespace

namespace
{

/* One claim's users, the oldest first: pods of a gang may have shared it one after the other. */
void add_users(const std::vector<std::string> &users, std::vector<std::string> &known)
{
	for (const std::string &uid : users) {
		if (std::ranges::find(known, uid) == known.end())
			known.push_back(uid);
	}
	if (known.size() > k_users_most)
		known.erase(known.begin(), known.end() - static_cast<std::ptrdiff_t>(k_users_most));
}

} // namespace

void ResourceClaims::hold(const ResourceClaim &claim, const ResourceClaim *before)
{
	if (claim.is_extended)
		extended_[claim.owner_uid].insert(claim.id);
	if (!claim.allocation)
		return;
	for (const std::string &uid : claim.reserved_for)
		allocated_for_[uid].insert(claim.id);
	const bool goes_on =
		before && before->uid == claim.uid && before->allocation == claim.allocation;
	for (const DeviceResult &one : claim.allocation->results) {
		if (one.is_for_admin)
			continue;
		holders_[one.device].insert(claim.id);
		if (claim.reserved_for.empty())
			continue;
		std::vector<std::string> &users = last_users_[one.device];
		if (!goes_on)
			users.clear();
		add_users(claim.reserved_for, users);
	}
}

void ResourceClaims::release(const ResourceClaim &claim)
{
	if (const auto of_pod = extended_.find(claim.owner_uid); of_pod != extended_.end() &&
		of_pod->second.erase(claim.id) > 0 && of_pod->second.empty())
		extended_.erase(of_pod);
	if (!claim.allocation)
		return;
	for (const std::string &uid : claim.reserved_for) {
		const auto claims = allocated_for_.find(uid);
		if (claims != allocated_for_.end() && claims->second.erase(claim.id) > 0 &&
			claims->second.empty())
			allocated_for_.erase(claims);
	}
	for (const DeviceResult &one : claim.allocation->results) {
		const auto holders = holders_.find(one.device);
		if (holders == holders_.end())
			continue; /* one claim names the device twice */
		holders->second.erase(claim.id);
		if (holders->second.empty())
			holders_.erase(holders);
	}
}

std::set<PodUid> ResourceClaims::seen(ResourceClaim claim)
{
	const ResourceClaimId id = claim.id;
	const auto known = claims_.find(id);
	if (known != claims_.end()) {
		if (known->second == claim)
			return {};
		release(known->second);
	}
	hold(claim, known == claims_.end() ? nullptr : &known->second);
	const ResourceClaim &now = claims_.insert_or_assign(id, std::move(claim)).first->second;
	return users_of(id, now);
}

std::set<PodUid> ResourceClaims::gone(const ResourceClaimId &id)
{
	const auto known = claims_.find(id);
	if (known == claims_.end())
		return {};
	release(known->second);
	std::set<PodUid> users = users_of(id, known->second);
	claims_.erase(known);
	return users;
}

std::set<PodUid> ResourceClaims::listed(const std::set<std::string> &live_uids)
{
	is_listed_ = true;
	for (auto claim = claims_.begin(); claim != claims_.end();) {
		if (live_uids.contains(claim->second.uid)) {
			claim++;
			continue;
		}
		release(claim->second);
		claim = claims_.erase(claim);
	}
	return users();
}

void ResourceClaims::note(const Pod &pod)
{
	drop_uses(pod.uid);
	if (!pod.backed.empty())
		wanted_[pod.uid] = extended_claim_of(pod);
	if (pod.resource_claims.empty())
		return;
	/* not for pods that may be for a device plugin */
	is_wanted_ = is_wanted_ || !is_backing_unknown(pod) || pod.extended_claim ||
		pod.resource_claims.size() > 1;
	std::vector<ResourceClaimId> &mine = claims_of_[pod.uid];
	for (const PodResourceClaim &one : pod.resource_claims) {
		if (one.claim.empty())
			continue;
		const ResourceClaimId id{pod.name_space, one.claim};
		mine.push_back(id);
		users_[id].insert(pod.uid);
	}
}

void ResourceClaims::forget(const PodUid &uid)
{
	drop_uses(uid);
	refused_.erase(uid);
}

void ResourceClaims::drop_uses(const PodUid &uid)
{
	wanted_.erase(uid);
	const auto claims = claims_of_.extract(uid);
	if (claims.empty())
		return;
	for (const ResourceClaimId &id : claims.mapped()) {
		const auto users = users_.find(id);
		if (users == users_.end())
			continue; /* the pod names the claim twice */
		users->second.erase(uid);
		if (users->second.empty())
			users_.erase(users);
	}
}

void ResourceClaims::refuse(
	const PodUid &uid, const std::string &node, std::string why, std::int64_t until_us)
{
	refused_[uid][node] = {std::move(why), until_us};
}

const ResourceClaim *ResourceClaims::find(const ResourceClaimId &id) const
{
	const auto found = claims_.find(id);
	return found == claims_.end() ? nullptr : &found->second;
}

std::set<PodUid> ResourceClaims::users() const
{
	std::set<PodUid> all;
	for (const auto &[uid, claims] : claims_of_)
		all.insert(uid);
	return all;
}

std::set<PodUid> ResourceClaims::users_of(
	const ResourceClaimId &id, const ResourceClaim &claim) const
{
	const auto found = users_.find(id);
	std::set<PodUid> out = found == users_.end() ? std::set<PodUid>() : found->second;
	/* such a pod names its claim only when all is written */
	if (const PodUid owner{claim.owner_uid}; claim.is_extended && wanted_.contains(owner))
		out.insert(owner);
	/* one that does not use it any more frees it */
	if (claim.allocation) {
		for (const std::string &uid : claim.reserved_for)
			out.insert(PodUid{uid});
	}
	return out;
}

namespace
{

/* A pod's claims, the first one first: which its status names, which has devices for it alone,
 * which has the name that the agent gives. Claims that others create cannot come before these. */
int order_of(const ResourceClaim &one, const ExtendedClaim &wanted, const PodUid &uid)
{
	if (one.id.name == wanted.named)
		return 0;
	if (one.allocation && one.reserved_for == std::vector<std::string>{uid.text})
		return 1;
	if (one.id == wanted.claim.id)
		return 2;
	const bool is_free = one.reserved_for.empty() && !one.deleting;
	return is_free && asks_the_same(one, wanted.claim) ? 3 : 4;
}

} // namespace

const std::set<ResourceClaimId> &ResourceClaims::allocated_for(const PodUid &uid) const
{
	static const std::set<ResourceClaimId> none;
	const auto found = allocated_for_.find(uid.text);
	return found == allocated_for_.end() ? none : found->second;
}

const ResourceClaim *ResourceClaims::extended_of(const PodUid &uid) const
{
	const ExtendedClaim *wanted = wanted_of(uid);
	const auto made = extended_.find(uid.text);
	if (!wanted || made == extended_.end())
		return wanted ? &wanted->claim : nullptr;
	const ResourceClaim *out = nullptr;
	int least = 4;
	for (const ResourceClaimId &id : made->second) {
		const ResourceClaim *one = find(id);
		const int order = order_of(*one, *wanted, uid);
		if (id.name_space != wanted->claim.id.name_space || order >= least)
			continue;
		least = order;
		out = one;
	}
	return out ? out : &wanted->claim;
}

const ExtendedClaim *ResourceClaims::wanted_of(const PodUid &uid) const
{
	const auto found = wanted_.find(uid);
	return found == wanted_.end() ? nullptr : &found->second;
}

const ResourceClaim *ResourceClaims::holder_of(
	const DeviceId &device, const ResourceClaimId &except) const
{
	const auto holders = holders_.find(device);
	if (holders == holders_.end())
		return nullptr;
	const auto other = std::ranges::find_if(
		holders->second, [&](const ResourceClaimId &id) { return id != except; });
	return other == holders->second.end() ? nullptr : find(*other);
}

const std::vector<std::string> &ResourceClaims::last_users_of(const DeviceId &device) const
{
	static const std::vector<std::string> none;
	const auto found = last_users_.find(device);
	return found == last_users_.end() ? none : found->second;
}

const std::string *ResourceClaims::refusal_of(
	const PodUid &uid, const std::string &node, std::int64_t now_us) const
{
	const auto of_pod = refused_.find(uid);
	if (of_pod == refused_.end())
		return nullptr;
	const auto found = of_pod->second.find(node);
	return found == of_pod->second.end() || found->second.until_us <= now_us
		? nullptr
		: &found->second.why;
}

/* What was too expensive once is not tried again at every change. */
void ResourceClaims::forget_demands()
{
	std::erase_if(demands_, [](const auto &one) {
		return one.second || one.second.error().code != Errc::too_large;
	});
}

const Result<DeviceDemand> &ResourceClaims::demand_of(
	const std::vector<const ResourceClaim *> &claims, const DeviceSources &from) const
{
	const std::string key = key_of(claims);
	static const Result<DeviceDemand> too_long = Error{Errc::too_large,
		"its resource claims have more than 64 KiB of requests and selectors"};
	if (key.size() > k_key_bytes_most)
		return too_long;
	const auto known = demands_.find(key);
	if (known != demands_.end())
		return known->second;
	if (demands_.size() >= k_demands_most)
		demands_.clear();
	return demands_.emplace(key, core::demand_of(claims, from)).first->second;
}

} // namespace slurmkube::core
