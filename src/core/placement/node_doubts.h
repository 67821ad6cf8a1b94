/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node_doubts.h - what is said of nodes that would end their jobs if it were believed, and is asked
 * again first.
 *
 * Two sets of World: nodes of Slurm that no managed node of Kubernetes stands for (their label is
 * gone, or the Node object is: a watch that selects by label says DELETED for both, and an empty
 * list says it of every node); and nodes that are not Ready, which a watch may say long after it
 * was true. So the API server is asked for each by name. If it says it of many nodes at once, a
 * kubeconfig is wrong or the API server has lost the nodes' network more likely than the nodes, and
 * none of them is believed before an administrator has looked.
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
	/* counts: believing it would cost something. asks: there is something to do if it is so. */
	void doubt(const std::string &name, bool counts, bool asks);
	/* It is not said any more, or the node is none of Slurm any more. */
	void clear(const std::string &name);

	/* Too many to believe it. known: external nodes in Slurm. One node may always go. */
	[[nodiscard]] bool are_too_many(std::size_t known, unsigned max_percent) const;
	/* Those of which it may be so: all but those of which the API server says otherwise. */
	[[nodiscard]] std::vector<std::string> names() const;
	/* The rest: they count, and the API server says otherwise. */
	[[nodiscard]] std::size_t refuted() const;
	/* The API server has just said it too. It may change, and no watch need tell. */
	[[nodiscard]] bool is_confirmed(const std::string &name, std::int64_t now_us) const;

	/* Names to ask the API server for, a few at a time; each is answered by answered(). */
	std::vector<std::string> take_questions(std::int64_t now_us);
	void answered(const std::string &name, const Result<bool> &is_fine, std::int64_t now_us);

      private:
	struct Entry {
		bool counts = false, asks = false;
		std::optional<bool> is_fine; /* the last answer */
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
	std::set<std::pair<std::int64_t, std::string>> due_; /* when to ask for which */
	/* questions; true: the answer is about the time before it was said */
	std::map<std::string, bool> under_way_;
	std::size_t count_ = 0;
};

} // namespace slurmkube::core

#endif
