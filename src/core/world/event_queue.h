/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_queue.h - which events about pods are written, and when. Events are the least important of
 * all writes of the agent.
 *
 * Pure. The queue is bounded. Warnings go first, and so do events that are told once only. Other
 * events are dropped when they are old, and an event replaces a waiting one for the same pod and
 * reason. A token bucket limits the rate, so that 10,000 pods that start at once do not overload
 * the API server.
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
	/* after this time, an event that goes last is dropped */
	std::int64_t news_us = 30'000'000;
};

class EventQueue
{
      public:
	explicit EventQueue(EventLimits limits = {}) : limits_(limits), tokens_(limits.burst) {}

	/* Replaces an event for the same pod and reason that has not been written. */
	void add(EventNote note, std::int64_t now_us);
	/* The event to write; nullopt: nothing is to be written at present. */
	std::optional<EventNote> next(std::int64_t now_us);

	[[nodiscard]] bool empty() const { return urgent_.empty() && news_.empty(); }
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
	/* Removes and returns the first event of the list. */
	EventNote take(List &list);
	void drop_old_news(std::int64_t now_us);

	const EventLimits limits_;
	List urgent_, news_;
	/* entries of both lists, by key_of() */
	std::unordered_map<std::string, List::iterator> known_;
	std::int64_t tokens_, filled_us_ = 0;
	std::uint64_t written_ = 0, dropped_ = 0;
};

} // namespace slurmkube::core

#endif
