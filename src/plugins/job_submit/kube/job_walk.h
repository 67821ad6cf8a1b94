/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_walk.h - visits all jobs in slurmctld's list in slices of bounded size. Pure.
 *
 * The lock is released between two slices. Slurm appends new jobs to the list and removes ended
 * ones, so that a job moves only towards the front. Each slice begins with the job that was visited
 * last: if another job is in that place, the walk starts again, and visits jobs a second time. So
 * the walk visits every job that is in the list from the first slice to the last.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_JOB_WALK_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_JOB_WALK_H

#include "src/plugins/job_submit/kube/facts.h"

#include <cstdint>
#include <functional>

namespace slurmkube::plugin
{

class JobWalk
{
      public:
	/* kube_seam_jobs_after() or a replacement in tests */
	using Source = void (*)(std::uint32_t skipped, kube_each_job each, void *context);
	using Visit = std::function<void(const kube_listed_job &job)>;

	/* A job takes about 0.1 us if nothing is copied. */
	static constexpr std::uint32_t k_slice = 1024;

	JobWalk(Source source, Visit visit) : source_(source), visit_(std::move(visit)) {}

	/* Visits the next slice. The caller must hold the lock that the source needs. An exception
	 * of visit() leads to std::bad_alloc here. */
	void go_on();
	[[nodiscard]] bool is_done() const { return is_done_; }

      private:
	struct Slice {
		JobWalk &walk;
		bool is_in_place;
		std::uint32_t left = k_slice;
		bool has_failed = false;
	};
	static bool take(void *slice, const kube_listed_job *job) noexcept;
	bool visit(Slice &slice, const kube_listed_job &job);

	Source source_;
	Visit visit_;
	std::uint32_t met_ = 0, last_id_ = 0;
	bool is_done_ = false;
};

} // namespace slurmkube::plugin

#endif
