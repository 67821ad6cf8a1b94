/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * round_pace.h - when the next round of looks at World may begin.
 *
 * Each answer to a binding changes one pod, but a round looks at the pod's whole workload. Answers
 * come hundreds of times per second, so without a pause the looks at a gang would cost the square
 * of its size. A pause grows with the last round, so that long rounds take a small part of the
 * time. The rounds of pods alone are short, and nothing waits for them. Times are monotonic
 * microseconds.
 */
#ifndef SLURMKUBE_CORE_WORLD_ROUND_PACE_H
#define SLURMKUBE_CORE_WORLD_ROUND_PACE_H

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace slurmkube::core
{

class RoundPace
{
      public:
	void note_round(std::int64_t began_us, std::int64_t ended_us)
	{
		const std::int64_t excess_us =
			std::max<std::int64_t>(0, ended_us - began_us - k_short_us);
		next_us_ = ended_us + std::min(k_most_us, k_pause_per_round * excess_us);
	}
	/* How long to wait for the next round; 0: it may begin at once. */
	[[nodiscard]] std::chrono::microseconds wait(std::int64_t now_us) const
	{
		const std::int64_t left = next_us_ - now_us;
		return std::chrono::microseconds(left < k_least_us ? 0 : left);
	}

      private:
	static constexpr std::int64_t k_short_us = 200;
	static constexpr std::int64_t k_pause_per_round = 32;
	static constexpr std::int64_t k_most_us = 50'000;
	static constexpr std::int64_t k_least_us = 1'000; /* what epoll_wait() can wait for */

	std::int64_t next_us_ = 0;
};

} // namespace slurmkube::core

#endif
