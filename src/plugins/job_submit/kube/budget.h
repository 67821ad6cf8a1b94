/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget.h - how often the keeper may hold a lock of slurmctld, and how long the link waits between
 * connects. Pure: times are passed in.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_BUDGET_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_BUDGET_H

#include <algorithm>
#include <cstdint>

namespace slurmkube::plugin
{

inline constexpr std::int64_t k_ms = 1'000'000; /* nanoseconds */

/*
 * At most 2 % of the time in a lock, in the long run. What was saved in quiet times may be spent at
 * once, so that one event in a large table is still found at once; spending more than there is (a
 * hold cannot be foreseen) is paid back before the next. Debt has a limit: what had to be done
 * without asking must not make us blind for long.
 */
class DutyBudget
{
      public:
	explicit DutyBudget(std::int64_t now) : at_(now) {}
	bool can_hold(std::int64_t now);
	void spent(std::int64_t ns);

      private:
	/* one part in 60, 1.7 %: what cannot be asked for first comes on top */
	static constexpr std::int64_t k_share = 60;
	static constexpr std::int64_t k_saved_max = 50 * k_ms, k_debt_max = 5 * k_ms;
	std::int64_t at_;
	std::int64_t saved_ = k_saved_max;
};

/*
 * Passes of Slurm's scheduler that we ask for take one part in `share` of the time at most, in the
 * long run. In a large cluster one takes 40 ms: an end now and then must not wait for ten times
 * that, so a few passes can be saved up. Ends come in bursts; one pass serves all of 10 ms.
 */
class KickBudget
{
      public:
	explicit KickBudget(std::int64_t share) : share_(share) {}
	/* pass: what the last one took. */
	bool can_kick(std::int64_t now, std::int64_t pass);
	/* After can_kick(). */
	void kicked(std::int64_t now, std::int64_t pass);

      private:
	static constexpr std::int64_t k_passes_saved = 5, k_every = 10 * k_ms;
	std::int64_t share_, at_ = 0, saved_ = 0, kicked_at_ = -k_every;
};

/*
 * Which pass to ask for. Slurm does not look for work when a job without slurmd ends, and not
 * always when one comes; its next periodic pass may be a minute away. A short pass looks at the
 * first 100 jobs of the queue, and a hundred older ones that wait for other nodes hide ours: so a
 * pass over all follows as soon as there is budget for it. A tenth of the time is little beside
 * Slurm's own, which makes a pass for each native job that comes or ends.
 */
class Kicks
{
      public:
	enum class Pass { none, shallow, full };
	void want() { wants_ = wants_full_ = true; }
	[[nodiscard]] bool are_wanted() const { return wants_ || wants_full_; }
	/* passes, pass: how many there were since slurmctld's start, and how long (ns) the last one
	 * took. pending: of ours. What is returned is to be done. */
	Pass next(std::int64_t now, std::uint32_t passes, std::int64_t pass, std::uint64_t pending);

      private:
	bool wants_ = false, wants_full_ = false;
	KickBudget budget_{10}, full_budget_{10};
	std::int64_t full_pass_ = 0;     /* what the last pass over all jobs took */
	std::uint32_t full_kick_at_ = 0; /* passes before it; 0: its cost is known */
};

/*
 * Changes of one kind: slurmctld counts them, looks find them. A look comes after the count was
 * read, so it may find what only the next count shows: that is not searched for again. What the
 * next count does not show either was not counted at all.
 */
class Tally
{
      public:
	explicit Tally(std::uint32_t total = 0) : total_(total) {}
	/* total: slurmctld's counter, which begins at 0 again each midnight and after sdiag
	 * --reset. */
	void counted(std::uint32_t total)
	{
		const unsigned n = total >= total_ ? total - total_ : total;
		total_ = total;
		wanted_ += n - std::min(n, early_);
		early_ = 0;
	}
	void found(unsigned n)
	{
		const unsigned taken = std::min(n, wanted_);
		wanted_ -= taken;
		early_ += n - taken;
	}
	/* All jobs were looked at: the rest is no job of ours. */
	void give_up() { wanted_ = 0; }
	[[nodiscard]] unsigned wanted() const { return wanted_; }

      private:
	std::uint32_t total_;
	unsigned wanted_ = 0, early_ = 0;
};

/* 50 ms doubling to 200 ms, each with up to half of itself taken off at random: a try costs
 * microseconds, and pods wait for the agent meanwhile. */
class Backoff
{
      public:
	std::int64_t next(std::uint32_t random);
	void reset() { step_ = k_first; }

      private:
	static constexpr std::int64_t k_first = 50 * k_ms;
	static constexpr std::int64_t k_last = 200 * k_ms;
	std::int64_t step_ = k_first;
};

/*
 * When to look at a table again of which only "changed in this second" is known (last_job_update):
 * again and again while the second of the last look may not be over yet, but not more often than
 * the interval, nor than 250 times what a look costs in locks: 0.4 % of the time. There is a limit
 * to that: a busy machine must not make us blind.
 */
class SlowLook
{
      public:
	SlowLook(std::int64_t interval, std::int64_t at_latest)
	    : interval_(interval), at_latest_(at_latest)
	{
	}
	[[nodiscard]] bool is_due(std::int64_t now, std::int64_t changed_second) const;
	[[nodiscard]] bool is_older_than(std::int64_t now, std::int64_t ns) const
	{
		return now - began_ >= ns;
	}
	void began(std::int64_t now, std::int64_t wall_second);
	void ended(std::int64_t cost) { cost_ = cost; }
	/* Due at once. */
	void again() { began_ = 0; }

      private:
	static constexpr std::int64_t k_rest = 250, k_rest_max = 3000 * k_ms;
	/* Slurm stamps a change with the second in which its work began; a scheduling pass takes
	 * some */
	static constexpr std::int64_t k_late = 3;
	std::int64_t interval_, at_latest_;
	std::int64_t began_ = 0, cost_ = 0, second_ = 0;
};

} // namespace slurmkube::plugin

#endif
