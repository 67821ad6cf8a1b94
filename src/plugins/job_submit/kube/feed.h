/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed.h - passes changes from the keeper, which sees them, to the link, which sends them.
 *
 * Holds the state last seen, so that a connection can start with a snapshot at any time without a
 * lock of Slurm, and the queue of later changes. The queue is bounded: when it is full, it is
 * dropped as a whole, and the next connection starts with a new snapshot. Any thread may call; no
 * caller may hold a lock of Slurm.
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
	/* All jobs and nodes have been reported. No snapshot may be sent before, because whatever
	 * is missing in a snapshot counts as gone. */
	void complete();
	/* This slurmctld has lost control: forget everything. */
	void reset();

	/* ---- link ---- */
	[[nodiscard]] bool is_complete() const;
	/* Returns the snapshot, including its begin and end, and starts to queue changes. Empty:
	 * the state is not complete. */
	std::vector<codec::LinkMessage> open();
	void close();
	/* Takes the changes since the last call. False: the queue was dropped, or the state is
	 * incomplete. */
	bool take(std::vector<codec::LinkMessage> &out);
	/* Whether the queue was dropped since open(). */
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
	bool stale_ = false; /* reset() was called after open() */
	Event changed_;
};

/* Estimated length of the message's line, in bytes. */
std::size_t line_size(const codec::LinkMessage &message);

} // namespace slurmkube::plugin

#endif
