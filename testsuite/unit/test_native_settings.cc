/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/native_jobs.h"
#include "testsuite/unit/check.h"

#include <slurm/slurm_errno.h>

using namespace slurmkube;
using namespace slurmkube::slurm;

namespace
{

NativeSettings good()
{
	NativeSettings s;
	s.counts_memory = true;
	s.partitions["shared"] = {};
	return s;
}

void a_job_is_suitable_only_where_its_processors_stay_its_own()
{
	CHECK_EQUAL(unsuitable_for_pods(good(), "shared"), "");
	const struct {
		void (*spoil)(NativeSettings &);
		const char *text;
	} rows[] = {
		{[](NativeSettings &s) { s.counts_memory = false; }, "does not count memory"},
		{[](NativeSettings &s) { s.runs_scripts_in_job = true; }, "RunInJob"},
		{[](NativeSettings &s) { s.may_suspend = true; }, "may suspend jobs"},
		{[](NativeSettings &s) { s.partitions.clear(); }, "partition shared is not known"},
		{[](NativeSettings &s) { s.partitions["shared"].may_suspend = true; },
			"may suspend jobs of partition shared"},
		{[](NativeSettings &s) { s.partitions["shared"].is_oversubscribed = true; },
			"OverSubscribe=FORCE"},
	};
	for (const auto &row : rows) {
		NativeSettings s = good();
		row.spoil(s);
		CHECK(unsuitable_for_pods(s, "shared").find(row.text) != std::string::npos);
	}
}

/* Bound pods are judged without them. */
void without_settings_a_job_takes_no_pods()
{
	const Result<NativeSettings> none = Error{Errc::again, "timed out"};
	CHECK_EQUAL(unsuitable_for_pods(none, "shared"),
		"the settings of Slurm cannot be read (timed out)");
}

/* The first task of an array can be forgotten before the others. */
void a_job_that_is_not_among_those_described_is_not_known()
{
	const auto job_at = [](std::size_t at) {
		core::NativeJob job;
		job.cpus = static_cast<std::uint32_t>(at) + 1;
		return job;
	};
	const NativeReply own = reply_about({9}, {8, 9, 10}, job_at);
	REQUIRE(own.job.has_value());
	CHECK_EQUAL(own.job->cpus, 2U);
	CHECK_EQUAL(own.job->described, 3U);
	const NativeReply lost = reply_about({7}, {8, 9, 10}, job_at);
	CHECK(!lost.job);
	CHECK_EQUAL(lost.described, 3U);
}

/* All others leave what is known of the job as it is. */
void one_error_only_says_that_there_is_no_such_job()
{
	const struct {
		int number;
		Errc code;
	} rows[] = {
		{ESLURM_INVALID_JOB_ID, Errc::not_found},
		{ESLURM_ALREADY_DONE, Errc::again},
		{ESLURM_INVALID_NODE_NAME, Errc::again},
		{ESLURM_ACCESS_DENIED, Errc::again},
		{SLURM_PROTOCOL_AUTHENTICATION_ERROR, Errc::again},
		{SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR, Errc::again},
		{SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, Errc::io},
		{SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR, Errc::io},
	};
	for (const auto &row : rows)
		CHECK(question_failed(row.number).code == row.code);
}

} // namespace

int main()
{
	return check::run_tests("native_settings",
		{TEST(a_job_is_suitable_only_where_its_processors_stay_its_own),
			TEST(without_settings_a_job_takes_no_pods),
			TEST(a_job_that_is_not_among_those_described_is_not_known),
			TEST(one_error_only_says_that_there_is_no_such_job)});
}
