/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock_hold.h - holds slurmctld's locks briefly and measures that. Keeper's thread only.
 *
 * Costs records elapsed time, which is what slurmctld loses. The budget is charged with the
 * thread's processor time: if the machine is busy, fewer looks would not shorten the elapsed time.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_LOCK_HOLD_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_LOCK_HOLD_H

#include "src/plugins/job_submit/kube/budget.h"
#include "src/plugins/job_submit/kube/costs.h"
#include "src/plugins/job_submit/kube/facts.h"

namespace slurmkube::plugin
{

/* What every hold needs; must outlive the holds. */
struct Meter {
	Costs &costs;
	DutyBudget &budget;
	[[nodiscard]] bool can_hold() const { return budget.can_hold(now_ns()); }
	/* Processor time under locks so far, in nanoseconds. */
	[[nodiscard]] std::int64_t worked() const
	{
		return static_cast<std::int64_t>(costs.worked_ns.load(std::memory_order_relaxed));
	}
};

class LockHold
{
      public:
	LockHold(kube_lock kind, const Meter &meter) : kind_(kind), meter_(meter), asked_(now_ns())
	{
		kube_seam_lock(kind_);
		since_ = now_ns();
		worked_ = thread_ns();
	}
	LockHold(const LockHold &) = delete;
	LockHold &operator=(const LockHold &) = delete;
	~LockHold()
	{
		kube_seam_unlock(kind_);
		std::int64_t held = now_ns() - since_, worked = thread_ns() - worked_;
		meter_.costs.lock_wait.record(since_ - asked_);
		meter_.costs.lock_hold.record(held);
		meter_.costs.lock_cpu.record(worked);
		meter_.costs.held_ns.fetch_add(
			static_cast<std::uint64_t>(held), std::memory_order_relaxed);
		meter_.costs.worked_ns.fetch_add(
			static_cast<std::uint64_t>(worked), std::memory_order_relaxed);
		meter_.budget.spent(worked);
	}

	/* Loops under a lock stop when this is false and continue in another hold, so that other
	 * threads get the lock in between. */
	[[nodiscard]] bool has_time() const { return now_ns() - since_ < k_hold_max; }

      private:
	static constexpr std::int64_t k_hold_max = k_ms / 2;
	kube_lock kind_;
	const Meter &meter_;
	std::int64_t asked_, since_ = 0, worked_ = 0;
};

} // namespace slurmkube::plugin

#endif
