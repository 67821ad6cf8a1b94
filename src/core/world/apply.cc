/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of World that writes down what gathering the facts of a component has found
 * (world/findings.h). */
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

void World::apply_plan(Gang &gang, GangPlan plan)
{
	gang.per_node = plan.per_node;
	gang.shape = std::move(plan.shape);
}

void World::apply_clocks(const Findings &found, Now now)
{
	for (const Findings::ClockChange &change : found.clock_changes) {
		clocks_.stop_before(change.uid, change.clock, change.not_before_us);
		clocks_.set(change.uid, change.clock, change.runs, now);
	}
}

void World::apply_placing(const PodUid &key, const Findings &found)
{
	if (found.placing)
		placing_.forget(key);
	if (found.wakes_peer)
		wake_waiting_for_peer();
	if (found.placing == Placing::unschedulable)
		placing_.add_unschedulable(key);
	if (found.placing == Placing::waiting_for_peer)
		placing_.add_waiting_for_peer(key);
	if (found.needs_review)
		reviews_.add(key);
}

/* The pods get jobs of their own. */
void World::apply_leaving(Gang &gang, const std::vector<Leaving> &leaving)
{
	for (const Leaving &one : leaving) {
		if (!one.crowded_node.empty())
			note_crowded(state_.components[one.pod], {one.crowded_node, std::nullopt});
		if (gang.minimum == 0)
			gang.standalone.insert(one.rank);
		leave(gang, one.pod);
	}
}

void World::apply(const PodUid &key, Findings &found, Now now)
{
	apply_clocks(found, now);
	apply_placing(key, found);
	for (const auto &[uid, at_us] : found.looks)
		queue_.within(at_us, uid);
	for (const std::string &node : found.waits_for_nodes)
		waiters_[node].insert(key);
	if (found.unfit_node)
		state_.resource_claims.refuse(key, found.unfit_node->node, found.unfit_node->why,
			found.unfit_node->until_us);
	if (found.owner)
		state_.owners.ask(found.owner->first, found.owner->second);
	Component &component = state_.components.at(key);
	const auto is_over = [&](const Crowded &one) {
		const bool waits = std::ranges::find(found.waits_for_nodes, one.node) !=
			found.waits_for_nodes.end();
		return !waits &&
			std::ranges::find(found.nodes_with_room, one.node) !=
			found.nodes_with_room.end();
	};
	std::erase_if(component.crowded, is_over);
	if (found.withdrawn_end)
		withdraw_end(component, *found.withdrawn_end);
	component.submitted.is_reviewed = component.submitted.is_reviewed && !found.is_reviewed;
	component.admission_look_us = found.admission_look_us.value_or(component.admission_look_us);
	const auto gang = state_.gangs.find(key);
	if (gang == state_.gangs.end())
		return;
	if (found.all_came)
		gang->second.never_came = 0;
	if (found.first_attempt > 0)
		gang->second.first_attempt = found.first_attempt;
	if (found.plan)
		apply_plan(gang->second, std::move(*found.plan));
	apply_leaving(gang->second, found.leaving);
}

} // namespace slurmkube::core
