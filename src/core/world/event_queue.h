/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_queue.h - which events about pods are written, and when: the least important of all that
 * the agent writes.
 *
 * Pure. Bounded; warnings go first, news that nobody has read in time is dropped, and what is said
 * twice of a pod is said once. A token bucket limits the rate, so that 10,000 pods that start at
 * once cost the API server no more than ten do.
 */
#ifndef SLURMKUBE_CORE_WORLD_EVENT_QUEUE_H
#define SLURMKUBE_CORE_WORLD_EVENT_QUEUE_H

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

namespace slurmkube::core
{

struct EventNote {
	std::string name_space, name, uid; /* of the pod */
	bool warning = false;
	std::string reason, action, text;
	bool operator==(const EventNote &) const = default;
};

struct EventLimits {
	std::size_t queued_max = 500;
	std::int64_t per_second = 10;
	std::int64_t burst = 50;
	std::int64_t news_us = 30'000'000; /* what is no warning is worth nothing later */
};

class EventQueue
{
      public:
	explicit EventQueue(EventLimits limits = {}) : limits_(limits), tokens_(limits.burst) {}

	/* Takes the place of an earlier one of the same pod and reason that has not been
	 * written. */
	void add(EventNote note, std::int64_t now_us);
	/* What to write now; nullopt: nothing, or not yet. */
	std::optional<EventNote> next(std::int64_t now_us);

	[[nodiscard]] bool empty() const { return warnings_.empty() && news_.empty(); }
	[[nodiscard]] std::uint64_t written() const { return written_; }
	[[nodiscard]] std::uint64_t dropped() const { return dropped_; }

      private:
	struct Entry {
		EventNote note;
		std::int64_t since_us;
	};
	using List = std::list<Entry>;
	void refill(std::int64_t now_us);
	void make_room();
	/* Takes the first one of it. */
	EventNote take(List &list);
	void drop_old_news(std::int64_t now_us);

	const EventLimits limits_;
	List warnings_, news_;
	/* of both lists, by what makes two events the same */
	std::unordered_map<std::string, List::iterator> known_;
	std::int64_t tokens_, filled_us_ = 0;
	std::uint64_t written_ = 0, dropped_ = 0;
};

} // namespace slurmkube::core

#endif
