/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates.h - how often each user may ask: k_rate_burst questions at once, then k_rate_per_second.
 *
 * An answer about 100,000 pods takes the loop some 20 ms, so one user who asks without a pause
 * costs at most a twentieth of it. Pure: the caller gives the time.
 */
#ifndef SLURMKUBE_AGENT_CTL_RATES_H
#define SLURMKUBE_AGENT_CTL_RATES_H

#include <cstddef>
#include <cstdint>
#include <map>

namespace slurmkube::ctl
{

inline constexpr double k_rate_burst = 20;
inline constexpr double k_rate_per_second = 2;
/* more users than that within ten seconds are refused */
inline constexpr std::size_t k_rated_users_max = 4096;

class UserRates
{
      public:
	/* now_us: of a clock that never goes back. false: too often; a refused question costs the
	 * user nothing. */
	[[nodiscard]] bool take(std::int64_t user, std::int64_t now_us);

      private:
	struct Bucket {
		double questions = k_rate_burst; /* that were left at the time at_us */
		std::int64_t at_us = 0;
	};

	[[nodiscard]] static double left(const Bucket &bucket, std::int64_t now_us);
	void forget_rested(std::int64_t now_us);

	std::map<std::int64_t, Bucket> users_;
};

} // namespace slurmkube::ctl

#endif
