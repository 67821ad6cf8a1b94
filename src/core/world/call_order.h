/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_order.h - which of the waiting requests to slurmctld is sent next.
 *
 * A request that slurmctld cannot digest keeps a worker for MessageTimeout, and may keep slurmctld
 * itself busy. Its sender, a namespace, may have hundreds of the kind. So: what ends jobs or
 * changes nodes goes first and always finds a worker; requests of others go in the order in which
 * they came, but a namespace whose requests were not answered comes after the rest, has one on its
 * way at a time, and rests after each that is not answered. An answer halves what is held against
 * it.
 *
 * Pure: callers give the time (monotonic microseconds) and lock. Takes O(namespaces) a request.
 */
#ifndef SLURMKUBE_CORE_WORLD_CALL_ORDER_H
#define SLURMKUBE_CORE_WORLD_CALL_ORDER_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace slurmkube::core
{

class CallOrder
{
      public:
	using Id = std::uint64_t;

	/* At most so many requests of namespaces at a time, and so many waiting; of one namespace
	 * half. What ends jobs is counted apart. */
	CallOrder(int senders, std::size_t waiting_max)
	    : senders_(senders), waiting_max_(waiting_max)
	{
	}

	/* An empty name space: it ends a job, or changes a node. nullopt: too many wait. */
	std::optional<Id> add(const std::string &name_space);
	/* To be sent now; done() must follow. nullopt: nothing may be. */
	std::optional<Id> take(std::int64_t now_us);
	/* is_answered: whatever the answer was. */
	void done(Id id, bool is_answered, std::int64_t now_us);

	/* When the first of those that rest and have something to send may; nullopt: none rests. */
	[[nodiscard]] std::optional<std::int64_t> rests_until(std::int64_t now_us) const;
	[[nodiscard]] std::size_t waiting() const { return waiting_; }

      private:
	struct Sender {
		std::deque<Id> waiting;
		int under_way = 0;
		unsigned unanswered = 0;
		std::int64_t rests_until_us = 0;
	};
	using Senders = std::map<std::string, Sender>;

	[[nodiscard]] static bool may_send(const Sender &sender, std::int64_t now_us);
	[[nodiscard]] bool may_doubted_send() const;
	std::optional<Id> take_from(Senders::iterator sender);
	[[nodiscard]] Senders::iterator best(std::int64_t now_us);

	const int senders_;
	const std::size_t waiting_max_;
	Senders by_namespace_;
	std::map<Id, std::string> under_way_;
	int namespaces_under_way_ = 0; /* their requests */
	std::size_t waiting_ = 0;
	Id last_ = 0;
};

} // namespace slurmkube::core

#endif
