/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget.h - limits on how often the keeper may hold a lock of slurmctld or ask for a scheduling
 * pass, and how long the link waits between connects. Pure: the caller passes the time, in
 * nanoseconds.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_BUDGET_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_BUDGET_H

#include <algorithm>
#include <cstdint>

namespace slurmkube::plugin
{

inline constexpr std::int64_t k_ms = 1'000'000; /* nanoseconds */

/*
 * Limits the time under locks to 2 % in the long run. Unused time is saved up to a limit and may be
 * spent at once, so that a single event in a large table is found quickly. The length of a hold is
 * not known in advance: if more is spent than was saved, the debt is paid back before the next
 * hold. The debt has a limit too, so that work that could not wait does not stop the looks for
 * long.
 */
class DutyBudget
{
      public:
	explicit DutyBudget(std::int64_t now) : at_(now) {}
	/* Whether a hold may begin. */
	bool can_hold(std::int64_t now);
	/* To be called after each hold, even if can_hold() was not asked. */
	void spent(std::int64_t ns);

      private:
	/* 1/60 is 1.7 %; holds that cannot wait for the budget come on top */
	static constexpr std::int64_t k_share = 60;
	static constexpr std::int64_t k_saved_max = 50 * k_ms, k_debt_max = 5 * k_ms;
	std::int64_t at_;
	std::int64_t saved_ = k_saved_max;
};

/*
 * Limits the scheduling passes that the plugin asks for to 1/share of the time in the long run. A
 * pass in a large cluster takes 40 ms, and a rare end of a job must not wait ten times as long, so
 * a few passes can be saved up. Ends come in bursts, and one pass serves all ends within 10 ms.
 */
class KickBudget
{
      public:
	explicit KickBudget(std::int64_t share) : share_(share) {}
	/* pass: duration of the last pass. */
	bool can_kick(std::int64_t now, std::int64_t pass);
	/* To be called after can_kick() has returned true. */
	void kicked(std::int64_t now, std::int64_t pass);

      private:
	static constexpr std::int64_t k_passes_saved = 5, k_every = 10 * k_ms;
	std::int64_t share_, at_ = 0, saved_ = 0, kicked_at_ = -k_every;
};

/*
 * Decides which scheduling pass to ask for. Slurm does not schedule when a job without slurmd ends,
 * and not always when one is submitted; its next periodic pass may be a minute away. A short pass
 * looks at the first 100 jobs of the queue, which may all be older jobs that wait for other nodes.
 * So a pass over all jobs follows as soon as the budget allows it. A tenth of the time is little
 * compared with Slurm's own passes, one for each native job that is submitted or ends.
 */
class Kicks
{
      public:
	enum class Pass { none, shallow, full };
	void want() { wants_ = wants_full_ = true; }
	[[nodiscard]] bool are_wanted() const { return wants_ || wants_full_; }
	/* passes: number of passes since slurmctld started. pass: duration of the last one (ns).
	 * pending: number of pending external jobs. The caller must ask Slurm for the returned
	 * pass. */
	Pass next(std::int64_t now, std::uint32_t passes, std::int64_t pass, std::uint64_t pending);

      private:
	bool wants_ = false, wants_full_ = false;
	KickBudget budget_{10}, full_budget_{10};
	std::int64_t full_pass_ = 0;     /* duration of the last pass over all jobs */
	std::uint32_t full_kick_at_ = 0; /* passes when one was asked for; 0: none */
};

/*
 * Compares slurmctld's counter of one kind of change with the changes that looks have found. A look
 * comes after the reading of the counter, so it may find a change that only the next reading
 * counts; such a change is not searched for again. If the next reading does not count it either,
 * slurmctld has not counted it at all.
 */
class Tally
{
      public:
	explicit Tally(std::uint32_t total = 0) : total_(total) {}
	/* total: slurmctld's counter, which starts again at 0 at midnight and after sdiag
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
	/* All jobs were looked at: the remaining changes are of native jobs. */
	void give_up() { wanted_ = 0; }
	[[nodiscard]] unsigned wanted() const { return wanted_; }

      private:
	std::uint32_t total_;
	unsigned wanted_ = 0, early_ = 0;
};

/* 50 ms, doubled up to 200 ms; up to half of each wait is taken off at random. The waits are short
 * because a connect costs microseconds, and pods wait for the agent. */
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
 * Decides when to look again at a table that only tells the second of its last change
 * (last_job_update). A look is repeated while the second of the last look may not be over, because
 * a later change in that second would not show. It is repeated at most once per interval, and takes
 * at most 1/250 (0.4 %) of the time, by its cost under locks. The pause for that is limited, so
 * that a busy machine does not stop the looks.
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
	/* Makes a look due at once. */
	void again() { began_ = 0; }

      private:
	static constexpr std::int64_t k_rest = 250, k_rest_max = 3000 * k_ms;
	/* Slurm stamps a change with the second in which the work for it began; a scheduling pass
	 * may take some seconds */
	static constexpr std::int64_t k_late = 3;
	std::int64_t interval_, at_latest_;
	std::int64_t began_ = 0, cost_ = 0, second_ = 0;
};

} // namespace slurmkube::plugin

#endif
