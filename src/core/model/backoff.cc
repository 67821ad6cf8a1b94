/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/backoff.h"

#include <algorithm>

namespace slurmkube::core
{

Backoff::Delay Backoff::next(std::uint32_t random)
{
	const Delay::rep full = next_.count();
	const Delay::rep half = full / 2;
	const Delay delay(half + static_cast<Delay::rep>(random) % (full - half + 1));
	next_ = std::min(longest_, next_ * 2);
	failures_++;
	return delay;
}

void Backoff::reset()
{
	next_ = first_;
	failures_ = 0;
}

} // namespace slurmkube::core
