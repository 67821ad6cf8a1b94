/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work_queue.h - which keys have to be looked at, at once or at a later time. A key is looked at
 * once, however often it was marked. Times are monotonic microseconds.
 *
 * A look that ends with "again in five seconds" would begin an endless chain of looks each time an
 * event causes one, because both the old and the new chain go on. Such times are planned with
 * within(), of which only the earliest counts.
 */
#ifndef SLURMKUBE_CORE_WORLD_WORK_QUEUE_H
#define SLURMKUBE_CORE_WORLD_WORK_QUEUE_H

#include <algorithm>
#include <cstdint>
#include <map>
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
	/* At that time or before. For what each look at the key plans anew if still needed. */
	void within(std::int64_t at_us, const Key &key)
	{
		const auto [planned, is_new] = planned_.try_emplace(key, at_us);
		if (!is_new && planned->second <= at_us)
			return;
		if (!is_new)
			by_time_.erase({std::exchange(planned->second, at_us), key});
		by_time_.emplace(at_us, key);
	}

	/* Marks the keys whose time has come. */
	void wake(std::int64_t now_us)
	{
		while (!later_.empty() && later_.begin()->first <= now_us) {
			marked_.insert(later_.begin()->second);
			later_.erase(later_.begin());
		}
		while (!by_time_.empty() && by_time_.begin()->first <= now_us) {
			planned_.erase(by_time_.begin()->second);
			marked_.insert(by_time_.begin()->second);
			by_time_.erase(by_time_.begin());
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
		std::optional<std::int64_t> first;
		for (const auto *times : {&later_, &by_time_}) {
			if (!times->empty())
				first = std::min(first.value_or(times->begin()->first),
					times->begin()->first);
		}
		return first;
	}

      private:
	std::set<Key> marked_;
	std::set<std::pair<std::int64_t, Key>> later_;
	std::map<Key, std::int64_t> planned_; /* by within() */
	std::set<std::pair<std::int64_t, Key>> by_time_;
};

} // namespace slurmkube::core

#endif
