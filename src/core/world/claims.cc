/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/claims.cc - the part of World for volume claims of pods.
 *
 * Before a submission the pod waits until its claims can be honoured at all; nodes that they exclude are excluded in Slurm. With an allocation, claims that wait for
 * a node are bound first, one write after the other, and the pod when all of them are.
 */
#include "src/core/model/names.h"
#include "src/core/model/outcome.h"
#include "src/core/world/world.h"
#include "src/core/world/parts.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_unfit_us = 60'000'000; /* a node where a provisioner could make no volume is left out so long */

} // namespace

/* ---- observing ---- */

void World::note_claims(const Pod &pod)
{
	if (pod.demands.claims.empty() || claims_of_pod_.contains(pod.uid))
		return;
	wants_claims_ = true;
	std::vector<ClaimId> &claims = claims_of_pod_[pod.uid];
	for (const PodClaim &claim : pod.demands.claims) {
		claims.push_back({pod.name_space, claim.name});
		claim_users_[claims.back()].insert(pod.uid);
	}
}

void World::forget_claims(const PodUid &uid)
{
	const auto claims = claims_of_pod_.extract(uid);
	if (claims.empty())
		return;
	for (const ClaimId &id : claims.mapped()) {
		const auto users = claim_users_.find(id);
		if (users == claim_users_.end())
			continue; /* named twice */
		users->second.erase(uid);
		if (users->second.empty())
			claim_users_.erase(users);
	}
}

void World::wake_claimants(const ClaimId &id)
{
	const auto users = claim_users_.find(id);
	if (users != claim_users_.end())
		dirty_.insert(users->second.begin(), users->second.end());
	review_all_ = review_all_ || users != claim_users_.end();
}

void World::wake_all_claimants()
{
	for (const auto &[uid, claims] : claims_of_pod_)
		dirty_.insert(uid);
}

/* A provisioner that cannot make a volume for the node takes the annotation away. */
void World::claim_seen(Claim claim, Now now)
{
	const ClaimId id = claim.id;
	const Claim *known = claims_.find(id);
	const bool is_rejected = known && known->uid == claim.uid && !known->selected_node.empty() && claim.selected_node.empty() && !claim.is_bound;
	if (is_rejected) {
		unfit_until_us_[{id, known->selected_node}] = now.mono_us + k_unfit_us;
		for (const PodUid &uid : claim_users_.contains(id) ? claim_users_.at(id) : std::set<PodUid>{})
			look_later(uid, now.mono_us + k_unfit_us);
	}
	if (!claims_.seen(std::move(claim)))
		return;
	place_changed();
	wake_claimants(id);
}

void World::claim_gone(const ClaimId &id)
{
	claims_.gone(id);
	std::erase_if(unfit_until_us_, [&](const auto &entry) { return entry.first.first == id; });
	wake_claimants(id);
}

void World::volume_seen(Volume volume)
{
	const std::optional<ClaimId> claim = volume.claim;
	if (!claims_.seen(std::move(volume)))
		return;
	place_changed();
	if (claim)
		wake_claimants(*claim);
}

void World::volume_gone(const std::string &name)
{
	claims_.volume_gone(name);
	place_changed();
}

void World::class_seen(StorageClass storage_class)
{
	if (claims_.seen(std::move(storage_class)))
		wake_all_claimants();
}

void World::class_gone(const std::string &name)
{
	claims_.class_gone(name);
	wake_all_claimants();
}

void World::claims_listed(const std::set<std::string> &live_uids)
{
	claims_.claims_listed(live_uids);
	wake_all_claimants();
}

void World::volumes_listed(const std::set<std::string> &live_uids)
{
	claims_.volumes_listed(live_uids);
	wake_all_claimants();
}

void World::classes_listed(const std::set<std::string> &live_uids)
{
	claims_.classes_listed(live_uids);
	wake_all_claimants();
}

/* ---- looking ---- */

/* Another pod than this one and those of its gang that holds the claim, or has a job and will. */
const Pod *World::user_of(const ClaimId &id, const PodUid &except) const
{
	const auto self = groups_.find(except);
	const PodUid lead = self != groups_.end() && self->second.gang ? *self->second.gang : except;
	const auto users = claim_users_.find(id);
	for (const PodUid &uid : users == claim_users_.end() ? std::set<PodUid>{} : users->second) {
		const auto found = groups_.find(uid);
		if (uid == except || found == groups_.end() || found->second.gang == lead)
			continue;
		const Group &group = found->second;
		const Pod *pod = group.pod ? &*group.pod : group.last ? &*group.last : nullptr;
		const SlurmJob *job = job_of(group);
		const bool will = group.pod && !is_terminal(*group.pod) && (group.busy.slurm || (job && is_live(*job)));
		if (pod && (!group.held_node.empty() || will))
			return pod;
	}
	for (const auto &[uid, pod] : foreign_.all()) {
		if (pod.name_space == id.name_space && std::ranges::any_of(pod.demands.claims, [&](const PodClaim &claim) { return claim.name == id.name; }))
			return &pod;
	}
	return nullptr;
}

/* Why no node will do now, or empty. */
std::string World::claim_trouble(const PodUid &uid, const Pod &pod) const
{
	if (pod.demands.claims.empty())
		return "";
	if (!claims_.is_listed())
		return "its volume claims have not been read yet" + (claims_unreadable_.empty() ? "" : ": " + claims_unreadable_);
	if (std::string trouble = claims_.trouble_of(pod); !trouble.empty())
		return trouble;
	for (const ClaimId &id : claims_.exclusive(pod)) {
		if (const Pod *other = user_of(id, uid))
			return "volume claim " + id.name + " is ReadWriteOncePod and in use by " + other->name_space + "/" + other->name;
	}
	return "";
}

std::optional<Refusal> World::claims_refuse(const Pod &pod, const KubeNode &node) const
{
	if (pod.demands.claims.empty() || !claims_.is_listed())
		return std::nullopt;
	for (const PodClaim &claim : pod.demands.claims) {
		const auto unfit = unfit_until_us_.find({{pod.name_space, claim.name}, node.name});
		if (unfit != unfit_until_us_.end() && seen_us_ < unfit->second)
			return Refusal{Cause::volume, "was refused by the provisioner of volume claim " + claim.name};
	}
	return claims_.refuses(pod, node);
}

/* ---- deciding ---- */

void World::hold_for_claims(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec, std::optional<Condition> &waits_for, Now now)
{
	if (!spec || !*spec)
		return;
	std::string trouble = claim_trouble(uid, pod);
	if (trouble.empty())
		return;
	waits_for = Condition{names::k_reason_volume, std::move(trouble)};
	spec.reset();
	look_later(uid, now.mono_us + k_claim_look_us);
}

/* Of a pod that has this node and might be bound there. */
void World::check_claims(const PodUid &uid, Group &group, const KubeNode &node, GroupFacts &f, Now now)
{
	const Pod &pod = *group.pod;
	if (pod.demands.claims.empty())
		return;
	if (!claims_.is_listed()) {
		f.claim_wait = claim_trouble(uid, pod);
		return;
	}
	if (const std::string trouble = claims_.trouble_of(pod); !trouble.empty())
		f.forbidden = "cannot be used: " + trouble;
	else if (const auto refusal = claims_refuse(pod, node))
		f.forbidden = refusal->why;
	for (const ClaimId &id : claims_.exclusive(pod)) {
		const Pod *other = user_of(id, uid);
		if (other && (!other->node_name.empty() || foreign_.all().contains(other->uid) || !groups_.at(other->uid).held_node.empty()))
			f.forbidden = "cannot be used: volume claim " + id.name + " is ReadWriteOncePod and in use by " + other->name_space + "/" + other->name;
	}
	const ClaimPlan plan = f.forbidden.empty() ? claims_.plan(pod, node) : ClaimPlan{};
	const ClaimId *open = !plan.steps.empty() ? &claim_of(plan.steps.front()) : !plan.awaited.empty() ? &plan.awaited.front() : nullptr;
	if (is_over(uid, open != nullptr, group.claims_since_us, settings_.claim_wait_us, now))
		f.forbidden = "has not got volume claim " + open->name + " bound within " + std::to_string(settings_.claim_wait_us / 1'000'000) + " s";
	if (!open || !f.forbidden.empty())
		return;
	if (!plan.steps.empty() && plan.steps.front() != group.told_step)
		f.claim_step = plan.steps.front();
	else if (!group.busy.claim)
		f.claim_wait = "volume claim " + open->name + " is being bound for it";
}

void World::provided(const PodUid &pod, const Status &answer, Now now)
{
	Group &group = touch(pod);
	group.busy.claim = false;
	if (answer) {
		group.failures = 0;
		return;
	}
	group.told_step.reset();
	failed(group, pod, answer.error(), now);
}

/* ---- gangs ---- */

std::string World::claim_trouble_of_gang(const Gang &gang) const
{
	for (const Role &role : gang.roles) {
		if (role.pod_template && !role.pod_template->demands.claims.empty() && !claims_.is_listed())
			return claim_trouble({}, *role.pod_template);
	}
	std::set<ClaimId> taken;
	for (const auto &[uid, seat] : gang.members) {
		const auto &pod = groups_.at(uid).pod;
		if (!pod || is_terminal(*pod))
			continue;
		if (std::string trouble = claim_trouble(uid, *pod); !trouble.empty())
			return trouble;
		for (const ClaimId &id : claims_.exclusive(*pod)) {
			if (!taken.insert(id).second)
				return "volume claim " + id.name + " is ReadWriteOncePod: pods of " + gang.id.kind + " " + gang.id.name + " that start together cannot share it";
		}
	}
	return "";
}

/* Nobody knows which node each member will get: all of them must reach the volumes of all. */
void World::exclude_for_claims(const Gang &gang, std::set<std::string> &excluded) const
{
	std::vector<const Pod *> pods;
	for (const auto &[uid, seat] : gang.members) {
		const auto &pod = groups_.at(uid).pod;
		const auto is_same = [&](const Pod *one) { return one->demands.claims == pod->demands.claims; };
		if (pod && !pod->demands.claims.empty() && std::ranges::none_of(pods, is_same))
			pods.push_back(&*pod);
	}
	for (const Pod *pod : pods) {
		for (const auto &[name, record] : slurm_nodes_) {
			const auto node = kube_nodes_.find(name);
			if (node != kube_nodes_.end() && claims_refuse(*pod, node->second))
				excluded.insert(name);
		}
	}
}

} // namespace slurmkube::core
