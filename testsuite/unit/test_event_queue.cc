/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/event_queue.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

constexpr std::int64_t k_second = 1'000'000;
constexpr EventLimits k_limits{
	.queued_max = 10, .per_second = 10, .burst = 3, .news_us = 30 * k_second};

EventNote note(
	int pod, bool warning = false, const char *text = "text", const char *reason = "SlurmBound")
{
	return {.name_space = "default",
		.name = "p",
		.uid = std::to_string(pod),
		.warning = warning,
		.reason = reason,
		.action = "Binding",
		.text = text};
}

int taken(EventQueue &queue, std::int64_t now)
{
	int count = 0;
	while (queue.next(now))
		count++;
	return count;
}

void a_burst_goes_at_once_the_rest_by_the_clock()
{
	EventQueue queue(k_limits);
	for (int i = 0; i < 9; i++)
		queue.add(note(i), k_second);
	CHECK_EQUAL(taken(queue, k_second), 3);
	CHECK_EQUAL(taken(queue, k_second + 99'999), 0);
	CHECK_EQUAL(taken(queue, k_second + 100'000), 1);
	CHECK_EQUAL(taken(queue, k_second + 250'000), 1);
	CHECK_EQUAL(taken(queue, k_second + 300'000), 1); /* the half token from before is kept */
	CHECK_EQUAL(taken(queue, 20 * k_second), 3);
	CHECK(queue.empty());
	CHECK_EQUAL(queue.written(), 9U);
	CHECK_EQUAL(queue.dropped(), 0U);
}

void warnings_go_first()
{
	EventQueue queue(k_limits);
	queue.add(note(1), k_second);
	queue.add(note(2, true), k_second);
	CHECK_EQUAL(queue.next(k_second)->uid, "2");
	CHECK_EQUAL(queue.next(k_second)->uid, "1");
}

/* A Deployment of 1000 pods that start at once: their bindings do not push the one event out. */
void what_is_told_once_only_is_kept()
{
	EventQueue queue(k_limits);
	queue.add(note(0, false, "text", "SlurmPriorityClassUnused"), k_second);
	for (int i = 1; i < 1000; i++)
		queue.add(note(i), k_second);
	const auto kept = queue.next(100 * k_second);
	CHECK(kept && kept->uid == "0");
	CHECK(!queue.next(100 * k_second));
}

void what_is_said_twice_is_said_once()
{
	EventQueue queue(k_limits);
	queue.add(note(1, true, "first"), k_second);
	queue.add(note(1, true, "second"), k_second);
	queue.add(note(1, true, "of another kind", "SlurmRefused"), k_second);
	CHECK_EQUAL(queue.next(k_second)->text, "second");
	CHECK_EQUAL(queue.next(k_second)->text, "of another kind");
	CHECK(queue.empty());
}

void old_news_is_no_news()
{
	EventQueue queue(k_limits);
	queue.add(note(1), k_second);
	queue.add(note(2, true), k_second);
	CHECK_EQUAL(taken(queue, 40 * k_second), 1);
	CHECK_EQUAL(queue.dropped(), 1U);
}

void the_queue_is_bounded_and_keeps_warnings()
{
	EventQueue queue(k_limits);
	for (int i = 0; i < 5; i++)
		queue.add(note(i, true), k_second);
	for (int i = 5; i < 100; i++)
		queue.add(note(i), k_second);
	CHECK_EQUAL(queue.dropped(), 90U);
	std::string order;
	for (std::int64_t now = k_second; !queue.empty(); now += k_second) {
		while (const auto next = queue.next(now))
			order += next->uid + " ";
	}
	CHECK_EQUAL(order, "0 1 2 3 4 95 96 97 98 99 ");
	for (int i = 0; i < 12; i++)
		queue.add(note(i, true), 200 * k_second);
	CHECK_EQUAL(queue.dropped(), 92U);
}

} // namespace

int main()
{
	return check::run_tests("event_queue",
		{
			TEST(a_burst_goes_at_once_the_rest_by_the_clock),
			TEST(warnings_go_first),
			TEST(what_is_told_once_only_is_kept),
			TEST(what_is_said_twice_is_said_once),
			TEST(old_news_is_no_news),
			TEST(the_queue_is_bounded_and_keeps_warnings),
		});
}
