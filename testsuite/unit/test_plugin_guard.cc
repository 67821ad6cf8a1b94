/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/marker.h"
#include "src/plugins/job_submit/kube/guard.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::plugin;

namespace
{

constexpr std::uint32_t k_slurm = 64030, k_owner = 1000;
const Rules k_rules = {k_slurm, {"kube", "gpu"}};

core::Marker marker()
{
	return {"main", "ns", "pod", "Pod", "uid-1", 2, k_owner, 100};
}

std::string text()
{
	return codec::marker_to_text(marker());
}

bool passes(const Submission &submission)
{
	return judge(k_rules, submission).refusal.empty();
}

bool passes(const Change &change)
{
	return judge(k_rules, change).empty();
}

void native_jobs_pass()
{
	CHECK(passes(Submission{.caller = k_owner, .partition = "batch"}));
	CHECK(passes(Submission{.caller = k_owner, .partition = ""}));
	CHECK(passes(Submission{.caller = 0, .admin_comment = "a note about slurm-kube", .partition = "batch", .batch = true, .array = true}));
	CHECK(!judge(k_rules, Submission{.caller = 0, .partition = "batch"}).marker);
}

void external_partitions_take_external_jobs_only()
{
	for (const char *partition : {"kube", "gpu", "batch,kube", "kube,batch", " kube "}) {
		CHECK(!passes(Submission{.caller = k_owner, .partition = partition}));
		CHECK(!passes(Submission{.caller = 0, .partition = partition}));
	}
	CHECK(passes(Submission{.caller = k_owner, .partition = "kubernetes"}));
	CHECK(judge(k_rules, Submission{.partition = "batch,gpu"}).refusal.find("partition gpu") != std::string::npos);
}

void only_root_and_slurm_user_give_markers()
{
	std::string good = text();
	CHECK(passes(Submission{.caller = 0, .admin_comment = good, .partition = "kube"}));
	CHECK(passes(Submission{.caller = k_slurm, .admin_comment = good, .partition = "kube"}));
	CHECK(!passes(Submission{.caller = k_owner, .admin_comment = good, .partition = "kube"}));
	CHECK(!passes(Submission{.caller = k_owner, .admin_comment = good, .partition = "batch"}));
	auto judgement = judge(k_rules, Submission{.caller = 0, .admin_comment = good, .partition = "kube"});
	REQUIRE(judgement.marker.has_value());
	CHECK(*judgement.marker == marker());
}

void broken_markers_are_refused_from_everybody()
{
	for (const char *broken : {"{\"slurm-kube\":1}", "{\"slurm-kube\":", "{\"slurm-kube\":2,\"cluster\":\"c\"}"})
		for (std::uint32_t caller : {0U, k_slurm, k_owner})
			CHECK(!passes(Submission{.caller = caller, .admin_comment = broken, .partition = "kube"}));
}

void an_external_job_has_no_script_array_or_components()
{
	std::string good = text();
	CHECK(!passes(Submission{.admin_comment = good, .batch = true}));
	CHECK(!passes(Submission{.admin_comment = good, .array = true}));
	CHECK(!passes(Submission{.admin_comment = good, .het = true}));
	CHECK(!passes(Submission{.admin_comment = good, .own_id = true}));
}

void the_owner_may_do_what_is_harmless()
{
	std::string good = text();
	CHECK(passes(Change{.caller = k_owner, .admin_comment = good, .partition = "kube"}));
	CHECK(passes(Change{.caller = k_owner, .admin_comment = good, .partition = "kube", .new_partition = "gpu"}));
	CHECK(passes(Change{.caller = k_owner, .admin_comment = good, .partition = "batch", .new_partition = "kube"}));
}

void the_owner_cannot_resize_or_move_away()
{
	std::string good = text();
	CHECK(!passes(Change{.caller = k_owner, .admin_comment = good, .partition = "kube", .resizes = true}));
	CHECK(!passes(Change{.caller = k_owner, .admin_comment = good, .partition = "kube", .new_partition = "batch"}));
	CHECK(passes(Change{.caller = 0, .admin_comment = good, .partition = "kube", .new_partition = "batch", .resizes = true}));
	CHECK(passes(Change{.caller = k_owner, .admin_comment = "", .partition = "batch", .resizes = true}));
}

void a_native_job_cannot_move_in()
{
	CHECK(!passes(Change{.caller = k_owner, .partition = "batch", .new_partition = "kube"}));
	CHECK(!passes(Change{.caller = 0, .partition = "batch", .new_partition = "batch,gpu"}));
	CHECK(passes(Change{.caller = k_owner, .partition = "batch", .new_partition = "long"}));
}

void a_marker_never_changes_hands()
{
	std::string good = text();
	core::Marker other = marker();
	other.attempt++;
	std::string wrong = codec::marker_to_text(other);
	CHECK(passes(Change{.caller = 0, .admin_comment = good, .new_admin_comment = good}));
	CHECK(passes(Change{.caller = 0, .admin_comment = good, .new_admin_comment = ""}));
	CHECK(passes(Change{.caller = 0, .admin_comment = "note", .new_admin_comment = "other note"}));
	CHECK(!passes(Change{.caller = 0, .admin_comment = good, .new_admin_comment = wrong}));
	CHECK(!passes(Change{.caller = 0, .admin_comment = "note", .new_admin_comment = good}));
	CHECK(!passes(Change{.caller = 0, .admin_comment = good, .new_admin_comment = "{\"slurm-kube\":1}"}));
	CHECK(!passes(Change{.caller = k_owner, .admin_comment = good, .new_admin_comment = ""}));
	CHECK(!passes(Change{.caller = k_owner, .admin_comment = good, .new_admin_comment = good}));
	CHECK(!passes(Change{.caller = k_owner, .admin_comment = "", .new_admin_comment = good}));
}

void identity_is_cluster_uid_and_attempt()
{
	core::Marker a = marker(), b = marker();
	b.name = "renamed";
	b.user_id = 7;
	CHECK(same_identity(a, b));
	b.attempt++;
	CHECK(!same_identity(a, b));
	b = a;
	b.cluster = "other";
	CHECK(!same_identity(a, b));
	CHECK_EQUAL(describe(a), "ns/pod (uid uid-1, attempt 2)");
}

} // namespace

int main()
{
	return check::run_tests("plugin guard", {
							TEST(native_jobs_pass),
							TEST(external_partitions_take_external_jobs_only),
							TEST(only_root_and_slurm_user_give_markers),
							TEST(broken_markers_are_refused_from_everybody),
							TEST(an_external_job_has_no_script_array_or_components),
							TEST(the_owner_may_do_what_is_harmless),
							TEST(the_owner_cannot_resize_or_move_away),
							TEST(a_native_job_cannot_move_in),
							TEST(a_marker_never_changes_hands),
							TEST(identity_is_cluster_uid_and_attempt),
						});
}
