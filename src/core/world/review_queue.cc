/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/review_queue.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

/* Short enough to follow changes of nodes within seconds, long enough to cost little with thousands
 * of pending jobs. */
constexpr std::int64_t k_review_us = 1'000'000;
/* Per interval: judgements of a pod on a node, and pods. */
constexpr std::size_t k_verdicts_most = 20'000, k_reviews_most = 50;

} // namespace

std::vector<PodUid> ReviewQueue::take(std::size_t nodes, Now now)
{
	next_us_ = now.mono_us + k_review_us;
	is_all_ = is_constrained_ = false;
	std::vector<PodUid> out;
	const std::size_t most = std::clamp<std::size_t>(
		k_verdicts_most / std::max<std::size_t>(nodes, 1), 1, k_reviews_most);
	while (out.size() < most && !queue_.empty()) {
		auto next = queue_.upper_bound(last_);
		next = next == queue_.end() ? queue_.begin() : next;
		last_ = *next;
		queue_.erase(next);
		out.push_back(last_);
	}
	return out;
}

} // namespace slurmkube::core
