/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/slurmd_prolog.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::plugin;

namespace
{

constexpr std::int64_t k_settle = SlurmdProlog::k_settle_ns, k_blame = SlurmdProlog::k_blame_ns;
constexpr std::int64_t k_begin = 1000;

/* A pod that is bound in between would be deleted when slurmd cancels the job. */
void a_prolog_that_is_over_settles_first()
{
	SlurmdProlog prolog;
	prolog.see(true, true, k_begin);
	CHECK(!prolog.settles(k_begin) && !prolog.has_settled(k_begin));
	prolog.see(false, true, k_begin + 5);
	CHECK(prolog.settles(k_begin + 5 + k_settle - 1));
	CHECK(!prolog.has_settled(k_begin + 5 + k_settle - 1));
	CHECK(!prolog.settles(k_begin + 5 + k_settle));
	CHECK(prolog.has_settled(k_begin + 5 + k_settle));
}

void the_end_of_the_wait_is_news_once()
{
	SlurmdProlog prolog;
	prolog.see(true, true, k_begin);
	prolog.see(false, true, k_begin);
	prolog.see(false, true, k_begin + k_settle);
	CHECK(!prolog.has_settled(k_begin + k_settle) && !prolog.settles(k_begin + k_settle));
}

/* Slurm from 24.11 on says whether it has failed. */
void nothing_settles_where_slurm_notes_failures()
{
	SlurmdProlog prolog;
	prolog.see(true, false, k_begin);
	prolog.see(false, false, k_begin + 5);
	CHECK(!prolog.settles(k_begin + 5) && !prolog.has_settled(k_begin + 5 + k_settle));
	CHECK(prolog.may_end_job(k_begin + 5));
}

void a_prolog_is_blamed_until_shortly_after_its_end()
{
	SlurmdProlog prolog;
	CHECK(!prolog.may_end_job(k_begin));
	prolog.see(true, true, k_begin);
	CHECK(prolog.may_end_job(k_begin + 100 * k_blame));
	prolog.see(false, true, k_begin + 100 * k_blame);
	CHECK(prolog.may_end_job(k_begin + 101 * k_blame - 1));
	CHECK(!prolog.may_end_job(k_begin + 101 * k_blame));
}

void a_prolog_that_was_over_at_the_first_look_counts()
{
	SlurmdProlog prolog;
	prolog.see(false, true, k_begin);
	CHECK(!prolog.settles(k_begin));
	prolog.missed(true, k_begin);
	CHECK(prolog.settles(k_begin) && prolog.may_end_job(k_begin));
}

} // namespace

int main()
{
	return check::run_tests("plugin slurmd prolog",
		{
			TEST(a_prolog_that_is_over_settles_first),
			TEST(the_end_of_the_wait_is_news_once),
			TEST(nothing_settles_where_slurm_notes_failures),
			TEST(a_prolog_is_blamed_until_shortly_after_its_end),
			TEST(a_prolog_that_was_over_at_the_first_look_counts),
		});
}
