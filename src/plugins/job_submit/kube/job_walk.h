/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_walk.h - through the list of all jobs of slurmctld, in slices of a bounded number. Pure.
 *
 * Locks are given up between two slices. Slurm appends jobs at the end of the list and takes ended
 * ones out of it, so a place in it moves towards the front only. Each slice begins with the last
 * job that was met: if another one is in its place, the walk begins anew, and meets jobs a second
 * time. So every job is met that is in the list from the first slice to the last one.
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
	/* kube_seam_jobs_after() */
	using Source = void (*)(std::uint32_t skipped, kube_each_job each, void *context);
	using Visit = std::function<void(const kube_listed_job &job)>;

	/* Some 0.1 us each where nothing is copied. */
	static constexpr std::uint32_t k_slice = 1024;

	JobWalk(Source source, Visit visit) : source_(source), visit_(std::move(visit)) {}

	/* The next slice; under the lock that the source wants. What visit() throws comes out
	 * here. */
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
