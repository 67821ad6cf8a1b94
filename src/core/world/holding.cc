/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of World for workloads that hold nodes for some components while others wait: how long
 * they may, and who of two that are in each other's way gives back first.
 */
#include "src/core/reconcile/report.h"
#include "src/core/world/parts.h"
#include "src/core/world/world.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Of two workloads that are in each other's way the later one gives back after this: the rest of
 * either may only be on its way. */
constexpr std::int64_t k_give_way_us = 5'000'000;
constexpr std::int64_t k_second_us = 1'000'000;

} // namespace

/* Both of two workloads must not have waited long enough at once. */
std::int64_t give_way_us(std::int64_t hold_seconds)
{
	return std::min(k_give_way_us, hold_seconds * k_second_us / 2);
}

/* Of workloads that wait for the rest of their components; a new one is news for the others. */
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
		return; /* the same try: slurmctld has not answered, or the rest goes back now */
	const std::int64_t held =
		limit.gives_way ? k_give_way_us / k_second_us : limit.hold_seconds;
	const std::int64_t pause = pause_after_tries(++tries.count, held);
	tries.next_us = now.mono_us + pause * k_second_us;
	tries.next_epoch_seconds = now.wall_s + pause;
}

} // namespace slurmkube::core
