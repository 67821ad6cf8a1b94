/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/budget.h"
#include "src/plugins/job_submit/kube/submission_registry.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::plugin;

namespace
{

bool yes(core::JobId, const core::Marker &)
{
	return true;
}

bool no(core::JobId, const core::Marker &)
{
	return false;
}

bool alive(int)
{
	return true;
}

bool dead(int)
{
	return false;
}

core::Marker pod(const char *uid, std::uint32_t attempt = 1)
{
	return {"main", "ns", "pod", "Pod", uid, attempt, 0, 0};
}

struct Built : SubmissionRegistry {
	Built() { set_built(true); }
};

constexpr int k_thread = 10, k_other_thread = 11;

void a_second_claim_waits_for_the_first()
{
	Built registry;
	CHECK(registry.claim(pod("a"), k_thread, 0, yes).claim == Claim::granted);
	CHECK(registry.claim(pod("a"), k_other_thread, 0, yes).claim == Claim::under_way);
	CHECK(registry.claim(pod("a", 2), k_other_thread, 0, yes).claim == Claim::granted);
	CHECK(registry.claim(pod("b"), k_other_thread, 0, yes).claim == Claim::granted);
}

void a_live_job_is_named()
{
	Built registry;
	registry.found({7}, pod("a"));
	ClaimAnswer answer = registry.claim(pod("a"), k_thread, 0, yes);
	CHECK(answer.claim == Claim::live);
	CHECK_EQUAL(answer.live.number, 7U);
}

void an_ended_job_stands_in_nobodys_way()
{
	Built registry;
	registry.found({7}, pod("a"));
	CHECK(registry.claim(pod("a"), k_thread, 0, no).claim == Claim::granted);
	registry.found({8}, pod("b"));
	registry.forget({8}, pod("b"));
	CHECK(registry.claim(pod("b"), k_thread, 0, yes).claim == Claim::granted);
}

void forgetting_an_old_job_leaves_the_new_one()
{
	Built registry;
	registry.found({7}, pod("a"));
	registry.found({8}, pod("a"));
	registry.forget({7}, pod("a"));
	CHECK(registry.claim(pod("a"), k_thread, 0, yes).live == core::JobId{8});
}

void a_found_job_ends_its_ticket()
{
	Built registry;
	(void)registry.claim(pod("a"), k_thread, 0, yes);
	CHECK(registry.has_tickets());
	registry.found({9}, pod("a"));
	CHECK(!registry.has_tickets());
	CHECK(registry.claim(pod("a"), k_thread, 0, yes).live == core::JobId{9});
}

void a_ticket_is_settled_when_its_thread_is_gone()
{
	Built registry;
	(void)registry.claim(pod("a"), k_thread, 0, yes);
	CHECK(registry.settled(0, alive).empty());
	auto serials = registry.settled(0, dead);
	CHECK_EQUAL(serials.size(), 1U);
	registry.drop(serials);
	CHECK(registry.claim(pod("a"), k_thread, 0, yes).claim == Claim::granted);
}

void a_ticket_is_settled_when_its_thread_submits_again()
{
	Built registry;
	(void)registry.claim(pod("a"), k_thread, 0, yes);
	registry.came_back(k_other_thread);
	CHECK(registry.settled(0, alive).empty());
	registry.came_back(k_thread);
	CHECK_EQUAL(registry.settled(0, alive).size(), 1U);
}

void time_alone_does_not_settle_a_ticket()
{
	Built registry;
	(void)registry.claim(pod("a"), k_thread, 0, yes);
	CHECK(registry.settled(3600'000 * k_ms, alive).empty());
	CHECK(!registry.wants_write_lock(999 * k_ms));
	CHECK(registry.wants_write_lock(1000 * k_ms));
	for (int i = 0; i < 3; i++)
		registry.write_lock_passed();
	CHECK(registry.settled(1000 * k_ms, alive).empty());
	CHECK_EQUAL(registry.settled(2000 * k_ms, alive).size(), 1U);
}

/* The keeper has looked at the jobs between settled() and drop(). drop() must not remove a
 * ticket issued in between. */
void a_newer_ticket_survives_the_drop()
{
	Built registry;
	(void)registry.claim(pod("a"), k_thread, 0, yes);
	auto serials = registry.settled(0, dead);
	registry.found({5}, pod("a"));
	CHECK(registry.claim(pod("a"), k_other_thread, 0, no).claim == Claim::granted);
	registry.drop(serials);
	CHECK(registry.has_tickets());
}

void nothing_is_granted_before_all_jobs_were_read()
{
	SubmissionRegistry registry;
	CHECK(registry.claim(pod("a"), k_thread, 0, yes).claim == Claim::unknown);
	registry.found({7}, pod("b"));
	CHECK(registry.claim(pod("b"), k_thread, 0, yes).claim == Claim::live);
	CHECK(!registry.has_tickets());
	registry.set_built(true);
	CHECK(registry.claim(pod("a"), k_thread, 0, yes).claim == Claim::granted);
	registry.set_built(false); /* another slurmctld submits jobs */
	CHECK(registry.claim(pod("c"), k_thread, 0, yes).claim == Claim::unknown);
}

} // namespace

int main()
{
	return check::run_tests("plugin submission registry",
		{
			TEST(a_second_claim_waits_for_the_first),
			TEST(a_live_job_is_named),
			TEST(an_ended_job_stands_in_nobodys_way),
			TEST(forgetting_an_old_job_leaves_the_new_one),
			TEST(a_found_job_ends_its_ticket),
			TEST(a_ticket_is_settled_when_its_thread_is_gone),
			TEST(a_ticket_is_settled_when_its_thread_submits_again),
			TEST(time_alone_does_not_settle_a_ticket),
			TEST(a_newer_ticket_survives_the_drop),
			TEST(nothing_is_granted_before_all_jobs_were_read),
		});
}
