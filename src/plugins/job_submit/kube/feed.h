/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed.h - passes changes from the keeper, which sees them, to the links, which send them.
 *
 * The feed holds the state last seen, so that a connection can start with a snapshot at any time
 * without a lock of Slurm. Each link has a reader with a queue of later changes. The queue is
 * bounded: when it is full, it is dropped as a whole, and the next connection of that link starts
 * with a new snapshot; other links are not affected. Any thread may call; no caller may hold a lock
 * of Slurm.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FEED_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_FEED_H

#include "src/base/result.h"
#include "src/codec/link.h"
#include "src/plugins/job_submit/kube/thread.h"

#include <map>
#include <mutex>
#include <vector>

namespace slurmkube::plugin
{

inline constexpr std::size_t k_queue_lines_max = 20'000;
/* two of the longest lines */
inline constexpr std::size_t k_queue_bytes_max = 2 * codec::k_link_line_max;

class FeedReader;

/* The keeper's end. */
class Feed
{
      public:
	void job(core::SlurmJob job);
	void job_gone(core::JobId id);
	void node(core::SlurmNode node);
	void node_gone(const std::string &name);
	/* All jobs and nodes have been reported. No snapshot may be sent before, because whatever
	 * is missing in a snapshot counts as gone. */
	void complete();
	/* This slurmctld has lost control: forget everything. */
	void reset();
	[[nodiscard]] bool is_complete() const;

      private:
	friend class FeedReader;
	void queue_job(const core::SlurmJob &job, const codec::LinkMessage &message);
	[[nodiscard]] bool has_live_jobs(
		const std::string &cluster, const std::string &cluster_uid) const;

	mutable std::mutex mutex_;
	std::map<std::uint32_t, core::SlurmJob> jobs_;
	std::map<std::string, core::SlurmNode> nodes_;
	bool complete_ = false;
	std::vector<FeedReader *> readers_;
	/* uid of each Kubernetes cluster, and the name under which it was served last */
	std::map<std::string, std::string> served_;
};

/* Whose jobs and nodes a link sends. A node with the features of two clusters is in no share: an
 * administrator's mistake must not let one agent act on what the other runs there. A job of a
 * cluster that kube.conf does not name is in every share: its agent may have another name now. For
 * the same reason a job of the same Kubernetes cluster is, whatever name it bears. */
struct FeedShare {
	std::string cluster; /* empty: all jobs and nodes */
	std::string feature; /* of the cluster's nodes */
	std::vector<std::string> other_clusters = {}, other_features = {};
	std::string cluster_uid = {}; /* as the agent says it; empty: it has not said it */
	/* An agent that does not would drain them, or set them DOWN, and native jobs would end. */
	bool knows_hybrids = true;

	[[nodiscard]] bool has(const core::SlurmJob &job) const;
	[[nodiscard]] bool has(const core::SlurmNode &node) const;
};

/* A link's end. All readers must exist before the keeper starts; the feed must outlive them. */
class FeedReader
{
      public:
	FeedReader(Feed &feed, FeedShare share);
	FeedReader(const FeedReader &) = delete;
	FeedReader &operator=(const FeedReader &) = delete;
	~FeedReader();

	[[nodiscard]] bool is_complete() const { return feed_.is_complete(); }
	/* Returns the snapshot, including its begin and end, and starts to queue changes. again:
	 * the state is not complete. conflict: another link serves the Kubernetes cluster with that
	 * uid, which would get two jobs for each pod. Of two names that one is served which is in
	 * live jobs, otherwise the one that was served before. */
	Result<std::vector<codec::LinkMessage>> open(
		const std::string &cluster_uid, bool knows_hybrids = true);
	void close();
	/* Takes the changes since the last call. False: the queue was dropped, the state is
	 * incomplete, or another link has taken over. */
	bool take(std::vector<codec::LinkMessage> &out);
	/* Whether the queue was dropped since open(). */
	[[nodiscard]] bool is_dropped() const;
	/* Why another link has taken over since open(); empty: none has. */
	[[nodiscard]] std::string refusal() const;
	[[nodiscard]] Event &changed() { return changed_; }

      private:
	friend class Feed;
	/* All with the feed's mutex held. */
	void queue(const codec::LinkMessage &message);
	void queue_node(const core::SlurmNode *before, const core::SlurmNode &now);
	void reset();
	Status take_over(const std::string &cluster_uid);
	[[nodiscard]] Status check_name_in_jobs(const std::string &cluster_uid) const;

	Feed &feed_;
	FeedShare share_;
	std::string refusal_;
	std::vector<codec::LinkMessage> queue_;
	std::size_t queue_bytes_ = 0;
	bool open_ = false, dropped_ = false;
	bool stale_ = false; /* the feed was reset after open() */
	Event changed_;
};

/* Estimated length of the message's line, in bytes. */
std::size_t line_size(const codec::LinkMessage &message);

} // namespace slurmkube::plugin

#endif
