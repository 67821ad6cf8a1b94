/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of requests to slurmctld, when the requests of some namespaces are never answered. */
#include "src/core/world/call_order.h"
#include "testsuite/unit/check.h"

#include <algorithm>
#include <vector>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

constexpr std::int64_t k_second = 1'000'000, k_timeout = 10 * k_second, k_quick = 2'000;

using Ids = std::vector<CallOrder::Id>;

Ids add_many(CallOrder &order, const std::string &name_space, int count)
{
	Ids ids;
	for (int i = 0; i < count; i++) {
		const auto id = order.add(name_space);
		if (id)
			ids.push_back(*id);
	}
	return ids;
}

bool contains(const Ids &ids, CallOrder::Id id)
{
	return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/* Threads that send requests. Requests of bad get no answer within k_timeout. */
struct Threads {
	CallOrder &order;
	Ids bad;
	std::size_t count;
	std::int64_t now = 0;
	std::map<std::int64_t, Ids> ending = {}; /* by the time at which they end */
	std::size_t under_way = 0, bad_sent = 0;
	Ids sent = {};

	void start()
	{
		while (under_way < count) {
			const auto id = order.take(now);
			if (!id)
				return;
			const bool is_bad = contains(bad, *id);
			ending[now + (is_bad ? k_timeout : k_quick)].push_back(*id);
			sent.push_back(*id);
			bad_sent += is_bad ? 1 : 0;
			under_way++;
		}
	}
	/* False when nothing is left to do. */
	bool step()
	{
		start();
		const auto rested = order.rests_until(now);
		if (ending.empty() && !rested)
			return false;
		const std::int64_t next_end = ending.empty() ? INT64_MAX : ending.begin()->first;
		now = std::min(next_end, rested.value_or(INT64_MAX));
		if (now < next_end)
			return true;
		for (const CallOrder::Id id : ending.begin()->second) {
			order.done(id, !contains(bad, id), now);
			under_way--;
		}
		ending.erase(ending.begin());
		return true;
	}
	/* Seconds until all of these have been sent. */
	std::int64_t seconds_to_send(const Ids &wanted)
	{
		const auto is_sent = [this](CallOrder::Id id) { return contains(sent, id); };
		while (!std::all_of(wanted.begin(), wanted.end(), is_sent) && step()) {
		}
		CHECK(std::all_of(wanted.begin(), wanted.end(), is_sent));
		return now / k_second;
	}
};

void one_namespace_of_bad_requests_does_not_hold_up_another()
{
	CallOrder order(4, 10000);
	Threads threads{order, add_many(order, "bad", 200), 5};
	const Ids good = add_many(order, "good", 10);
	CHECK(threads.seconds_to_send(good) <= 10);
	CHECK(threads.bad_sent <= 5);
}

void good_ones_that_come_later_need_not_wait()
{
	CallOrder order(4, 10000);
	Threads threads{order, add_many(order, "bad", 200), 5};
	while (threads.now < 100 * k_second && threads.step()) {
	}
	const Ids good = add_many(order, "good", 10);
	const std::size_t before = threads.bad_sent;
	const std::int64_t began = threads.now / k_second;
	CHECK(threads.seconds_to_send(good) <= began + 1);
	CHECK(threads.bad_sent <= before + 1);
}

/* The longer requests go unanswered, the smaller their share of slurmctld's time. */
void bad_ones_are_sent_less_and_less()
{
	CallOrder order(4, 10000);
	Threads threads{order, add_many(order, "bad", 200), 5};
	while (threads.now < 3600 * k_second && threads.step()) {
	}
	CHECK(threads.bad_sent >= 40 && threads.bad_sent <= 70);
}

void ends_find_a_worker_and_go_first()
{
	CallOrder order(2, 100);
	(void)add_many(order, "bad", 10);
	CHECK(order.take(0) && order.take(0));
	CHECK(!order.take(0)); /* the third thread is reserved for the ends of jobs */
	const Ids ends = add_many(order, "", 2);
	CHECK_EQUAL(order.take(0).value_or(0), ends[0]);
	CHECK_EQUAL(order.take(0).value_or(0), ends[1]);
}

void trusted_namespaces_go_in_the_order_of_their_requests()
{
	CallOrder order(8, 100);
	const auto first = order.add("z"), second = order.add("a"), third = order.add("z");
	CHECK(order.take(0) == first);
	CHECK(order.take(0) == second);
	CHECK(order.take(0) == third);
	CHECK(!order.take(0));
}

void an_answer_halves_what_is_held_against_a_namespace()
{
	CallOrder order(4, 100);
	Ids ids = add_many(order, "n", 20);
	std::int64_t now = 0;
	for (int i = 0; i < 3; i++) {
		now = order.rests_until(now).value_or(now);
		const auto id = order.take(now);
		REQUIRE(id.has_value());
		order.done(*id, false, now += k_timeout);
	}
	CHECK(!order.take(now));
	REQUIRE(order.rests_until(now).has_value());
	CHECK_EQUAL(*order.rests_until(now), now + 20 * k_second);
	now = *order.rests_until(now);
	for (int i = 0; i < 2; i++) { /* the count of failures falls from 3 to 1 to 0 */
		const auto id = order.take(now);
		REQUIRE(id.has_value());
		CHECK(!order.take(now)); /* one request at a time */
		order.done(*id, true, now);
	}
	CHECK(order.take(now) && order.take(now));
}

void one_sender_cannot_fill_the_queue()
{
	CallOrder order(4, 100);
	CHECK_EQUAL(add_many(order, "many", 200).size(), 50U);
	CHECK_EQUAL(add_many(order, "other", 200).size(), 50U);
	CHECK(!order.add("third"));
	CHECK_EQUAL(add_many(order, "", 200).size(), 100U); /* ends always have room */
}

void doubted_namespaces_leave_half_of_the_workers()
{
	CallOrder order(4, 1000);
	const std::vector<std::string> names{"a", "b", "c", "d"};
	for (const std::string &name : names) {
		(void)add_many(order, name, 5);
		const auto id = order.take(0);
		REQUIRE(id.has_value());
		order.done(*id, false, 0);
	}
	CHECK(order.take(0) && order.take(0));
	CHECK(!order.take(0));
	const auto good = order.add("good");
	CHECK(order.take(0) == good);
}

} // namespace

int main()
{
	return check::run_tests("call order",
		{
			TEST(one_namespace_of_bad_requests_does_not_hold_up_another),
			TEST(good_ones_that_come_later_need_not_wait),
			TEST(bad_ones_are_sent_less_and_less),
			TEST(ends_find_a_worker_and_go_first),
			TEST(trusted_namespaces_go_in_the_order_of_their_requests),
			TEST(an_answer_halves_what_is_held_against_a_namespace),
			TEST(one_sender_cannot_fill_the_queue),
			TEST(doubted_namespaces_leave_half_of_the_workers),
		});
}
