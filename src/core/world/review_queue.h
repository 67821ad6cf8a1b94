/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * review_queue.h - pending jobs whose excluded nodes have to be judged again.
 *
 * Slurm is told the nodes that a job must not get when the job is submitted. If nodes change, or
 * the pods on them, each pending job is judged again. This is done in turns, a few jobs per second,
 * so that it stays cheap with thousands of pending jobs.
 */
#ifndef SLURMKUBE_CORE_WORLD_REVIEW_QUEUE_H
#define SLURMKUBE_CORE_WORLD_REVIEW_QUEUE_H

#include "src/core/model/now.h"
#include "src/core/model/pod.h"

#include <cstddef>
#include <set>
#include <vector>

namespace slurmkube::core
{

class ReviewQueue
{
      public:
	/* uid: key of a component. */
	void add(const PodUid &uid) { queue_.insert(uid); }
	/* All pending jobs. */
	void add_all() { is_all_ = true; }
	/* Those of pods with constraints on other pods, if there are any. */
	void add_constrained(bool is_any) { is_constrained_ = is_any; }

	[[nodiscard]] bool is_due(Now now) const
	{
		return now.mono_us >= next_us_ && (is_all_ || is_constrained_ || !queue_.empty());
	}
	[[nodiscard]] bool wants_all() const { return is_all_; }
	/* The components to judge at this time. nodes: number of nodes in Slurm, which limits how
	 * many. is_due() must have returned true, and the caller must have added the components
	 * that add_all() and add_constrained() stand for. */
	std::vector<PodUid> take(std::size_t nodes, Now now);

      private:
	bool is_all_ = false, is_constrained_ = false;
	std::set<PodUid> queue_;
	PodUid last_; /* the next turn starts behind it, so that none is left out */
	std::int64_t next_us_ = 0;
};

} // namespace slurmkube::core

#endif
