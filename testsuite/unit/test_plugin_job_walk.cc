/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/job_walk.h"
#include "testsuite/unit/check.h"

#include <new>
#include <set>
#include <vector>

using namespace slurmkube::plugin;

namespace
{

std::vector<std::uint32_t> g_list; /* slurmctld's job list */
std::uint32_t g_shown = 0;         /* jobs shown in one slice */

void jobs_after(std::uint32_t skipped, kube_each_job each, void *context)
{
	g_shown = 0;
	for (std::size_t i = skipped; i < g_list.size(); i++) {
		const kube_listed_job job = {g_list[i], false, {"", ""}};
		g_shown++;
		if (!each(context, &job))
			return;
	}
}

void fill(std::uint32_t count)
{
	g_list.clear();
	for (std::uint32_t id = 1; id <= count; id++)
		g_list.push_back(id);
}

template <class F> std::set<std::uint32_t> walk(F &&between)
{
	std::set<std::uint32_t> met;
	JobWalk walk(jobs_after, [&](const kube_listed_job &job) { met.insert(job.id); });
	for (int slices = 0; !walk.is_done() && slices < 1000; slices++) {
		walk.go_on();
		CHECK(g_shown <= JobWalk::k_slice + 1);
		between(slices);
	}
	CHECK(walk.is_done());
	return met;
}

void each_job_is_met_and_a_slice_is_bounded()
{
	const std::uint32_t k = JobWalk::k_slice;
	for (std::uint32_t count : {0U, 1U, k - 1, k, k + 1, 2 * k, 5 * k + 7}) {
		fill(count);
		CHECK_EQUAL(walk([](int) {}).size(), count);
	}
}

void what_comes_between_two_slices_is_met()
{
	fill(3 * JobWalk::k_slice);
	const auto met = walk([](int slice) {
		if (slice < 5)
			g_list.push_back(90'000 + static_cast<std::uint32_t>(slice));
	});
	CHECK(met.contains(90'000));
	CHECK(met.contains(90'001));
	CHECK(met.contains(3 * JobWalk::k_slice));
}

void nothing_is_passed_over_when_jobs_before_it_are_forgotten()
{
	fill(6 * JobWalk::k_slice);
	const auto met = walk([](int slice) {
		if (slice % 3 == 1 && slice < 9)
			g_list.erase(g_list.begin() + slice, g_list.begin() + slice + 100);
	});
	for (std::uint32_t id : g_list)
		CHECK(met.contains(id));
}

void nothing_is_passed_over_when_the_last_one_met_is_forgotten()
{
	fill(4 * JobWalk::k_slice);
	const auto met = walk([](int slice) {
		if (slice == 1)
			g_list.erase(g_list.begin() + 2 * JobWalk::k_slice - 1);
	});
	for (std::uint32_t id : g_list)
		CHECK(met.contains(id));
}

void a_list_that_shrinks_below_the_place_ends_the_walk()
{
	fill(4 * JobWalk::k_slice);
	(void)walk([](int slice) {
		if (slice == 2)
			g_list.resize(3);
	});
	fill(2 * JobWalk::k_slice);
	(void)walk([](int slice) {
		if (slice == 1)
			g_list.clear();
	});
}

void a_visit_that_throws_does_so_after_the_source_only()
{
	fill(10);
	int visits = 0;
	JobWalk walk(jobs_after, [&](const kube_listed_job &) {
		if (++visits == 3)
			throw std::bad_alloc();
	});
	bool is_thrown = false;
	try {
		walk.go_on();
	} catch (const std::bad_alloc &) {
		is_thrown = true;
	}
	CHECK(is_thrown);
	CHECK_EQUAL(visits, 3);
}

} // namespace

int main()
{
	return slurmkube::check::run_tests("plugin job walk",
		{
			TEST(each_job_is_met_and_a_slice_is_bounded),
			TEST(what_comes_between_two_slices_is_met),
			TEST(nothing_is_passed_over_when_jobs_before_it_are_forgotten),
			TEST(nothing_is_passed_over_when_the_last_one_met_is_forgotten),
			TEST(a_list_that_shrinks_below_the_place_ends_the_walk),
			TEST(a_visit_that_throws_does_so_after_the_source_only),
		});
}
