/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of World that observes volume claims. claim_facts.cc says what they mean for a pod.
 *
 * A pod is not submitted until its claims can be honoured at all. Nodes that the claims exclude are
 * excluded in Slurm. With an allocation, claims that wait for a node are bound first, one write
 * after the other. The pod is bound when all its claims are.
 */
#include "src/core/model/outcome.h"
#include "src/core/reconcile/report.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_claims.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

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

void World::claim_written(const PodUid &pod, const Status &answer, Now now)
{
	PodEntry &entry = touch_pod(pod);
	entry.busy.claim = false;
	if (answer) {
		entry.retries.failures = 0;
		entry.claim_failure.reset();
		return;
	}
	/* another write was faster: the next look goes by what it has written */
	if (answer.error().code == Errc::conflict)
		entry.claim_failure.reset();
	else
		entry.claim_failure = answer.error();
	entry.submitted_step.reset();
	failed(entry.retries, pod, answer.error(), now);
}

} // namespace slurmkube::core
