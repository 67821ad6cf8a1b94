/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_doubts.h - observations about nodes that would end jobs if they were believed, and are
 * therefore first confirmed by the API server.
 *
 * World has two of these sets. One has the nodes of Slurm without a managed node of Kubernetes: the
 * label or the Node object may be gone, but a watch with a label selector reports DELETED for both,
 * and an empty list reports every node as gone. The other has nodes that are not Ready, which a
 * watch may report long after it was true. So the API server is asked about each node by name. If
 * it confirms this for many nodes at once, a wrong kubeconfig, or a network failure between the API
 * server and the nodes, is more likely than the loss of the nodes, and none of the confirmations is
 * believed before an administrator has checked.
 */
#ifndef SLURMKUBE_CORE_PLACEMENT_NODE_DOUBTS_H
#define SLURMKUBE_CORE_PLACEMENT_NODE_DOUBTS_H

#include "src/base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

class NodeDoubts
{
      public:
	/* counts: jobs may be lost if the observation is believed. asks: the API server is to be
	 * asked, because something must be done if the observation is true. */
	void doubt(const std::string &name, bool counts, bool asks);
	/* The observation has ended, or the node is not in Slurm any more. */
	void clear(const std::string &name);

	/* Whether there are too many doubtful nodes to believe any. known: number of external nodes
	 * in Slurm. One node is always believed. */
	[[nodiscard]] bool are_too_many(std::size_t known, unsigned max_percent) const;
	/* Nodes that count, except those for which the API server denies the observation. */
	[[nodiscard]] std::vector<std::string> names() const;
	/* Number of nodes that count although the API server denies the observation. */
	[[nodiscard]] std::size_t refuted() const;
	/* Whether the API server confirmed the observation within the last 30 s. Older answers do
	 * not count: the node may have changed without an event from a watch. */
	[[nodiscard]] bool is_confirmed(const std::string &name, std::int64_t now_us) const;

	/* Nodes to look up, a few at a time. Each must be answered by answered(). */
	std::vector<std::string> take_questions(std::int64_t now_us);
	void answered(const std::string &name, const Result<bool> &is_fine, std::int64_t now_us);

      private:
	struct Entry {
		bool counts = false, asks = false;
		std::optional<bool> is_fine; /* the last answer; nullopt: none yet */
		std::int64_t answered_us = 0;
		std::int64_t ask_at_us = 0;
	};
	[[nodiscard]] static bool is_counted(const Entry &entry)
	{
		return entry.counts && !entry.is_fine.value_or(false);
	}
	void change(Entry &entry, const Entry &to);
	void plan(const std::string &name, const Entry &entry);

	std::map<std::string, Entry> entries_;
	/* time of the next question, and the node */
	std::set<std::pair<std::int64_t, std::string>> due_;
	/* open questions; true: the observation has ended since, so the answer is outdated */
	std::map<std::string, bool> under_way_;
	std::size_t count_ = 0;
};

} // namespace slurmkube::core

#endif
