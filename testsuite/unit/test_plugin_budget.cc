/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/budget.h"
#include "src/plugins/job_submit/kube/costs.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::plugin;

namespace
{

void the_budget_is_less_than_two_percent_in_the_long_run()
{
	DutyBudget budget(0);
	std::int64_t held = 0, end = 100'000 * k_ms;
	for (std::int64_t now = 0; now < end; now += k_ms / 2)
		if (budget.can_hold(now)) {
			budget.spent(k_ms / 4);
			held += k_ms / 4;
		}
	CHECK(held <= end / 60 + 51 * k_ms);
	CHECK(held >= end / 60 - k_ms);
}

void a_long_hold_is_paid_back()
{
	DutyBudget budget(0);
	CHECK(budget.can_hold(0));
	budget.spent(52 * k_ms);
	CHECK(!budget.can_hold(119 * k_ms));
	CHECK(budget.can_hold(121 * k_ms));
}

void small_steps_of_time_are_not_lost()
{
	DutyBudget budget(0);
	budget.spent(55 * k_ms);
	for (std::int64_t now = 0; now < 301 * k_ms; now += 1009)
		(void)budget.can_hold(now);
	CHECK(budget.can_hold(301 * k_ms));
}

void debt_has_a_limit()
{
	DutyBudget budget(0);
	for (int i = 0; i < 100; i++)
		budget.spent(1000 * k_ms);
	CHECK(!budget.can_hold(299 * k_ms));
	CHECK(budget.can_hold(301 * k_ms));
}

void passes_that_we_ask_for_take_a_tenth_of_the_time()
{
	KickBudget budget(10);
	int kicks = 0;
	for (std::int64_t now = 0; now < 100'000 * k_ms; now += 2 * k_ms)
		if (budget.can_kick(now, 40 * k_ms)) {
			budget.kicked(now, 40 * k_ms);
			kicks++;
		}
	CHECK(kicks <= 250 + 5);
	CHECK(kicks >= 245);
}

void an_end_now_and_then_is_served_at_once()
{
	KickBudget budget(10);
	(void)budget.can_kick(0, 40 * k_ms);
	std::int64_t now = 10'000 * k_ms;
	for (int i = 0; i < 5; i++, now += 10 * k_ms) {
		CHECK(budget.can_kick(now, 40 * k_ms));
		budget.kicked(now, 40 * k_ms);
		CHECK(!budget.can_kick(now + 9 * k_ms, 40 * k_ms));
	}
	CHECK(!budget.can_kick(now, 40 * k_ms));
	CHECK(budget.can_kick(now + 401 * k_ms, 40 * k_ms));
}

void passes_that_cost_nothing_are_10_ms_apart()
{
	KickBudget budget(10);
	CHECK(budget.can_kick(5 * k_ms, 0));
	budget.kicked(5 * k_ms, 0);
	CHECK(!budget.can_kick(14 * k_ms, 0));
	CHECK(budget.can_kick(15 * k_ms, 0));
}

using Pass = Kicks::Pass;

/* slurmctld's passes take 20 ms each, and the keeper looks every 2 ms. Returns the time from
 * start to the request for a full pass, in ms; -1: none within five seconds. */
std::int64_t full_pass_asked_after(Kicks &kicks, std::int64_t start, std::uint32_t &passes)
{
	kicks.want();
	for (std::int64_t ms = 0; ms < 5000; ms += 2) {
		const Pass pass = kicks.next((start + ms) * k_ms, passes, 20 * k_ms, 1);
		passes += pass == Pass::none ? 0 : 1;
		if (pass == Pass::full)
			return ms;
	}
	return -1;
}

void a_pass_over_all_that_is_over_budget_is_not_forgotten()
{
	Kicks kicks;
	std::uint32_t passes = 7;
	std::int64_t now = 100'000, waited = 0;
	for (int i = 0; i < 40; i++) {
		const std::int64_t after = full_pass_asked_after(kicks, now, passes);
		CHECK(after >= 0 && after <= 600);
		now += after + 2;
		waited += after;
	}
	/* each costs ten times its duration, or twenty times if a short one preceded it */
	CHECK(waited > 40 * 100);
	CHECK(!kicks.are_wanted());
}

void a_pass_over_all_is_for_those_who_wait()
{
	Kicks kicks;
	kicks.want();
	CHECK(kicks.next(100'000 * k_ms, 1, 20 * k_ms, 0) == Pass::shallow);
	CHECK(!kicks.are_wanted());
	CHECK(kicks.next(101'000 * k_ms, 2, 20 * k_ms, 0) == Pass::none);
	kicks.want();
	CHECK(kicks.next(102'000 * k_ms, 2, 20 * k_ms, 1) == Pass::full);
	CHECK(kicks.next(103'000 * k_ms, 3, 20 * k_ms, 1) == Pass::none);
}

void what_a_look_finds_early_is_not_searched_for()
{
	Tally ends(5);
	ends.counted(7);
	ends.found(3); /* the third job ended after the count */
	CHECK(ends.wanted() == 0);
	ends.counted(9);
	CHECK(ends.wanted() == 1);
	ends.found(1);
	CHECK(ends.wanted() == 0);
}

void what_was_not_found_stays_wanted_until_all_were_looked_at()
{
	Tally ends;
	ends.counted(2);
	ends.counted(3);
	CHECK(ends.wanted() == 3);
	ends.found(1);
	CHECK(ends.wanted() == 2);
	ends.give_up();
	CHECK(ends.wanted() == 0);
}

/* A surplus that slurmctld never counts must not hide a later end. */
void what_was_found_early_is_good_for_one_count()
{
	Tally ends;
	ends.found(1);
	ends.counted(0);
	ends.counted(1);
	CHECK(ends.wanted() == 1);
}

/* slurmctld resets its counters at midnight. */
void a_counter_that_begins_again_is_no_flood()
{
	Tally ends(1000);
	ends.counted(2);
	CHECK(ends.wanted() == 2);
	ends.counted(3);
	CHECK(ends.wanted() == 3);
}

void backoff_doubles_to_a_fifth_of_a_second_and_starts_again()
{
	Backoff backoff;
	CHECK_EQUAL(backoff.next(0), 50 * k_ms);
	CHECK_EQUAL(backoff.next(0), 100 * k_ms);
	for (int i = 0; i < 10; i++)
		(void)backoff.next(12345);
	CHECK_EQUAL(backoff.next(0), 200 * k_ms);
	for (std::uint32_t random : {1U, 77777U, 0xffffffffU}) {
		std::int64_t wait = backoff.next(random);
		CHECK(wait > 100 * k_ms && wait <= 200 * k_ms);
	}
	backoff.reset();
	CHECK_EQUAL(backoff.next(0), 50 * k_ms);
}

void a_slow_look_follows_changes_but_keeps_its_distance()
{
	SlowLook look(100 * k_ms, 10'000 * k_ms);
	std::int64_t t = 5'000 * k_ms;
	CHECK(look.is_due(t, 0));
	look.began(t, 1000);
	look.ended(k_ms / 4);
	CHECK(!look.is_due(t + 99 * k_ms, 1000));
	CHECK(look.is_due(t + 100 * k_ms, 1000)); /* the same second, perhaps after the look */
	CHECK(look.is_due(t + 100 * k_ms, 1001));
	CHECK(!look.is_due(t + 5'000 * k_ms, 990));
	CHECK(look.is_due(t + 10'000 * k_ms, 990));
}

void a_dear_look_is_rarer()
{
	SlowLook look(100 * k_ms, 10'000 * k_ms);
	look.began(k_ms, 1000);
	look.ended(4 * k_ms);
	CHECK(!look.is_due(k_ms + 999 * k_ms, 1001));
	CHECK(look.is_due(k_ms + 1000 * k_ms, 1001));
	look.ended(1000 * k_ms);
	CHECK(!look.is_due(k_ms + 2999 * k_ms, 1001));
	CHECK(look.is_due(k_ms + 3000 * k_ms, 1001));
	look.again();
	CHECK(look.is_due(2 * k_ms, 0));
}

void the_histogram_is_right_within_an_eighth()
{
	Histogram histogram;
	CHECK_EQUAL(histogram.read().count, 0U);
	for (int i = 1; i <= 1000; i++)
		histogram.record(i * 1000);
	core::Cost cost = histogram.read();
	CHECK_EQUAL(cost.count, 1000U);
	CHECK(cost.mean_us > 500.4 && cost.mean_us < 500.6);
	CHECK(cost.p99_us >= 990 && cost.p99_us <= 1000);
	CHECK_EQUAL(cost.max_us, 1000);
}

void the_histogram_takes_extremes()
{
	Histogram histogram;
	histogram.record(-5);
	histogram.record(0);
	histogram.record(INT64_MAX);
	core::Cost cost = histogram.read();
	CHECK_EQUAL(cost.count, 3U);
	CHECK(cost.p99_us > 1e9);
	Histogram one;
	one.record(3);
	CHECK(one.read().p99_us > 0.002 && one.read().p99_us <= 0.004);
}

} // namespace

int main()
{
	return check::run_tests("plugin budget",
		{
			TEST(the_budget_is_less_than_two_percent_in_the_long_run),
			TEST(a_long_hold_is_paid_back),
			TEST(small_steps_of_time_are_not_lost),
			TEST(debt_has_a_limit),
			TEST(passes_that_we_ask_for_take_a_tenth_of_the_time),
			TEST(an_end_now_and_then_is_served_at_once),
			TEST(passes_that_cost_nothing_are_10_ms_apart),
			TEST(a_pass_over_all_that_is_over_budget_is_not_forgotten),
			TEST(a_pass_over_all_is_for_those_who_wait),
			TEST(what_a_look_finds_early_is_not_searched_for),
			TEST(what_was_not_found_stays_wanted_until_all_were_looked_at),
			TEST(what_was_found_early_is_good_for_one_count),
			TEST(a_counter_that_begins_again_is_no_flood),
			TEST(backoff_doubles_to_a_fifth_of_a_second_and_starts_again),
			TEST(a_slow_look_follows_changes_but_keeps_its_distance),
			TEST(a_dear_look_is_rarer),
			TEST(the_histogram_is_right_within_an_eighth),
			TEST(the_histogram_takes_extremes),
		});
}
