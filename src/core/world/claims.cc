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

/* ---- observing ---- */

void World::wake_claimants(const std::set<PodUid> &users)
{
	queue_.mark(users);
	if (!users.empty())
		reviews_.add_all();
}

void World::wake_all_claimants()
{
	queue_.mark(claims_.users());
}

void World::claim_seen(Claim claim, Now now)
{
	const ClaimStore::Change change = claims_.seen(std::move(claim), now);
	for (const PodUid &uid : change.again_us > 0 ? change.users : std::set<PodUid>())
		look_later(uid, change.again_us);
	if (!change.is_any)
		return;
	place_changed();
	wake_claimants(change.users);
}

void World::claim_gone(const ClaimId &id)
{
	wake_claimants(claims_.gone(id));
}

void World::volume_seen(Volume volume)
{
	const ClaimStore::Change change = claims_.seen(std::move(volume));
	if (!change.is_any)
		return;
	place_changed();
	wake_claimants(change.users);
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
	for (const PodUid &uid : claims_.users_of(id)) {
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
	if (!claims_.known().is_listed())
		return "its volume claims have not been read yet" + (claims_.unreadable().empty() ? "" : ": " + claims_.unreadable());
	if (std::string trouble = claims_.known().trouble_of(pod); !trouble.empty())
		return trouble;
	for (const ClaimId &id : claims_.known().exclusive(pod)) {
		if (const Pod *other = user_of(id, uid))
			return "volume claim " + id.name + " is ReadWriteOncePod and in use by " + other->name_space + "/" + other->name;
	}
	return "";
}

std::optional<Refusal> World::claims_refuse(const Pod &pod, const KubeNode &node) const
{
	return claims_.refuses(pod, node, seen_us_);
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
	if (!claims_.known().is_listed()) {
		f.claim_wait = claim_trouble(uid, pod);
		return;
	}
	if (const std::string trouble = claims_.known().trouble_of(pod); !trouble.empty())
		f.forbidden = "cannot be used: " + trouble;
	else if (const auto refusal = claims_refuse(pod, node))
		f.forbidden = refusal->why;
	for (const ClaimId &id : claims_.known().exclusive(pod)) {
		const Pod *other = user_of(id, uid);
		if (other && (!other->node_name.empty() || foreign_.all().contains(other->uid) || !groups_.at(other->uid).held_node.empty()))
			f.forbidden = "cannot be used: volume claim " + id.name + " is ReadWriteOncePod and in use by " + other->name_space + "/" + other->name;
	}
	const ClaimPlan plan = f.forbidden.empty() ? claims_.known().plan(pod, node) : ClaimPlan{};
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
		if (role.pod_template && !role.pod_template->demands.claims.empty() && !claims_.known().is_listed())
			return claim_trouble({}, *role.pod_template);
	}
	std::set<ClaimId> taken;
	for (const auto &[uid, seat] : gang.members) {
		const auto &pod = groups_.at(uid).pod;
		if (!pod || is_terminal(*pod))
			continue;
		if (std::string trouble = claim_trouble(uid, *pod); !trouble.empty())
			return trouble;
		for (const ClaimId &id : claims_.known().exclusive(*pod)) {
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
