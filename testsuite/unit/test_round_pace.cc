/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/round_pace.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

constexpr std::int64_t k_ms = 1'000;

/* The wait for the next round at now_us, after one from began_us to ended_us. */
std::int64_t wait_after(std::int64_t began_us, std::int64_t ended_us, std::int64_t now_us)
{
	RoundPace pace;
	pace.note_round(began_us, ended_us);
	return pace.wait(now_us).count();
}

void the_first_round_does_not_wait()
{
	CHECK_EQUAL(RoundPace().wait(0).count(), 0);
	CHECK_EQUAL(RoundPace().wait(5 * k_ms).count(), 0);
}

void a_short_round_is_followed_at_once()
{
	CHECK_EQUAL(wait_after(0, 100, 100), 0);
	CHECK_EQUAL(wait_after(0, 200, 200), 0);
}

void a_pause_grows_with_the_round()
{
	CHECK_EQUAL(wait_after(k_ms, k_ms + 400, k_ms + 400), 6'400);
	CHECK_EQUAL(wait_after(k_ms, k_ms + 700, k_ms + 700), 16 * k_ms);
	CHECK_EQUAL(wait_after(k_ms, k_ms + 700, k_ms + 10'700), 6 * k_ms);
}

void a_pause_is_over()
{
	CHECK_EQUAL(wait_after(0, 700, 700 + 16 * k_ms), 0);
	CHECK_EQUAL(wait_after(0, 700, 700 + 99 * k_ms), 0);
}

/* epoll_wait() would make more of it */
void less_than_a_millisecond_is_not_waited_for()
{
	CHECK_EQUAL(wait_after(0, 700, 700 + 15 * k_ms + 1), 0);
	CHECK_EQUAL(wait_after(0, 700, 700 + 15 * k_ms), k_ms);
}

void a_pause_has_a_limit()
{
	CHECK_EQUAL(wait_after(0, 1'000 * k_ms, 1'000 * k_ms), 50 * k_ms);
}

} // namespace

int main()
{
	return check::run_tests("round_pace",
		{
			TEST(the_first_round_does_not_wait),
			TEST(a_short_round_is_followed_at_once),
			TEST(a_pause_grows_with_the_round),
			TEST(a_pause_is_over),
			TEST(less_than_a_millisecond_is_not_waited_for),
			TEST(a_pause_has_a_limit),
		});
}
