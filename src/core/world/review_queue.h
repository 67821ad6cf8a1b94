/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * review_queue.h - waiting jobs that may be kept off the wrong nodes by now.
 *
 * Slurm is told which nodes a job must not have when the job is made. When nodes, or those on them,
 * change, each waiting job is judged again: in turns, a few in a second, so that it costs little
 * where thousands wait.
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
	/* A component, by its key. */
	void add(const PodUid &uid) { queue_.insert(uid); }
	void add_all() { is_all_ = true; }
	/* Those that mind who is beside them. */
	void add_constrained(bool is_any) { is_constrained_ = is_any; }

	[[nodiscard]] bool is_due(Now now) const
	{
		return now.mono_us >= next_us_ && (is_all_ || is_constrained_ || !queue_.empty());
	}
	[[nodiscard]] bool wants_all() const { return is_all_; }
	/* Those that are to be judged now; is_due() has said so, and who was meant by add_all() and
	 * add_constrained() has been added. */
	std::vector<PodUid> take(std::size_t nodes, Now now);

      private:
	bool is_all_ = false, is_constrained_ = false;
	std::set<PodUid> queue_;
	PodUid last_; /* in turns, so that none is forgotten */
	std::int64_t next_us_ = 0;
};

} // namespace slurmkube::core

#endif
