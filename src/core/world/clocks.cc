/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/clocks.h"

#include <algorithm>
#include <utility>

namespace slurmkube::core
{

const char *clock_text(Clock clock)
{
	switch (clock) {
	case Clock::job_missing:
		return "no job in Slurm";
	case Clock::room:
	case Clock::placeless:
		return "no room on its node";
	case Clock::prolog:
		return "Prolog on its nodes is not over";
	case Clock::unbindable:
		return "the binding fails";
	case Clock::in_the_way:
		return "its allocation is needed by a running pod without a job";
	case Clock::letting_go:
		return "giving its allocation back";
	case Clock::absent:
		return "none of its pods exists";
	case Clock::late:
		return "pods are missing";
	case Clock::held:
		return "holds nodes, and none of its pods is bound";
	case Clock::unlinked:
		return "no connection to slurmctld";
	case Clock::claims:
		return "volume claims are not bound";
	case Clock::devices:
		return "devices are not allocated";
	case Clock::starting:
		return "bound, and no container has started";
	}
	return "?";
}

std::int64_t Clocks::since(const PodUid &uid, Clock clock) const
{
	const auto found = since_.find(uid);
	return found == since_.end() ? 0 : found->second[static_cast<std::size_t>(clock)];
}

std::int64_t Clocks::set(const PodUid &uid, Clock clock, bool is_so, Now now)
{
	if (!is_so) {
		stop(uid, clock);
		return 0;
	}
	std::int64_t &since = since_[uid][static_cast<std::size_t>(clock)];
	if (since == 0)
		since = now.mono_us;
	return since;
}

void Clocks::stop(const PodUid &uid, Clock clock)
{
	const auto found = since_.find(uid);
	if (found == since_.end())
		return;
	found->second[static_cast<std::size_t>(clock)] = 0;
	if (std::ranges::all_of(found->second, [](std::int64_t since) { return since == 0; }))
		since_.erase(found);
}

void Clocks::stop_before(const PodUid &uid, Clock clock, std::int64_t moment_us)
{
	if (since(uid, clock) < moment_us)
		stop(uid, clock);
}

std::vector<std::pair<Clock, std::int64_t>> Clocks::running(const PodUid &uid) const
{
	std::vector<std::pair<Clock, std::int64_t>> out;
	const auto found = since_.find(uid);
	for (std::size_t i = 0; found != since_.end() && i < k_clocks; i++) {
		if (found->second[i] > 0)
			out.emplace_back(static_cast<Clock>(i), found->second[i]);
	}
	return out;
}

} // namespace slurmkube::core
