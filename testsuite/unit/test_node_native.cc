/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prolog and Epilog of slurmkube-node for native jobs with pods. */
#include "src/node/native_scripts.h"
#include "src/node/settings.h"
#include "testsuite/unit/check.h"
#include "testsuite/unit/native_machine.h"

#include <map>

using namespace slurmkube;
using namespace slurmkube::check;
using namespace slurmkube::node;

namespace
{

constexpr EndLimits k_short_limits{std::chrono::milliseconds(100), std::chrono::seconds(5)};

void a_mark_fits_one_life_of_one_user()
{
	const core::NativeMark mark{{7}, 1000, 1, 5000, "main"};
	const auto opened = [](std::uint32_t user, std::uint32_t restarts, std::int64_t start,
				    std::int64_t written) {
		return OpenedJob{{{7}, user, restarts, start, "main"}, written, ""};
	};
	CHECK(misfit(mark, opened(1000, 1, 5000, 0)).empty());
	CHECK(!misfit(mark, std::nullopt).empty());
	CHECK(!misfit(mark, OpenedJob{{{7}, 1000, 1, 5000, "other"}, 5000, ""}).empty());
	CHECK(!misfit(mark, opened(1001, 1, 5000, 5000)).empty());
	CHECK(!misfit(mark, opened(1000, 2, 5000, 5000)).empty());
	CHECK(!misfit(mark, opened(1000, 0, 5000, 5000)).empty());
	CHECK(!misfit(mark, opened(1000, 1, 5001, 5000)).empty());
	/* Slurm 22.05 does not say the start to Prolog */
	CHECK(misfit(mark, opened(1000, 1, 0, 5000)).empty());
	CHECK(misfit(mark, opened(1000, 1, 0, 4941)).empty());
	CHECK(misfit(mark, opened(1000, 1, 0, 5599)).empty());
	CHECK(!misfit(mark, opened(1000, 1, 0, 4939)).empty());
	CHECK(!misfit(mark, opened(1000, 1, 0, 5601)).empty());
}

using Variables = std::map<std::string, std::string>;

Variable reader_of(const Variables &variables)
{
	return [&variables](const char *name) -> const char * {
		const auto found = variables.find(name);
		return found == variables.end() ? nullptr : found->second.c_str();
	};
}

void a_prolog_says_whose_job_it_is()
{
	Variables all = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_UID", "1000"},
		{"SLURM_JOB_RESTART_COUNT", "2"}, {"SLURM_JOB_START_TIME", "5000"},
		{"SLURM_CLUSTER_NAME", "main"}};
	CHECK(life_of_prolog(reader_of(all)) == (core::NativeMark{{7}, 1000, 2, 5000, "main"}));
	for (const char *name : {"SLURM_JOB_ID", "SLURM_JOB_UID", "SLURM_JOB_RESTART_COUNT"}) {
		Variables some = all;
		some.erase(name);
		CHECK(!life_of_prolog(reader_of(some)));
		some[name] = "x";
		CHECK(!life_of_prolog(reader_of(some)));
	}
	Variables nameless = all;
	nameless.erase("SLURM_CLUSTER_NAME");
	CHECK(!life_of_prolog(reader_of(nameless)));
	all["SLURM_JOB_START_TIME"] = "0";
	CHECK(!life_of_prolog(reader_of(all)));
	all.erase("SLURM_JOB_START_TIME");
	CHECK(life_of_prolog(reader_of(all)) == (core::NativeMark{{7}, 1000, 2, 0, "main"}));
}

void prolog_opens_and_epilog_closes()
{
	const NativeMachine machine;
	const NativeJobs jobs = machine.jobs();
	const Variables variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_UID", "1000"},
		{"SLURM_JOB_RESTART_COUNT", "0"}, {"SLURM_CLUSTER_NAME", "main"}};
	const Variable variable = reader_of(variables);
	CHECK(settle_native_pods(jobs, machine.cgroups(), variable, false).ok());
	CHECK(!jobs.is_used() && !jobs.opened(7));
	CHECK(settle_native_pods(jobs, machine.cgroups(), variable, true).ok());
	REQUIRE(jobs.opened(7).has_value());
	CHECK(misfit(life_of_job(), jobs.opened(7)).empty());
	/* --wait by hand */
	CHECK(end_native_pods(jobs, machine.cgroups(), 7, false).ok());
	CHECK(jobs.opened(7).has_value());
	CHECK(end_native_pods(jobs, machine.cgroups(), 7, true).ok());
	CHECK(!jobs.opened(7));
}

/* A full disk, or a file where the directory should be. */
void a_prolog_that_cannot_write_lets_the_job_start()
{
	const NativeMachine machine;
	const NativeJobs jobs = machine.jobs();
	machine.write("state/native", "in the way");
	const Variables variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_UID", "1000"},
		{"SLURM_JOB_RESTART_COUNT", "0"}, {"SLURM_CLUSTER_NAME", "main"}};
	CHECK(settle_native_pods(jobs, machine.cgroups(), reader_of(variables), true).ok());
	CHECK(!jobs.opened(7));
	CHECK(end_native_pods(jobs, machine.cgroups(), 7, true).ok());
}

/* The agent may be away. The files of this machine do not lose a process that has ended, so the
 * limit is reached. */
void an_epilog_ends_containers_itself()
{
	const NativeMachine machine;
	const NativeJobs jobs = machine.jobs();
	REQUIRE(jobs.open(life_of_job()).ok());
	const Records records = *Records::open(jobs.directory());
	REQUIRE(records.keep_container(7, "c1", "/kubepods/podu1/c1", true).ok());
	REQUIRE(records.keep_container(8, "c2", "/kubepods/podu1/c2", true).ok());
	Process process;
	machine.write(
		"cg/cpuset/kubepods/podu1/c1/cgroup.procs", std::to_string(process.pid()) + "\n");
	machine.write("cg/cpuset/kubepods/podu1/c2/cgroup.procs", "1\n");
	const EndLimits limits{std::chrono::milliseconds(50), std::chrono::milliseconds(300)};
	const Result<Ok> ended = end_native_pods(jobs, machine.cgroups(), 7, true, limits);
	CHECK(!ended.ok());
	CHECK(process.has_ended());
	CHECK(!jobs.opened(7));
	machine.remove("cg/cpuset/kubepods/podu1/c1");
	CHECK(end_native_pods(jobs, machine.cgroups(), 7, true, k_short_limits).ok());
	CHECK_EQUAL(records.containers_of(7).size(), 0U);
	CHECK_EQUAL(records.containers_of(8).size(), 1U);
}

/* By hand, or in an epilog without Slurm's variables, which would otherwise end too early. */
void containers_of_a_job_that_may_live_are_only_waited_for()
{
	const NativeMachine machine;
	const NativeJobs jobs = machine.jobs();
	REQUIRE(jobs.open(life_of_job()).ok());
	const Records records = *Records::open(jobs.directory());
	REQUIRE(records.keep_container(7, "c1", "/kubepods/podu1/c1", true).ok());
	REQUIRE(records.keep_container(7, "c2", "/kubepods/podu1/c2", true).ok());
	const Process process;
	const std::string file = "cg/cpuset/kubepods/podu1/c1/cgroup.procs";
	machine.write(file, std::to_string(process.pid()) + "\n");
	const EndLimits limits{std::chrono::milliseconds(50), std::chrono::milliseconds(200)};
	const Result<Ok> ended = end_native_pods(jobs, machine.cgroups(), 7, false, limits);
	REQUIRE(!ended.ok());
	CHECK(ended.error().what.find("SLURM_SCRIPT_CONTEXT") != std::string::npos);
	CHECK(::waitpid(process.pid(), nullptr, WNOHANG) == 0);
	machine.write(file, "");
	CHECK(end_native_pods(jobs, machine.cgroups(), 7, false, limits).ok());
	CHECK(jobs.opened(7).has_value());
	CHECK_EQUAL(records.containers_of(7).size(), 2U);
}

void a_prolog_waits_for_containers_of_jobs_that_have_ended()
{
	const NativeMachine machine;
	const NativeJobs jobs = machine.jobs();
	REQUIRE(jobs.open(life_of_job()).ok());
	const Records records = *Records::open(jobs.directory());
	REQUIRE(records.keep_container(7, "c1", "/kubepods/podu1/c1", true).ok());
	machine.write("cg/cpuset/kubepods/podu1/c1/cgroup.procs", "1\n");
	const Variables other = {{"SLURM_JOB_ID", "8"}, {"SLURM_JOB_UID", "1000"},
		{"SLURM_JOB_RESTART_COUNT", "0"}, {"SLURM_CLUSTER_NAME", "main"}};
	const Variables same = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_UID", "1000"},
		{"SLURM_JOB_RESTART_COUNT", "1"}, {"SLURM_CLUSTER_NAME", "main"}};
	const EndLimits limits{std::chrono::seconds(5), std::chrono::milliseconds(100)};
	const auto settles = [&](const Variables &variables) {
		return settle_native_pods(
			jobs, machine.cgroups(), reader_of(variables), true, limits)
			.ok();
	};
	CHECK(settles(other)); /* job 7 lives */
	CHECK(!settles(same)); /* a new life of this number */
	CHECK(!settles(other));
	machine.remove("cg/cpuset/kubepods/podu1/c1");
	CHECK(settles(same));
}

/* They run for every native job, whose node would be drained. */
void scripts_go_on_with_a_wrong_value_of_the_key()
{
	const char *text = "SystemCpus=0\nPodsInNativeJobs=true\n";
	CHECK(!parse_settings(text).ok());
	const Result<Settings> settings = parse_settings(text, Strictness::script);
	REQUIRE(settings.ok());
	CHECK(!settings->allows_native_pods() && !settings->ignored.empty());
	CHECK(!parse_settings("SystemCpus=x\n", Strictness::script).ok());
	CHECK(parse_settings("SystemCpus=0\nPodsInNativeJobs=yes\n", Strictness::script)
			->allows_native_pods());
}

} // namespace

int main()
{
	return check::run_tests("node native",
		{
			TEST(a_mark_fits_one_life_of_one_user),
			TEST(a_prolog_says_whose_job_it_is),
			TEST(prolog_opens_and_epilog_closes),
			TEST(a_prolog_that_cannot_write_lets_the_job_start),
			TEST(an_epilog_ends_containers_itself),
			TEST(containers_of_a_job_that_may_live_are_only_waited_for),
			TEST(a_prolog_waits_for_containers_of_jobs_that_have_ended),
			TEST(scripts_go_on_with_a_wrong_value_of_the_key),
		});
}
