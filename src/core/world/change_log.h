/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * change_log.h - which pods, jobs and nodes may look different since this was last asked. World
 * writes it while somebody watches.
 *
 * An object that is noted need not have changed. One that has changed is noted nearly always: who
 * needs more compares all objects now and then.
 */
#ifndef SLURMKUBE_CORE_WORLD_CHANGE_LOG_H
#define SLURMKUBE_CORE_WORLD_CHANGE_LOG_H

#include "src/core/model/job.h"
#include "src/core/model/pod.h"

#include <set>
#include <string>
#include <utility>

namespace slurmkube::core
{

struct Changes {
	bool is_all = false;   /* any object may have changed; the sets are empty then */
	std::set<PodUid> keys; /* of pods, and of components with their pods */
	std::set<JobId> jobs;
	std::set<std::string> nodes;
	[[nodiscard]] bool is_any() const
	{
		return is_all || !keys.empty() || !jobs.empty() || !nodes.empty();
	}
};

class ChangeLog
{
      public:
	/* More names than that are no better than `is_all`. */
	static constexpr std::size_t k_names_max = 20'000;

	/* Without this, nothing is noted and nothing costs more than a comparison. */
	void keep(bool is_kept)
	{
		is_kept_ = is_kept;
		changes_ = {};
	}
	[[nodiscard]] bool is_any() const { return changes_.is_any(); }
	[[nodiscard]] Changes take() { return std::exchange(changes_, {}); }

	void note(const PodUid &key) { note_in(changes_.keys, key); }
	void note(JobId job) { note_in(changes_.jobs, job); }
	void note(const std::string &node) { note_in(changes_.nodes, node); }
	void note_all()
	{
		if (is_kept_)
			changes_ = {.is_all = true, .keys = {}, .jobs = {}, .nodes = {}};
	}

      private:
	static bool is_none(const std::string &node) { return node.empty(); }
	template <class Key> static bool is_none(const Key &) { return false; }
	template <class Key> void note_in(std::set<Key> &names, const Key &name)
	{
		if (!is_kept_ || changes_.is_all || is_none(name))
			return;
		names.insert(name);
		if (names.size() > k_names_max)
			note_all();
	}

	bool is_kept_ = false;
	Changes changes_;
};

} // namespace slurmkube::core

#endif
