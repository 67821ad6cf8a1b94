/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of World for workloads that hold nodes for some components while others wait: for how
 * long they may, and which of two workloads gives back if they are in each other's way.
 */
#include "src/base/time_units.h"
#include "src/core/reconcile/report.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* After this time, the later one of two workloads that are in each other's way gives back. Before
 * that, the missing nodes of either may be about to come. */
constexpr std::int64_t k_components_give_way_us = 5'000'000;

} // namespace

/* At most half of the limit, so that both workloads do not reach the limit and give back
 * together. */
std::int64_t give_way_us(std::int64_t hold_seconds)
{
	return std::min(k_components_give_way_us, hold_seconds * k_second_us / 2);
}

/* Notes whether the workload waits for the rest of its components. If it has just begun to wait,
 * the other such workloads are looked at again. */
void World::note_holding(const PodUid &key, const std::vector<ComponentFacts> &components, Now now)
{
	const std::string workload = workload_key(key.text);
	if (has_begun(components)) {
		holdings_.tries.erase(workload);
		for (const PodUid &one : components_of_workload(state_, key))
			state_.gangs.at(one).goes_first = false;
	}
	const Holding holding = holding_of(components, now);
	if (holding.since_us == 0) {
		holdings_.held.erase(workload);
		return;
	}
	if (!holdings_.held.insert_or_assign(workload, holding).second)
		return;
	for (const auto &[other, held] : holdings_.held)
		look_later(components_of_workload(state_, {other}).front(),
			now.mono_us + give_way_us(state_.settings.components_wait_seconds));
}

void World::note_given_back(const PodUid &key, const HoldLimit &limit, Now now)
{
	Tries &tries = holdings_.tries[workload_key(key.text)];
	if (tries.count > 0 && now.mono_us < tries.next_us)
		/* the same try: slurmctld has not answered yet, or the remaining allocations
		 * follow */
		return;
	const std::int64_t held = limit.gives_way
		? std::max<std::int64_t>(give_way_us(limit.hold_seconds) / k_second_us, 1)
		: limit.hold_seconds;
	const std::int64_t pause = pause_after_tries(++tries.count, held);
	tries.next_us = now.mono_us + pause * k_second_us;
	tries.next_epoch_seconds = now.wall_s + pause;
}

} // namespace slurmkube::core
