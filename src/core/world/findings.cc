/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/findings.h"

namespace slurmkube::core
{

std::int64_t Findings::since(const PodUid &uid, Clock clock, bool is_so, std::int64_t not_before_us)
{
	const std::int64_t before = clocks_.since(uid, clock);
	if (!is_so && before == 0)
		return 0;
	clock_changes.push_back({uid, clock, is_so, not_before_us});
	if (!is_so)
		return 0;
	return before > 0 && before >= not_before_us ? before : now_.mono_us;
}

bool Findings::is_over(const PodUid &uid, Clock clock, bool is_so, std::int64_t limit_us,
	std::int64_t not_before_us)
{
	const std::int64_t since_us = since(uid, clock, is_so && limit_us > 0, not_before_us);
	if (since_us > 0 && now_.mono_us - since_us < limit_us)
		look_later(uid, since_us + limit_us);
	return since_us > 0 && now_.mono_us - since_us >= limit_us;
}

} // namespace slurmkube::core
