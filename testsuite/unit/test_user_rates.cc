/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/ctl/peer.h"
#include "src/agent/ctl/rates.h"
#include "testsuite/unit/check.h"

#include <string>

using namespace slurmkube;
using ctl::UserRates;

namespace
{

constexpr std::int64_t k_second = 1'000'000;

int taken(UserRates &rates, std::int64_t user, std::int64_t now_us, int tries)
{
	int count = 0;
	for (int i = 0; i < tries; i++)
		count += rates.take(user, now_us) ? 1 : 0;
	return count;
}

void a_burst_then_a_rate()
{
	UserRates rates;
	CHECK_EQUAL(taken(rates, 1000, 0, 50), 20);
	CHECK_EQUAL(taken(rates, 1000, k_second / 4, 50), 0);
	CHECK_EQUAL(taken(rates, 1000, k_second / 2, 50), 1);
	CHECK_EQUAL(taken(rates, 1000, 3 * k_second, 50), 5);
	CHECK_EQUAL(taken(rates, 1000, 3600 * k_second, 50), 20);
}

void users_have_rates_of_their_own()
{
	UserRates rates;
	CHECK_EQUAL(taken(rates, 1000, 0, 50), 20);
	CHECK_EQUAL(taken(rates, 1001, 0, 50), 20);
	CHECK_EQUAL(taken(rates, -1, 0, 50), 20); /* all whom the kernel does not name */
}

/* Rested users make room; while nobody has rested, further users wait. */
void memory_is_bounded()
{
	UserRates rates;
	const auto most = static_cast<std::int64_t>(ctl::k_rated_users_max);
	for (std::int64_t user = 0; user < most; user++)
		CHECK(rates.take(user, 0));
	CHECK(!rates.take(most, 0));
	CHECK(rates.take(0, 0));
	CHECK(rates.take(most, k_second));
}

struct Sight {
	const char *label;
	ctl::Peer peer;
	std::int64_t owner;
	bool sees;
};

void peers_see_what_is_theirs()
{
	for (const Sight &row : {
		     Sight{"own", {.user = 1000}, 1000, true},
		     Sight{"another's", {.user = 1000}, 1001, false},
		     Sight{"nobody's", {.user = 1000}, -1, false},
		     Sight{"nobody's, of an unknown peer", {.user = -1}, -1, false},
		     Sight{"operator", {.user = 1, .is_operator = true}, 1001, true},
		     Sight{"operator, nobody's", {.user = 1, .is_operator = true}, -1, true},
	     })
		CHECK_EQUAL(row.label + std::string(row.peer.may_see(row.owner) ? " sees" : ""),
			row.label + std::string(row.sees ? " sees" : ""));
}

} // namespace

int main()
{
	return check::run_tests("user_rates",
		{
			TEST(a_burst_then_a_rate),
			TEST(users_have_rates_of_their_own),
			TEST(memory_is_bounded),
			TEST(peers_see_what_is_theirs),
		});
}
