/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed.h - between the keeper, which sees changes, and the link, which sends them.
 *
 * Holds the picture last seen, so that a connect can start with a snapshot at any time without a
 * lock of Slurm, and the queue of changes after it. The queue is bounded: when it is full it is
 * dropped as a whole, and the next connect starts again. Any thread may call; never called with a
 * lock of Slurm held.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FEED_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FEED_H

#include "src/codec/link.h"
#include "src/plugins/job_submit/kube/thread.h"

#include <map>
#include <mutex>
#include <vector>

namespace slurmkube::plugin
{

inline constexpr std::size_t k_queue_lines_max = 20'000;
inline constexpr std::size_t k_queue_bytes_max = 4 * 1024 * 1024;

class Feed
{
      public:
	/* ---- keeper ---- */
	void job(core::SlurmJob job);
	void job_gone(core::JobId id);
	void node(core::SlurmNode node);
	void node_gone(const std::string &name);
	/* The picture is whole: before this nothing may be told, since what is missing in a
	 * snapshot counts as gone. */
	void complete();
	/* slurmctld is not in control any more: forget all. */
	void reset();

	/* ---- link ---- */
	[[nodiscard]] bool is_complete() const;
	/* The snapshot, with its begin and end; changes are queued from here on. Empty: the picture
	 * is not whole (any more). */
	std::vector<codec::LinkMessage> open();
	void close();
	/* What came since. False: the queue was dropped, or the picture is not whole any more. */
	bool take(std::vector<codec::LinkMessage> &out);
	/* Was the queue dropped since open()? */
	[[nodiscard]] bool is_dropped() const;
	[[nodiscard]] Event &changed() { return changed_; }

      private:
	void queue(codec::LinkMessage message);

	mutable std::mutex mutex_;
	std::map<std::uint32_t, core::SlurmJob> jobs_;
	std::map<std::string, core::SlurmNode> nodes_;
	std::vector<codec::LinkMessage> queue_;
	std::size_t queue_bytes_ = 0;
	bool complete_ = false, open_ = false, dropped_ = false;
	bool stale_ = false; /* reset since open() */
	Event changed_;
};

/* About how long its line will be. */
std::size_t line_size(const codec::LinkMessage &message);

} // namespace slurmkube::plugin

#endif
