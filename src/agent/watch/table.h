/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - which watcher has to be told of which object, and the lines that tell it.
 *
 * The table has each object once, with a bit per watcher: whether the watcher has the object, and
 * whether what it has is out of date. So a watcher that reads slowly costs a pointer per object at
 * most: it gets the newest row of each, and never the rows between. Rows are kept only while a
 * watcher waits for them.
 *
 * Level-triggered: look() compares an object with what is known of it, walk() does so for all
 * objects, and it does not matter who calls them how often. Pure: no sockets, no clock.
 */
#ifndef SLURMKUBE_AGENT_WATCH_TABLE_H
#define SLURMKUBE_AGENT_WATCH_TABLE_H

#include "src/agent/ctl/peer.h"
#include "src/agent/watch/objects.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace slurmkube::watch
{

inline constexpr std::size_t k_watchers_max = 16;

/* What a watcher wants and may see. */
struct Wish {
	ctl::Peer peer;
	/* by core::ListKind; nullopt: nothing of that kind */
	std::array<std::optional<core::Selection>, 3> selections;
};

class Table
{
      public:
	/* objects must outlive the table. */
	explicit Table(Objects &objects) : objects_(objects) {}

	/* The number of the watcher; nullopt: there are too many. It is told of every object, and
	 * then that this was all. */
	std::optional<std::size_t> join(Wish wish);
	void leave(std::size_t watcher);
	/* Forgets all objects; there must be no watchers. */
	void clear();

	void look(const ObjectId &id);
	/* Begins to compare all objects; during a walk, another one follows. */
	void begin_walk();
	[[nodiscard]] bool is_walking() const { return walk_.has_value(); }
	/* All objects have been compared at least once. */
	[[nodiscard]] bool is_complete() const { return is_complete_; }
	/* Compares at most this number of objects. */
	void walk(std::size_t objects);

	/* Appends the next event for the watcher; examines at most examined_most objects. false:
	 * there is none at present, or not among these. */
	bool next(std::size_t watcher, std::size_t &examined_most, std::string &lines);
	[[nodiscard]] bool has_more(std::size_t watcher) const
	{
		return !watchers_[watcher]->pending.empty();
	}

      private:
	using Mask = std::uint32_t; /* a bit per watcher */

	struct Known {
		std::uint64_t digest = 0; /* of the row; 0: the object does not exist */
		std::int64_t user = -1;
		bool is_for_all = false;
		Mask visible = 0; /* to these watchers */
		Mask sent = 0;    /* these have it */
		Mask stale = 0;   /* these must be told; it is in their queues */
		std::string identity;
		std::string row; /* of the last look; empty: not kept */
	};
	using Entries = std::map<ObjectId, Known>;
	using Place = Entries::iterator;

	struct Watcher {
		explicit Watcher(Wish from) : wish(std::move(from)) {}
		Wish wish;
		/* nullopt: at this place all objects have been told that there were at the join */
		std::deque<std::optional<Place>> pending;
		bool waits_for_walk = false;
	};

	void end_walk();
	void look_at(Place known);
	void note(Place known, Mask mask);
	[[nodiscard]] Mask visible_to(const ObjectId &id, const Sight &sight) const;
	[[nodiscard]] static Mask bit(std::size_t watcher) { return Mask{1} << watcher; }
	[[nodiscard]] static bool may_see(const Watcher &watcher, const Known &known);
	bool take_event(std::size_t watcher, Place known, std::string &lines);
	void drop_if_over(Place known);

	Objects &objects_;
	Entries known_;
	std::array<std::optional<Watcher>, k_watchers_max> watchers_;
	std::optional<ObjectId> walk_; /* the last object that was compared; nullopt: no walk */
	bool walks_again_ = false;
	bool is_complete_ = false; /* all objects have been compared once */
};

} // namespace slurmkube::watch

#endif
