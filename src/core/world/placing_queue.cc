/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/placing_queue.h"

#include <utility>

namespace slurmkube::core
{

namespace
{

/* the shortest time between rechecks after changes */
constexpr std::int64_t k_unschedulable_us = 1'000'000;
/* Recheck interval, even without an event. */
constexpr std::int64_t k_peer_us = 1'000'000;

} // namespace

void PlacingQueue::forget(const PodUid &uid)
{
	unschedulable_.erase(uid);
	waiting_for_peer_.erase(uid);
}

std::optional<PodUid> PlacingQueue::take_waiting_for_peer()
{
	if (waiting_for_peer_.empty())
		return std::nullopt;
	return waiting_for_peer_.extract(waiting_for_peer_.begin()).value();
}

std::set<PodUid> PlacingQueue::take(Now now)
{
	std::set<PodUid> out;
	if (now.mono_us >= peer_next_us_) {
		peer_next_us_ = now.mono_us + k_peer_us;
		if (auto next = take_waiting_for_peer())
			out.insert(std::move(*next));
	}
	if (!is_changed_ || now.mono_us < unschedulable_next_us_)
		return out;
	is_changed_ = false;
	unschedulable_next_us_ = now.mono_us + k_unschedulable_us;
	out.insert(unschedulable_.begin(), unschedulable_.end());
	return out;
}

} // namespace slurmkube::core
