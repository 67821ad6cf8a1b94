/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_order.h - decides which of the waiting requests to slurmctld is sent next.
 *
 * A request that slurmctld cannot digest occupies a worker for MessageTimeout, and may keep
 * slurmctld itself busy; one namespace may send hundreds of them. Therefore requests that end jobs
 * or change nodes go first, whatever else is under way. The requests of namespaces are sent in the
 * order in which they came, except that a namespace with unanswered requests comes after the
 * others, has only one request under way at a time, and rests after each further request that is
 * not answered. Each answer halves its count of unanswered requests.
 *
 * Pure: callers pass the time in monotonic microseconds. Not thread-safe: callers must lock. Each
 * call takes O(number of namespaces).
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

	/* senders: maximum number of namespaces' requests under way. waiting_max: maximum number of
	 * waiting requests; half of that for a single namespace. Requests that end jobs or change
	 * nodes have a limit of waiting_max of their own. */
	CallOrder(int senders, std::size_t waiting_max)
	    : senders_(senders), waiting_max_(waiting_max)
	{
	}

	/* name_space empty: the request ends a job or changes a node. nullopt: too many requests
	 * wait. */
	std::optional<Id> add(const std::string &name_space);
	/* The request to send next; done() must follow. nullopt: nothing may be sent at present. */
	std::optional<Id> take(std::int64_t now_us);
	/* is_answered: slurmctld has answered, whether it granted the request or not. */
	void done(Id id, bool is_answered, std::int64_t now_us);

	/* When the first namespace that rests and has a request waiting may send again, monotonic
	 * microseconds; nullopt: no such namespace rests. */
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
	/* requests of namespaces; those without a namespace are not limited */
	int namespaces_under_way_ = 0;
	std::size_t waiting_ = 0;
	Id last_ = 0;
};

} // namespace slurmkube::core

#endif
