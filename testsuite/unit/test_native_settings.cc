/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/native_jobs.h"
#include "testsuite/unit/check.h"

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

} // namespace

int main()
{
	return check::run_tests("native_settings",
		{TEST(a_job_is_suitable_only_where_its_processors_stay_its_own)});
}
