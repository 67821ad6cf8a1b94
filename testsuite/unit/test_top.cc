/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of skube top: its lines, rates, and its width. */
#include "src/codec/json.h"
#include "src/skube/top.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::skube;

namespace
{

codec::Json reply(std::int64_t submitted, std::int64_t bound, const std::string &more = {})
{
	auto value = codec::parse_json(
		R"({"ok":true,"version":"0.1.0","ready":true,"link":true,"uptime_seconds":65,)"
		R"("pods":[{"state":"waiting","reason":"SlurmPending","count":12},)"
		R"({"state":"running","reason":"","count":3}],)"
		R"("jobs":[{"state":"pending","reason":"Resources","count":12},)"
		R"({"state":"failed","reason":"","count":1}],)"
		R"("nodes":{"in_service":4,"drained":1,"down":2,"not_ready":3},)"
		R"("stage_latencies":{"watch_to_submit":{"count":2,"p50_ms":0.4,"p99_ms":2,)"
		R"("max_ms":12.34}},)" +
			more + R"("counters":{"submitted":)" + std::to_string(submitted) +
			R"(,"bound":)" + std::to_string(bound) + "}}",
		65536);
	CHECK(value.ok());
	return std::move(value).value();
}

bool has(const std::string &text, const std::string &part)
{
	return text.find(part) != std::string::npos;
}

const char k_oldest[] = R"("oldest":{"namespace":"lab","name":"p\u001b[2J","created":1000,)"
			R"("waiting_for":"Slurm job 7 waits: Resources"},)";

void the_page_has_what_the_agent_has()
{
	const codec::Json now = reply(120, 100, k_oldest);
	const std::string page = top_page({.now = now.get(), .clock = 1252}, {});
	for (const char *line :
		{"slurmkubed 0.1.0 is up for 1:05, ready, connected with slurmctld\n",
			"\nnodes: 4 in service, 1 drained, 2 DOWN, 3 not Ready\n",
			"\noldest waiting pod: lab/p?[2J for 4m12s: Slurm job 7 waits: Resources\n",
			"\nwaiting     12  SlurmPending\n", "\nrunning      3  -\n",
			"\nPENDING     12  Resources\n", "\nFAILED       1  -\n",
			"\nsubmitted          -    120\n", "\nwatch_to_submit      2     0.4"})
		CHECK(has(page, line));
	const codec::Json idle = reply(0, 0);
	CHECK(has(top_page({.now = idle.get()}, {}), "\nno pod waits\n"));
}

void rates_are_of_the_time_between()
{
	const codec::Json before = reply(100, 100), now = reply(120, 90);
	const std::string page =
		top_page({.now = now.get(), .before = before.get(), .seconds = 4}, {});
	CHECK(has(page, "\nsubmitted        5.0    120\n"));
	CHECK(has(page, "\nbound              -     90\n")); /* another agent since */
	CHECK(has(top_page({.now = now.get(), .before = before.get()}, {}),
		"\nsubmitted          -    120\n"));
}

/* Without the sequences that set colours. */
std::size_t columns_of(const std::string &line)
{
	std::size_t columns = 0;
	for (std::size_t i = 0; i < line.size(); i++) {
		if (line[i] == '\033')
			i = line.find('m', i);
		else
			columns++;
	}
	return columns;
}

void no_line_is_wider_than_the_terminal()
{
	const codec::Json now = reply(120, 100, k_oldest);
	for (const std::size_t width : {1U, 10U, 24U, 40U, 80U, 200U}) {
		const std::string page =
			top_page({.now = now.get()}, {.width = width, .has_color = true});
		for (std::size_t at = 0; at < page.size();) {
			const std::size_t end = page.find('\n', at);
			const std::string line = page.substr(at, end - at);
			CHECK(columns_of(line) <= width);
			/* a colour ends in its line */
			CHECK(!has(line, "\033[") || line.rfind("\033[0m") == line.rfind("\033["));
			at = end + 1;
		}
	}
}

void colours_are_for_terminals()
{
	const codec::Json now = reply(1, 1);
	CHECK(has(top_page({.now = now.get()}, {.has_color = true}), "\033[31mFAILED"));
	CHECK(!has(top_page({.now = now.get()}, {}), "\033"));
}

} // namespace

int main()
{
	return check::run_tests("top",
		{TEST(the_page_has_what_the_agent_has), TEST(rates_are_of_the_time_between),
			TEST(no_line_is_wider_than_the_terminal), TEST(colours_are_for_terminals)});
}
