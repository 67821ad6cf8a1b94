/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/hybrid_settings.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::slurm;

namespace
{

HybridSettings good()
{
	HybridSettings s;
	s.contains = s.has_epilog = s.has_prolog = true;
	s.task_plugins = "task/cgroup,task/affinity";
	s.proctrack = "proctrack/cgroup";
	s.cgroup = {{"ConstrainCores", "yes"}, {"ConstrainRAMSpace", "yes"},
		{"ConstrainDevices", "yes"}};
	return s;
}

void good_settings_have_no_trouble()
{
	CHECK(hybrid_troubles(good(), epilog_needs(30, true)).empty());
	HybridSettings s = good();
	s.names_by_sluid = true;
	s.cgroup["CgroupJobIdPaths"] = "yes";
	s.epilog_seconds = 91;
	CHECK(hybrid_troubles(s, epilog_needs(30, false)).empty());
}

void each_mistake_is_told_with_a_remedy()
{
	const struct {
		void (*spoil)(HybridSettings &);
		const char *text;
	} rows[] = {
		{[](HybridSettings &s) { s.contains = false; }, "PrologFlags lacks Contain"},
		{[](HybridSettings &s) { s.task_plugins = "task/none"; }, "lacks task/cgroup"},
		{[](HybridSettings &s) { s.proctrack = "proctrack/linuxproc"; },
			"is not proctrack/cgroup"},
		{[](HybridSettings &s) { s.has_epilog = false; }, "no Epilog is set"},
		{[](HybridSettings &s) { s.has_prolog = false; }, "no Prolog is set"},
		{[](HybridSettings &s) { s.is_serial = true; }, "PrologFlags has Serial"},
		{[](HybridSettings &s) { s.epilog_seconds = 90; }, "PrologEpilogTimeout=90"},
		{[](HybridSettings &s) {
			 s.epilog_seconds = 90;
			 s.has_epilog_timeout = true;
		 },
			"EpilogTimeout (or PrologEpilogTimeout)=90"},
		{[](HybridSettings &s) { s.complete_seconds = 1; }, "CompleteWait=1"},
		{[](HybridSettings &s) { s.cgroup.erase("ConstrainCores"); },
			"does not set ConstrainCores"},
		{[](HybridSettings &s) { s.cgroup["ConstrainDevices"] = "no"; },
			"does not set ConstrainDevices"},
		{[](HybridSettings &s) { s.cgroup.clear(); },
			"does not set ConstrainCores, ConstrainRAMSpace, ConstrainDevices"},
		{[](HybridSettings &s) { s.names_by_sluid = true; }, "CgroupJobIdPaths"},
	};
	for (const auto &row : rows) {
		HybridSettings s = good();
		row.spoil(s);
		const auto troubles = hybrid_troubles(s, epilog_needs(30, false));
		REQUIRE(troubles.size() == 1);
		CHECK(troubles.front().text.find(row.text) != std::string::npos);
		CHECK(!troubles.front().remedy.empty());
	}
}

/* Their Epilog waits for 105 s, whatever the grace period of others is. */
void pods_within_native_jobs_need_an_epilog_of_their_own()
{
	CHECK_EQUAL(epilog_needs(30, false), 90);
	CHECK_EQUAL(epilog_needs(30, true), 109);
	CHECK_EQUAL(epilog_needs(60, true), 120);
	HybridSettings s = good();
	s.epilog_seconds = 109;
	CHECK(hybrid_troubles(s, epilog_needs(30, false)).empty());
	const auto troubles = hybrid_troubles(s, epilog_needs(30, true));
	REQUIRE(troubles.size() == 1);
	CHECK(troubles.front().remedy.find("set it above 109") != std::string::npos);
	s.epilog_seconds = 110;
	CHECK(hybrid_troubles(s, epilog_needs(30, true)).empty());
}

} // namespace

int main()
{
	return check::run_tests("hybrid_settings",
		{
			TEST(good_settings_have_no_trouble),
			TEST(each_mistake_is_told_with_a_remedy),
			TEST(pods_within_native_jobs_need_an_epilog_of_their_own),
		});
}
