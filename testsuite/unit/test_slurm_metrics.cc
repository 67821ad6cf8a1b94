/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's own metrics: numbers in texts of Slurm, limits of labels, and when slurmctld is asked. */
#include "src/agent/slurm/figures_text.h"
#include "src/agent/slurm_metrics.h"
#include "testsuite/unit/check.h"

#include <utility>
#include <vector>

using namespace slurmkube;
using namespace slurmkube::slurm::figures;

namespace
{

using agent::SlurmMetrics;

constexpr std::int64_t k_second = 1'000'000;

void tasks_of_arrays_are_counted()
{
	const std::pair<const char *, Figure> rows[] = {{"", 1}, {"7", 1}, {"0-9", 10},
		{"0-9%4", 10}, {"0-99:3%7", 34}, {"1,3-5,9", 5}, {"5-4", 1}, {"0-9:0", 1}, {"x", 1},
		{"0-3999999", 4'000'000}};
	for (const auto &[text, tasks] : rows)
		CHECK_EQUAL(std::pair(text, tasks_in(text)), std::pair(text, tasks));
}

void gpus_of_gres_are_counted()
{
	const std::pair<const char *, Figure> rows[] = {{"", 0}, {"gpu:2", 2}, {"gpu", 0},
		{"gpu:a100:2(S:0-1)", 2}, {"gpu:a100:2(S:0,1),nic:4,gpu:1", 3},
		{"gpu:(null):3(IDX:0,2-3)", 3}, {"gpu:(null):0(IDX:N/A)", 0}, {"gpus:5", 0},
		{"gpu:2(S:0", 2}};
	for (const auto &[text, gpus] : rows)
		CHECK_EQUAL(std::pair(text, gpus_in(text)), std::pair(text, gpus));
}

void memory_is_in_bytes()
{
	const Figure mib = Figure{1024} * 1024;
	CHECK_EQUAL(memory_in("cpu=4,mem=70000M,node=1"), 70000 * mib);
	CHECK_EQUAL(memory_in("mem=6000"), 6000 * mib);
	CHECK_EQUAL(memory_in("cpu=4,mem=62.50G"), 64000 * mib);
	CHECK_EQUAL(memory_in("mem=5T,cpu=1"), 5 * 1024 * 1024 * mib);
	CHECK_EQUAL(memory_in("cpu=4,billing=4"), 0U);
	CHECK_EQUAL(memory_in(""), 0U);
}

Jobs jobs_of_users(std::size_t count)
{
	Jobs jobs;
	for (std::size_t i = 0; i < count; i++) {
		jobs.users["user" + std::to_string(i)].jobs = i;
		jobs.all.jobs += i;
	}
	jobs.accounts["a\"b"].jobs = jobs.all.jobs;
	return jobs;
}

bool has(const std::string &text, const std::string &line)
{
	return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

void users_beyond_the_limit_are_left_out()
{
	Limits limits;
	limits.users = 2;
	const std::string text = owners_text(jobs_of_users(5), limits);
	CHECK(has(text, "slurm_user_jobs{username=\"user4\"} 4"));
	CHECK(has(text, "slurm_user_jobs{username=\"user3\"} 3"));
	CHECK(text.find("\"user2\"") == std::string::npos);
	CHECK(has(text, "slurm_account_jobs{account=\"a\\\"b\"} 10"));
	CHECK(has(text, "slurm_kube_label_values_left_out{label=\"username\"} 3"));
	CHECK(has(text, "slurm_kube_label_values_left_out{label=\"account\"} 0"));
}

void nodes_beyond_the_limit_are_left_out_of_the_families_by_node()
{
	Limits limits;
	limits.nodes = 1;
	Nodes nodes(3); /* the second is a gap */
	nodes[0].name = "a";
	nodes[2].name = "b";
	const std::string text = nodes_text(nodes, limits);
	CHECK(has(text, "slurm_node_cpus{node=\"a\"} 0"));
	CHECK(text.find("\"b\"") == std::string::npos);
	CHECK(has(text, "slurm_nodes 2"));
	CHECK(has(text, "slurm_kube_label_values_left_out{label=\"node\"} 1"));
}

void partitions_beyond_the_limit_are_left_out()
{
	Limits limits;
	limits.partitions = 1;
	/* the member 9 is not in the answer about nodes */
	const Partitions partitions = {{.name = "p", .nodes = 2, .cpus = 8, .members = {0, 9}},
		{.name = "q", .members = {}}};
	Nodes nodes(1);
	nodes[0] = {.name = "a", .state = 0, .figures = {.cpus_alloc = 70000}};
	const std::string text = partitions_text(partitions, nodes, {}, limits);
	CHECK(has(text, "slurm_partitions 2"));
	CHECK(has(text, "slurm_partition_nodes{partition=\"p\"} 2"));
	CHECK(has(text, "slurm_partition_nodes_cpus_alloc{partition=\"p\"} 70000"));
	CHECK(text.find("\"q\"") == std::string::npos);
	CHECK(has(text, "slurm_kube_label_values_left_out{label=\"partition\"} 1"));
}

/* slurmctld answers when the test says so. */
struct Stage {
	std::int64_t now = 1000 * k_second;
	std::vector<Kinds> asked;
	SlurmMetrics::Done done;
	SlurmMetrics metrics{[this](const Answers &before, const Kinds &due, auto then) {
				     last = before;
				     asked.push_back(due);
				     done = std::move(then);
			     },
		[this] { return now; }};
	Answers last;

	void answer(Page page, const std::string &text, Kinds kinds)
	{
		Answers answers = last;
		answers.pages[page] = std::make_shared<const std::string>(text);
		answers.answered = std::move(kinds);
		std::exchange(done, nullptr)(std::move(answers));
	}
};

void a_scrape_shows_the_last_answer_and_its_age()
{
	Stage stage;
	CHECK(stage.asked.empty());
	CHECK(stage.metrics.scrape(Page::jobs).find("request=") == std::string::npos);
	stage.answer(Page::jobs, "slurm_jobs 7\n", {Kind::jobs});
	stage.now += 12 * k_second;
	const std::string text = stage.metrics.scrape(Page::jobs);
	CHECK(has(text, "slurm_jobs 7"));
	CHECK(has(text, "slurm_kube_slurm_answer_age_seconds{request=\"jobs\"} 12"));
}

void slurmctld_is_asked_once_per_interval_and_only_after_a_scrape()
{
	Stage stage;
	(void)stage.metrics.scrape(Page::jobs);
	for (int i = 0; i < 100; i++)
		(void)stage.metrics.scrape(Page::owners); /* of the same answer */
	CHECK_EQUAL(stage.asked.size(), 1U);
	stage.answer(Page::jobs, "", {Kind::jobs});
	CHECK_EQUAL(stage.asked.size(), 1U);
	stage.now += SlurmMetrics::k_interval_us - 1;
	(void)stage.metrics.scrape(Page::jobs);
	CHECK_EQUAL(stage.asked.size(), 1U);
	stage.now += 1;
	CHECK_EQUAL(stage.asked.size(), 1U);
	(void)stage.metrics.scrape(Page::jobs);
	CHECK_EQUAL(stage.asked.size(), 2U);
}

void each_page_asks_for_what_it_shows()
{
	Stage stage;
	(void)stage.metrics.scrape(Page::scheduler);
	(void)stage.metrics.scrape(Page::nodes);
	(void)stage.metrics.scrape(Page::partitions);
	REQUIRE(stage.asked.size() == 1);
	CHECK(stage.asked[0] == Kinds{Kind::scheduler});
	stage.answer(Page::scheduler, "", {Kind::scheduler});
	REQUIRE(stage.asked.size() == 2);
	CHECK((stage.asked[1] == Kinds{Kind::jobs, Kind::nodes, Kind::partitions}));
}

void a_failed_request_is_repeated_after_the_interval_only()
{
	Stage stage;
	(void)stage.metrics.scrape(Page::nodes);
	stage.answer(Page::jobs, "", {});
	(void)stage.metrics.scrape(Page::nodes);
	CHECK_EQUAL(stage.asked.size(), 1U);
	stage.now += SlurmMetrics::k_interval_us;
	CHECK(stage.metrics.scrape(Page::nodes).find("request=") == std::string::npos);
	CHECK_EQUAL(stage.asked.size(), 2U);
}

void the_paths_are_those_of_slurmctld()
{
	for (const char *path : {"/metrics/jobs", "/metrics/jobs-users-accts", "/metrics/nodes",
		     "/metrics/partitions", "/metrics/scheduler"})
		CHECK(SlurmMetrics::page_at(path));
	for (const char *path : {"/metrics", "/metrics/", "/metrics/jobs/", "/jobs", ""})
		CHECK(!SlurmMetrics::page_at(path));
}

} // namespace

int main()
{
	return check::run_tests("slurm_metrics",
		{
			TEST(tasks_of_arrays_are_counted),
			TEST(gpus_of_gres_are_counted),
			TEST(memory_is_in_bytes),
			TEST(users_beyond_the_limit_are_left_out),
			TEST(nodes_beyond_the_limit_are_left_out_of_the_families_by_node),
			TEST(partitions_beyond_the_limit_are_left_out),
			TEST(a_scrape_shows_the_last_answer_and_its_age),
			TEST(slurmctld_is_asked_once_per_interval_and_only_after_a_scrape),
			TEST(each_page_asks_for_what_it_shows),
			TEST(a_failed_request_is_repeated_after_the_interval_only),
			TEST(the_paths_are_those_of_slurmctld),
		});
}
