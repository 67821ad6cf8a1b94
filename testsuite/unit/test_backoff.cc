/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/model/backoff.h"
#include "testsuite/unit/check.h"

#include <initializer_list>

using slurmkube::core::Backoff;
using std::chrono::milliseconds;

namespace
{

constexpr std::uint32_t k_most = 0xffffffff;

void delays_double_up_to_the_longest()
{
	Backoff backoff(milliseconds(100), milliseconds(1000));
	for (const long full : {100, 200, 400, 800, 1000, 1000}) {
		Backoff twin = backoff;
		CHECK_EQUAL(twin.next(0).count(), full / 2);
		/* the random number that yields the maximum delay: a multiple of half + 1, minus
		 * 1 */
		CHECK_EQUAL(backoff.next(static_cast<std::uint32_t>(full / 2)).count(), full);
	}
}

void any_random_number_stays_within()
{
	for (const std::uint32_t random : {0U, 1U, 49U, 50U, 51U, 12345U, k_most}) {
		Backoff backoff(milliseconds(100), milliseconds(10'000));
		const long delay = backoff.next(random).count();
		CHECK(delay >= 50 && delay <= 100);
	}
}

void reset_starts_again()
{
	Backoff backoff(milliseconds(10), milliseconds(500));
	for (int i = 0; i < 40; i++)
		(void)backoff.next(k_most);
	CHECK_EQUAL(backoff.failures(), 40U);
	backoff.reset();
	CHECK_EQUAL(backoff.failures(), 0U);
	CHECK_EQUAL(backoff.next(0).count(), 5);
}

} // namespace

int main()
{
	return slurmkube::check::run_tests("backoff",
		{
			TEST(delays_double_up_to_the_longest),
			TEST(any_random_number_stays_within),
			TEST(reset_starts_again),
		});
}
