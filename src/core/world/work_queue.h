/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work_queue.h - which keys have to be looked at, at once or at a later time. A key is looked at
 * once, however often it was marked. Times are monotonic microseconds.
 */
#ifndef SLURMKUBE_CORE_WORLD_WORK_QUEUE_H
#define SLURMKUBE_CORE_WORLD_WORK_QUEUE_H

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace slurmkube::core
{

template <class Key> class WorkQueue
{
      public:
	void mark(const Key &key) { marked_.insert(key); }
	void mark(const std::set<Key> &keys) { marked_.insert(keys.begin(), keys.end()); }
	void later(std::int64_t at_us, const Key &key) { later_.emplace(at_us, key); }

	/* Marks the keys whose time has come. */
	void wake(std::int64_t now_us)
	{
		while (!later_.empty() && later_.begin()->first <= now_us) {
			marked_.insert(later_.begin()->second);
			later_.erase(later_.begin());
		}
	}
	std::set<Key> take() { return std::exchange(marked_, {}); }
	/* The first of the marked keys, if there is one. */
	std::optional<Key> take_first()
	{
		if (marked_.empty())
			return std::nullopt;
		return std::move(marked_.extract(marked_.begin()).value());
	}
	template <class Test> void drop_if(Test test) { std::erase_if(marked_, test); }

	[[nodiscard]] const std::set<Key> &marked() const { return marked_; }
	[[nodiscard]] std::optional<std::int64_t> next_us() const
	{
		return later_.empty() ? std::nullopt : std::optional(later_.begin()->first);
	}

      private:
	std::set<Key> marked_;
	std::set<std::pair<std::int64_t, Key>> later_;
};

} // namespace slurmkube::core

#endif
