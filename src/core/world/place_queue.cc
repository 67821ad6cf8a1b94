/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/place_queue.h"

#include <utility>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_nowhere_us = 1'000'000; /* so often, when something has changed */
constexpr std::int64_t k_behind_us = 1'000'000;  /* so often, also when nothing has told of a change */

} // namespace

void PlaceQueue::forget(const PodUid &uid)
{
	nowhere_.erase(uid);
	behind_.erase(uid);
}

std::optional<PodUid> PlaceQueue::take_behind()
{
	if (behind_.empty())
		return std::nullopt;
	return behind_.extract(behind_.begin()).value();
}

std::set<PodUid> PlaceQueue::take(Now now)
{
	std::set<PodUid> out;
	if (now.mono_us >= behind_next_us_) {
		behind_next_us_ = now.mono_us + k_behind_us;
		if (auto next = take_behind())
			out.insert(std::move(*next));
	}
	if (!is_changed_ || now.mono_us < nowhere_next_us_)
		return out;
	is_changed_ = false;
	nowhere_next_us_ = now.mono_us + k_nowhere_us;
	out.insert(nowhere_.begin(), nowhere_.end());
	return out;
}

} // namespace slurmkube::core
