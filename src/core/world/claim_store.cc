/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/claim_store.h"

namespace slurmkube::core
{

namespace
{

/* How long a node is left out after a provisioner could not make a volume there. */
constexpr std::int64_t k_node_unfit_us = 60'000'000;

/* A provisioner that cannot make a volume for the node removes the annotation selected-node. */
bool is_rejected(const Claim *before, const Claim &after)
{
	return before && before->uid == after.uid && !before->selected_node.empty() &&
		after.selected_node.empty() && !after.is_bound;
}

} // namespace

ClaimStore::Change ClaimStore::seen(Claim claim, Now now)
{
	Change change{.is_any = false, .users = users_of(claim.id), .again_us = 0};
	const ClaimId id = claim.id;
	const Claim *before = known_.find(id);
	if (is_rejected(before, claim)) {
		change.again_us = now.mono_us + k_node_unfit_us;
		unfit_until_us_[{id, before->selected_node}] = change.again_us;
	}
	change.is_any = known_.seen(std::move(claim));
	return change;
}

ClaimStore::Change ClaimStore::seen(Volume volume)
{
	Change change;
	if (volume.claim)
		change.users = users_of(*volume.claim);
	change.is_any = known_.seen(std::move(volume));
	return change;
}

std::set<PodUid> ClaimStore::gone(const ClaimId &id)
{
	known_.gone(id);
	std::erase_if(unfit_until_us_, [&](const auto &entry) { return entry.first.first == id; });
	return users_of(id);
}

void ClaimStore::note(const Pod &pod)
{
	if (pod.constraints.claims.empty() || claims_of_.contains(pod.uid))
		return;
	is_wanted_ = true;
	std::vector<ClaimId> &claims = claims_of_[pod.uid];
	for (const PodClaim &claim : pod.constraints.claims) {
		claims.push_back({pod.name_space, claim.name});
		users_[claims.back()].insert(pod.uid);
	}
}

void ClaimStore::forget(const PodUid &uid)
{
	const auto claims = claims_of_.extract(uid);
	if (claims.empty())
		return;
	for (const ClaimId &id : claims.mapped()) {
		const auto users = users_.find(id);
		if (users == users_.end())
			continue; /* the pod names the claim twice */
		users->second.erase(uid);
		if (users->second.empty())
			users_.erase(users);
	}
}

const std::set<PodUid> &ClaimStore::users_of(const ClaimId &id) const
{
	static const std::set<PodUid> nobody;
	const auto found = users_.find(id);
	return found == users_.end() ? nobody : found->second;
}

std::set<PodUid> ClaimStore::users() const
{
	std::set<PodUid> all;
	for (const auto &[uid, claims] : claims_of_)
		all.insert(uid);
	return all;
}

std::optional<Refusal> ClaimStore::refuses(
	const Pod &pod, const KubeNode &node, std::int64_t now_us) const
{
	if (pod.constraints.claims.empty() || !known_.is_listed())
		return std::nullopt;
	for (const PodClaim &claim : pod.constraints.claims) {
		const auto unfit = unfit_until_us_.find({{pod.name_space, claim.name}, node.name});
		if (unfit != unfit_until_us_.end() && now_us < unfit->second)
			return Refusal{Cause::volume,
				"was refused by the provisioner of volume claim " + claim.name};
	}
	return known_.refuses(pod, node);
}

} // namespace slurmkube::core
