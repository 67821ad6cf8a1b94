/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/ctl/rates.h"

#include <algorithm>

namespace slurmkube::ctl
{

double UserRates::left(const Bucket &bucket, std::int64_t now_us)
{
	const double seconds = static_cast<double>(now_us - bucket.at_us) / 1e6;
	return std::min(k_rate_burst, bucket.questions + seconds * k_rate_per_second);
}

/* A full bucket is as good as none. */
void UserRates::forget_rested(std::int64_t now_us)
{
	std::erase_if(users_,
		[now_us](const auto &user) { return left(user.second, now_us) >= k_rate_burst; });
}

bool UserRates::take(std::int64_t user, std::int64_t now_us)
{
	if (users_.size() >= k_rated_users_max && !users_.contains(user))
		forget_rested(now_us);
	if (users_.size() >= k_rated_users_max && !users_.contains(user))
		return false;
	Bucket &bucket = users_.try_emplace(user, Bucket{.at_us = now_us}).first->second;
	bucket = {.questions = left(bucket, now_us), .at_us = now_us};
	if (bucket.questions < 1)
		return false;
	bucket.questions -= 1;
	return true;
}

} // namespace slurmkube::ctl
