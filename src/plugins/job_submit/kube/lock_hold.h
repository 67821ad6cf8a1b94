/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock_hold.h - slurmctld's locks, held briefly and measured. Used by the keeper's thread only.
 *
 * What is told is the time by the clock, as slurmctld feels it. The budget is charged with our own
 * processor time: what a machine without a free processor adds is not saved by looking less.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_LOCK_HOLD_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_LOCK_HOLD_H

#include "src/plugins/job_submit/kube/budget.h"
#include "src/plugins/job_submit/kube/costs.h"
#include "src/plugins/job_submit/kube/facts.h"

namespace slurmkube::plugin
{

/* What every hold needs; outlives them. */
struct Meter {
	Costs &costs;
	DutyBudget &budget;
	[[nodiscard]] bool can_hold() const { return budget.can_hold(now_ns()); }
	/* Processor time under locks so far. */
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

	/* Loops under a lock ask this, and go on in the next hold: others get their turn
	 * between. */
	[[nodiscard]] bool has_time() const { return now_ns() - since_ < k_hold_max; }

      private:
	static constexpr std::int64_t k_hold_max = k_ms / 2;
	kube_lock kind_;
	const Meter &meter_;
	std::int64_t asked_, since_ = 0, worked_ = 0;
};

} // namespace slurmkube::plugin

#endif
