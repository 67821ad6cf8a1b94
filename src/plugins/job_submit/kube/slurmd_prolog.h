/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmd_prolog.h - whether a job may end because Prolog failed on a node with a slurmd.
 *
 * A slurmd first reports that Prolog is over, whatever it returned, and then cancels the job as
 * root (_rpc_prolog() in slurmd's req.c). Between the two, slurmctld shows a job that has begun,
 * and afterwards one that root has cancelled. Pure; times are monotonic nanoseconds. Keeper's
 * thread only.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SLURMD_PROLOG_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_SLURMD_PROLOG_H

#include <cstdint>

namespace slurmkube::plugin
{

class SlurmdProlog
{
      public:
	/* A slurmd that has reported a failure cancels the job at once: two requests in a row, for
	 * each of which a busy slurmctld takes up to a fifth of a second. */
	static constexpr std::int64_t k_settle_ns = 500'000'000;
	/* Longer than a busy slurmctld takes for the second request, shorter than people take to
	 * see a job start and to cancel it. */
	static constexpr std::int64_t k_blame_ns = 2'000'000'000;

	/* runs: a slurmd still runs it. settles: Slurm does not say whether it failed, so that one
	 * that is over must settle. */
	void see(bool runs, bool settles, std::int64_t now_ns)
	{
		if (runs_ && !runs) {
			over_at_ = now_ns;
			settle_until_ = settles ? now_ns + k_settle_ns : 0;
		}
		if (has_settled(now_ns))
			settle_until_ = 0;
		runs_ = runs;
	}
	/* The first look came when it was over already. */
	void missed(bool settles, std::int64_t now_ns)
	{
		runs_ = true;
		see(false, settles, now_ns);
	}
	/* No pod is to be bound yet. */
	[[nodiscard]] bool settles(std::int64_t now_ns) const { return now_ns < settle_until_; }
	/* No longer, so that the next look has news. */
	[[nodiscard]] bool has_settled(std::int64_t now_ns) const
	{
		return settle_until_ != 0 && !runs_ && !settles(now_ns);
	}
	/* The job that root has cancelled now may have ended by it. */
	[[nodiscard]] bool may_end_job(std::int64_t now_ns) const
	{
		return runs_ || (over_at_ != 0 && now_ns < over_at_ + k_blame_ns);
	}

      private:
	bool runs_ = false;
	std::int64_t over_at_ = 0, settle_until_ = 0; /* 0: not seen */
};

} // namespace slurmkube::plugin

#endif
