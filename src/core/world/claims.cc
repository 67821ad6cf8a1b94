/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world/claims.cc - the part of World for volume claims of pods.
 *
 * Before a submission the pod waits until its claims can be honoured at all; nodes that they exclude are excluded in Slurm. With an allocation, claims that wait for
 * a node are bound first, one write after the other, and the pod when all of them are.
 */
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/pod_claims.h"
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
	queue_.mark(state_.claims.users());
}

void World::claim_seen(Claim claim, Now now)
{
	const ClaimStore::Change change = state_.claims.seen(std::move(claim), now);
	for (const PodUid &uid : change.again_us > 0 ? change.users : std::set<PodUid>())
		look_later(uid, change.again_us);
	if (!change.is_any)
		return;
	place_changed();
	wake_claimants(change.users);
}

void World::claim_gone(const ClaimId &id)
{
	wake_claimants(state_.claims.gone(id));
}

void World::volume_seen(Volume volume)
{
	const ClaimStore::Change change = state_.claims.seen(std::move(volume));
	if (!change.is_any)
		return;
	place_changed();
	wake_claimants(change.users);
}

void World::volume_gone(const std::string &name)
{
	state_.claims.volume_gone(name);
	place_changed();
}

void World::class_seen(StorageClass storage_class)
{
	if (state_.claims.seen(std::move(storage_class)))
		wake_all_claimants();
}

void World::class_gone(const std::string &name)
{
	state_.claims.class_gone(name);
	wake_all_claimants();
}

/* ---- deciding ---- */

void World::hold_for_claims(const PodUid &uid, const Pod &pod, std::optional<Result<JobSpec>> &spec, std::optional<Condition> &waits_for, Now now)
{
	if (!spec || !*spec)
		return;
	std::string trouble = claim_trouble(state_, uid, pod);
	if (trouble.empty())
		return;
	waits_for = waiting_for_claims(std::move(trouble));
	spec.reset();
	look_later(uid, now.mono_us + k_claim_look_us);
}

/* Of a pod that has this node and might be bound there. */
void World::check_claims(const PodUid &uid, PodEntry &entry, const KubeNode &node, PlaceFacts &n, Now now)
{
	const Pod &pod = *entry.pod;
	if (pod.demands.claims.empty())
		return;
	if (!state_.claims.known().is_listed()) {
		n.claim_wait = claim_trouble(state_, uid, pod);
		return;
	}
	if (const std::string trouble = state_.claims.known().trouble_of(pod); !trouble.empty())
		n.forbidden = cannot_be_used(trouble);
	else if (const auto refusal = claims_refuse(state_, pod, node))
		n.forbidden = refusal->why;
	for (const ClaimId &id : state_.claims.known().exclusive(pod)) {
		const Pod *other = user_of(state_, id, uid);
		if (other && (!other->node_name.empty() || state_.foreign.all().contains(other->uid) || !state_.pods.at(other->uid).held_node.empty()))
			n.forbidden = cannot_be_used(claim_in_use(id.name, *other));
	}
	const ClaimPlan plan = n.forbidden.empty() ? state_.claims.known().plan(pod, node) : ClaimPlan{};
	const ClaimId *open = !plan.steps.empty() ? &claim_of(plan.steps.front()) : !plan.awaited.empty() ? &plan.awaited.front() : nullptr;
	if (is_over(uid, Clock::claims, open != nullptr, state_.settings.claim_wait_us, now))
		n.forbidden = claim_not_bound_in_time(open->name, state_.settings.claim_wait_us / 1'000'000);
	if (!open || !n.forbidden.empty())
		return;
	if (!plan.steps.empty() && plan.steps.front() != entry.submitted_step)
		n.claim_step = plan.steps.front();
	else if (!entry.busy.claim)
		n.claim_wait = claim_being_bound(open->name);
}

void World::provided(const PodUid &pod, const Status &answer, Now now)
{
	PodEntry &entry = touch_pod(pod);
	entry.busy.claim = false;
	if (answer) {
		entry.retries.failures = 0;
		return;
	}
	entry.submitted_step.reset();
	failed(entry.retries, pod, answer.error(), now);
}

} // namespace slurmkube::core
