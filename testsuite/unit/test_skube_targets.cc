/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commands of skube are about, the jobs and log lines of it, and the releases that work
 * together. */
#include "src/skube/job_hold.h"
#include "src/skube/logs.h"
#include "src/skube/releases.h"
#include "src/skube/target.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::skube;

namespace
{

codec::Json json(const std::string &text)
{
	auto value = codec::parse_json(text, 65536);
	CHECK(value.ok());
	return std::move(value).value();
}

Target target(const std::string &word, const std::string &name_space = {})
{
	auto parsed = parse_target(word, name_space);
	CHECK(parsed.ok());
	return std::move(parsed).value();
}

std::string request(const std::string &word, const std::string &name_space = {})
{
	const codec::Json out = codec::new_object();
	put_target(out.get(), target(word, name_space));
	return codec::to_text(out.get());
}

void a_word_is_an_object()
{
	CHECK(request("p") == R"({"pod":"p"})");
	CHECK(request("p", "lab") == R"({"pod":"lab/p"})");
	CHECK(request("lab/p") == R"({"pod":"lab/p"})");
	CHECK(request("pod/p") == R"({"pod":"p"})");
	CHECK(request("node/n1") == R"({"node":"n1"})");
	CHECK(request("job/12") == R"({"job":12})");
	CHECK(request("JobSet/t", "lab") ==
		R"({"owner":{"kind":"JobSet","namespace":"lab","name":"t"}})");
	CHECK(request("job/t") == R"({"owner":{"kind":"job","namespace":"default","name":"t"}})");
	for (const char *wrong : {"", "node/", "JobSet/"})
		CHECK(!parse_target(wrong, "").ok());
	for (const char *without : {"node/n1", "job/12", "lab/p"})
		CHECK(!parse_target(without, "lab").ok());
}

std::string held(const std::string &word, const std::string &data)
{
	const codec::Json reply = json("{\"data\":" + data + "}");
	const auto jobs = waiting_jobs(target(word), reply.get());
	if (!jobs)
		return jobs.error().what;
	std::string all;
	for (const std::int64_t job : *jobs)
		all += std::to_string(job) + ";";
	return all;
}

void only_waiting_jobs_are_held()
{
	CHECK(held("p", R"({"job":{"id":7,"state":"pending"}})") == "7;");
	CHECK(held("job/7", R"({"job":{"id":7,"state":"pending"},"pods":[{"job":8}]})") == "7;");
	/* the pods of a gang share a job; its components have one each */
	CHECK(held("JobSet/t",
		      R"({"pods":[{"job":9,"job_state":"pending"},{"job":9,"job_state":"pending"},)"
		      R"({"job":8,"job_state":"pending"},{"job":5,"job_state":"running"},)"
		      R"({"job":0}]})") == "8;9;");
	CHECK(held("p", "{}").find("pod default/p has no Slurm job yet") == 0);
	CHECK(held("p", R"({"job":{"id":7,"state":"running"}})") ==
		"job 7 of pod default/p does not wait any more: a pod that has started cannot be "
		"held");
	CHECK(held("JobSet/t", R"({"pods":[{"job":5,"job_state":"running"}]})")
			.find("job 5 of JobSet default/t") == 0);
}

void the_journal_is_asked_by_fields()
{
	const auto command = [](const LogRequest &wanted, std::int64_t job) {
		const std::string text = command_line(journal_command(wanted, job));
		CHECK(text.find("journalctl --no-pager --output short-iso ") == 0);
		return text.substr(41);
	};
	CHECK(command({.target = target("lab/p")}, 0) == "SLURMKUBE_POD=lab/p");
	CHECK(command({.target = target("p")}, 7) == "SLURMKUBE_POD=default/p + SLURMKUBE_JOB=7");
	CHECK(command({.target = target("job/7")}, 0) == "SLURMKUBE_JOB=7");
	CHECK(command({.target = target("node/n1")}, 0) == "SLURMKUBE_NODE=n1");
	CHECK(command({.target = target("JobSet/t", "lab")}, 0) == "SLURMKUBE_WORKLOAD=lab/t");
	CHECK(command({.target = target("job/7"), .since = "1 hour ago", .follow = true}, 0) ==
		"'--since=1 hour ago' --follow SLURMKUBE_JOB=7");
}

void lines_of_a_file_are_selected()
{
	const std::string text = "<6>bound pod=lab/p uid=u job=7 node=n1",
			  data = R"({"event":"bound","pod":"lab/p","job":"7","node":"n1"})";
	for (const std::string &line : {text, data}) {
		CHECK(is_about(line, target("lab/p"), 0));
		CHECK(is_about(line, target("lab/other"), 7)); /* its job */
		CHECK(is_about(line, target("job/7"), 0));
		CHECK(is_about(line, target("node/n1"), 0));
		for (const char *other : {"lab/p1", "lab", "job/77", "node/n", "JobSet/p"})
			CHECK(!is_about(line, target(other), 0));
	}
	CHECK(!is_about("a pod=lab/p1 pod=lab/p", target("lab/p1x"), 0));
	CHECK(is_about("a pod=lab/p1 pod=lab/p", target("lab/p"), 0));
	CHECK(is_about(R"({"workload":"lab/t"})", target("JobSet/t", "lab"), 0));
	CHECK(!is_about("{not json pod=lab/p", target("job/1"), 0));
}

void releases_are_compared()
{
	const codec::Json ping = json(R"({"version":")" SLURMKUBE_VERSION
				      R"(","plugin_version":"0.0.1","slurm_version":"22.05.8"})");
	const codec::Json kubernetes = json(R"({"serverVersion":{"gitVersion":"v1.33.0"}})");
	const codec::Json all = releases_of(ping.get(), kubernetes.get());
	CHECK(!are_one_release(all.get()));
	const std::string text = releases_text(all.get());
	for (const char *line : {"skube       " SLURMKUBE_VERSION "\n", "plugin      0.0.1\n",
		     "slurmctld   22.05.8\n", "kubernetes  v1.33.0\n"})
		CHECK(text.find(line) != std::string::npos);
	const codec::Json alone = releases_of(nullptr, nullptr);
	CHECK(are_one_release(alone.get()));
	CHECK(releases_text(alone.get()).find("plugin      not known\n") != std::string::npos);
	CHECK(codec::get(alone.get(), "plugin") == nullptr);
}

} // namespace

int main()
{
	return check::run_tests("skube_targets",
		{TEST(a_word_is_an_object), TEST(only_waiting_jobs_are_held),
			TEST(the_journal_is_asked_by_fields), TEST(lines_of_a_file_are_selected),
			TEST(releases_are_compared)});
}
