/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a pod's volume claims, before its submission and before its binding. */
#include "src/core/reconcile/report.h"
#include "src/core/reconcile/report_parts.h"
#include "src/core/world/facts_reader.h"
#include "src/core/world/parts.h"
#include "src/core/world/pod_claims.h"

#include <algorithm>

namespace slurmkube::core
{

void FactsReader::hold_for_claims(const PodUid &uid, const Pod &pod,
	std::optional<Result<JobSpec>> &spec, std::optional<Condition> &waits_for) const
{
	if (!spec || !*spec)
		return;
	std::string trouble = claim_trouble(state_, uid, pod);
	if (trouble.empty())
		return;
	waits_for = waiting_for_claims(std::move(trouble));
	spec.reset();
	found_.look_later(uid, now_.mono_us + k_claim_look_us);
}

/* For a pod that has an allocation on this node. */
void FactsReader::check_claims(
	const PodUid &uid, const PodEntry &entry, const KubeNode &node, PlaceFacts &n) const
{
	const Pod &pod = *entry.pod;
	if (pod.constraints.claims.empty())
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
		if (other &&
			(!other->node_name.empty() || state_.foreign.all().contains(other->uid) ||
				!state_.pods.at(other->uid).held_node.empty()))
			n.forbidden = cannot_be_used(claim_in_use(id.name, *other));
	}
	const ClaimPlan plan =
		n.forbidden.empty() ? state_.claims.known().plan(pod, node) : ClaimPlan{};
	const std::string *open = !plan.steps.empty() ? &claim_name_of(plan.steps.front())
		: !plan.awaited.empty()               ? &plan.awaited.front().name
						      : nullptr;
	if (found_.is_over(uid, Clock::claims, open != nullptr, state_.settings.claim_wait_us))
		n.forbidden =
			claim_not_bound_in_time(*open, state_.settings.claim_wait_us / 1'000'000);
	if (!open || !n.forbidden.empty())
		return;
	if (!plan.steps.empty() && plan.steps.front() != entry.submitted_step)
		n.claim_step = plan.steps.front();
	else if (!entry.busy.claim)
		n.claim_wait = claim_being_bound(*open);
}

} // namespace slurmkube::core
