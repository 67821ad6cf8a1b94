/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/work_queue.h"
#include "testsuite/unit/check.h"

#include <string>

using namespace slurmkube;
using core::WorkQueue;

namespace
{

using Queue = WorkQueue<std::string>;

std::string woken(Queue &queue, std::int64_t now_us)
{
	std::string all;
	queue.wake(now_us);
	for (const std::string &key : queue.take())
		all += key;
	return all;
}

void all_exact_times_come()
{
	Queue queue;
	queue.later(5, "a");
	queue.later(3, "a");
	queue.later(4, "b");
	CHECK_EQUAL(*queue.next_us(), 3);
	CHECK_EQUAL(woken(queue, 2), "");
	CHECK_EQUAL(woken(queue, 3), "a");
	CHECK_EQUAL(woken(queue, 5), "ab");
	CHECK(!queue.next_us());
}

void only_the_earliest_of_the_others_comes()
{
	Queue queue;
	queue.within(5, "a");
	queue.within(7, "a");
	queue.within(6, "b");
	queue.within(4, "a");
	CHECK_EQUAL(*queue.next_us(), 4);
	CHECK_EQUAL(woken(queue, 4), "a");
	CHECK_EQUAL(*queue.next_us(), 6);
	CHECK_EQUAL(woken(queue, 9), "b");
	CHECK(!queue.next_us());
	queue.within(12, "a");
	CHECK_EQUAL(woken(queue, 12), "a");
}

void an_exact_time_stays_beside_an_earlier_one()
{
	Queue queue;
	queue.within(3, "a");
	queue.later(5, "a");
	queue.within(2, "a");
	CHECK_EQUAL(woken(queue, 2), "a");
	CHECK_EQUAL(woken(queue, 4), "");
	CHECK_EQUAL(woken(queue, 5), "a");
}

} // namespace

int main()
{
	return check::run_tests("work_queue",
		{TEST(all_exact_times_come), TEST(only_the_earliest_of_the_others_comes),
			TEST(an_exact_time_stays_beside_an_earlier_one)});
}
