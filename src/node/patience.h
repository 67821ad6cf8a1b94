/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * patience.h - how long a job may use memory that its pods have.
 *
 * Each life of a job has an account of that time. It is paid back slowly, so a job that gives the
 * memory back for a moment, again and again, does not begin anew. Pure.
 */
#ifndef SLURMKUBE_NODE_PATIENCE_H
#define SLURMKUBE_NODE_PATIENCE_H

#include <chrono>
#include <map>
#include <string>

namespace slurmkube::node
{

inline constexpr std::chrono::seconds k_patience{10};
/* Time without excess in which one second of patience comes back. */
inline constexpr std::chrono::seconds k_patience_returns{60};
/* What one look stands for at most: the daemon may have been stopped since the last one. */
inline constexpr std::chrono::seconds k_look_max{1};

class Patience
{
      public:
	using Clock = std::chrono::steady_clock;
	using Time = Clock::time_point;

	/* A look at a life of a job, OpenedJob::text. True: its pods have to end. */
	[[nodiscard]] bool is_over(const std::string &life, bool is_excess, Time now);
	/* Forgets lives that have not been looked at since. */
	void forget_before(Time time);

      private:
	struct Account {
		Time looked;
		Clock::duration spent{};
	};
	std::map<std::string, Account> accounts_;
};

} // namespace slurmkube::node

#endif
