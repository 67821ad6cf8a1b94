/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * absent_nodes.h - nodes of Slurm that no managed node of Kubernetes stands for: their label is gone, or the Node object is.
 *
 * A watch that selects by label says DELETED for both, and an empty list says it of every node. So the API server is asked for each by name. If
 * it knows none of many nodes, a kubeconfig is wrong more likely than the nodes gone, and none is taken for gone before an administrator has looked.
 */
#ifndef SLURMKUBE_CORE_ABSENT_NODES_H
#define SLURMKUBE_CORE_ABSENT_NODES_H

#include "src/base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

class AbsentNodes
{
      public:
	/* counts: taking it for gone would cost something. asks: there is something to do if it is gone. */
	void saw_absent(const std::string &name, bool counts, bool asks);
	/* Managed, or no node of Slurm any more. */
	void saw_present(const std::string &name);

	/* Too many to believe it. known: external nodes in Slurm. One node may always go. */
	[[nodiscard]] bool are_too_many(std::size_t known, unsigned max_percent) const;
	/* Those that may be gone: all but those of which the API server says that they exist. */
	[[nodiscard]] std::vector<std::string> names() const;
	/* The rest: they count, and exist without our label. */
	[[nodiscard]] std::size_t unmanaged() const;
	/* The API server has just said that there is no such Node object. It may be made again, and without our label no watch would tell. */
	[[nodiscard]] bool is_gone(const std::string &name, std::int64_t now_us) const;

	/* Names to ask the API server for, a few at a time; each is answered by answered(). */
	std::vector<std::string> take_questions(std::int64_t now_us);
	void answered(const std::string &name, const Result<bool> &exists, std::int64_t now_us);

      private:
	struct Entry {
		bool counts = false, asks = false;
		std::optional<bool> exists; /* the last answer */
		std::int64_t answered_us = 0;
		std::int64_t ask_at_us = 0;
	};
	[[nodiscard]] static bool is_counted(const Entry &entry) { return entry.counts && !entry.exists.value_or(false); }
	void change(Entry &entry, const Entry &to);
	void plan(const std::string &name, const Entry &entry);

	std::map<std::string, Entry> entries_;
	std::set<std::pair<std::int64_t, std::string>> due_; /* when to ask for which */
	std::map<std::string, bool> under_way_; /* questions; true: the answer is about the time before the node was absent */
	std::size_t count_ = 0;
};

} // namespace slurmkube::core

#endif
