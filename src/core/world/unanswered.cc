/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/unanswered.h"

#include "src/base/time_units.h"
#include "src/core/reconcile/report.h"

#include <algorithm>

namespace slurmkube::core
{

namespace
{

constexpr std::int64_t k_first_us = 250'000, k_next_us = 10'000'000;
constexpr std::int64_t k_longest_us = 600'000'000;
/* While slurmctld answers no request, this pod is most likely not the cause. */
constexpr std::int64_t k_longest_unheard_us = 60'000'000;
/* A new try is also the way to find out that slurmctld answers again. */
constexpr std::int64_t k_longest_quiet_us = 10'000'000;
constexpr unsigned k_waits_doubled_most = 10;

std::int64_t delay_us(unsigned unanswered, bool are_others_answered)
{
	if (unanswered <= 1)
		return k_first_us;
	return std::min(k_next_us << std::min(unanswered - 2, k_waits_doubled_most),
		are_others_answered ? k_longest_us : k_longest_unheard_us);
}

} // namespace

void Unanswered::sent(const PodUid &pod, const std::string &name_space)
{
	if (pods_.contains(pod))
		trying_[name_space] = pod;
}

std::set<PodUid> Unanswered::note(const PodUid &pod, const Error *error, Now now)
{
	std::erase_if(trying_, [&pod](const auto &each) { return each.second == pod; });
	if (error && error->code == Errc::again)
		return {}; /* it may not have been sent */
	std::set<PodUid> woken;
	for (const auto &[other, entry] : pods_)
		woken.insert(other);
	if (!error || error->code != Errc::io) {
		pods_.erase(pod);
		slurm_answered(now);
		return woken;
	}
	Entry &entry = pods_[pod];
	const bool are_others_answered = answered_us_ > entry.last_us;
	entry.count++;
	entry.last_us = given_up_us_ = now.mono_us;
	entry.next_us = now.mono_us + delay_us(entry.count, entry.count > 1 && are_others_answered);
	return woken;
}

unsigned Unanswered::count(const PodUid &pod) const
{
	const auto found = pods_.find(pod);
	return found == pods_.end() ? 0 : found->second.count;
}

std::int64_t Unanswered::next_us(const PodUid &pod) const
{
	const auto found = pods_.find(pod);
	return found == pods_.end() ? 0 : found->second.next_us;
}

Condition Unanswered::text(const PodUid &pod, const Error &error, Now now) const
{
	const std::int64_t left_us = next_us(pod) - now.mono_us;
	return submission_unanswered(error, count(pod), (left_us + k_second_us - 1) / k_second_us);
}

std::optional<std::int64_t> Unanswered::wait_until(const PodUid &pod, const std::string &name_space,
	const std::function<bool(const PodUid &)> &is_sending, Now now) const
{
	const auto found = pods_.find(pod);
	if (found == pods_.end())
		return std::nullopt;
	const auto tried = trying_.find(name_space);
	const bool is_taken =
		tried != trying_.end() && tried->second != pod && is_sending(tried->second);
	const bool is_quiet = answered_us_ <= given_up_us_ &&
		now.mono_us < given_up_us_ + k_longest_quiet_us && found->second.count > 1;
	if (now.mono_us >= found->second.next_us && !is_taken && !is_quiet)
		return std::nullopt;
	return std::max(found->second.next_us, now.mono_us + k_second_us);
}

} // namespace slurmkube::core
