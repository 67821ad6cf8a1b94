/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backoff.h - how long to wait before the next try: doubling, bounded, with jitter.
 *
 * Pure: the caller provides the random number, so that a test can choose it.
 */
#ifndef SLURMKUBE_CORE_MODEL_BACKOFF_H
#define SLURMKUBE_CORE_MODEL_BACKOFF_H

#include <chrono>
#include <cstdint>

namespace slurmkube::core
{

class Backoff
{
      public:
	using Delay = std::chrono::milliseconds;

	/* The n-th delay lies in [d/2, d] with d = min(first * 2^n, longest). first > 0, longest >=
	 * first. */
	Backoff(Delay first, Delay longest) : first_(first), longest_(longest), next_(first) {}

	/* random: any 32 bits, evenly spread. */
	Delay next(std::uint32_t random);
	/* After a success. */
	void reset();
	[[nodiscard]] unsigned failures() const { return failures_; }

      private:
	Delay first_, longest_, next_;
	unsigned failures_ = 0;
};

} // namespace slurmkube::core

#endif
