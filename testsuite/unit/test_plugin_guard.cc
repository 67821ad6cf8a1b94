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
	return judge(k_rules, change).refusal.empty();
}

void native_jobs_pass()
{
	CHECK(passes(Submission{.caller = k_owner, .partition = "batch"}));
	CHECK(passes(Submission{.caller = k_owner, .partition = ""}));
	CHECK(passes(Submission{.caller = 0,
		.marker = {"a note about slurm-kube", {}},
		.partition = "batch",
		.batch = true,
		.array = true}));
	CHECK(!judge(k_rules, Submission{.caller = 0, .partition = "batch"}).marker);
}

void external_partitions_take_external_jobs_only()
{
	for (const char *partition : {"kube", "gpu", "batch,kube", "kube,batch", " kube "}) {
		CHECK(!passes(Submission{.caller = k_owner, .partition = partition}));
		CHECK(!passes(Submission{.caller = 0, .partition = partition}));
	}
	CHECK(passes(Submission{.caller = k_owner, .partition = "kubernetes"}));
	CHECK(judge(k_rules, Submission{.partition = "batch,gpu"}).refusal.find("partition gpu") !=
		std::string::npos);
}

void only_root_and_slurm_user_give_markers()
{
	std::string good = text();
	CHECK(passes(Submission{.caller = 0, .marker = {good, {}}, .partition = "kube"}));
	CHECK(passes(Submission{.caller = k_slurm, .marker = {good, {}}, .partition = "kube"}));
	CHECK(!passes(Submission{.caller = k_owner, .marker = {good, {}}, .partition = "kube"}));
	CHECK(!passes(Submission{.caller = k_owner, .marker = {good, {}}, .partition = "batch"}));
	auto judgement =
		judge(k_rules, Submission{.caller = 0, .marker = {good, {}}, .partition = "kube"});
	REQUIRE(judgement.marker.has_value());
	CHECK(*judgement.marker == marker());
}

void broken_markers_are_refused_from_everybody()
{
	for (const char *broken :
		{"{\"slurm-kube\":1}", "{\"slurm-kube\":", "{\"slurm-kube\":2,\"cluster\":\"c\"}"})
		for (std::uint32_t caller : {0U, k_slurm, k_owner})
			CHECK(!passes(Submission{
				.caller = caller, .marker = {broken, {}}, .partition = "kube"}));
}

void an_external_job_has_no_script_array_or_components()
{
	std::string good = text();
	CHECK(!passes(Submission{.marker = {good, {}}, .batch = true}));
	CHECK(!passes(Submission{.marker = {good, {}}, .array = true}));
	CHECK(!passes(Submission{.marker = {good, {}}, .het = true}));
	CHECK(!passes(Submission{.marker = {good, {}}, .own_id = true}));
}

void the_owner_may_do_what_is_harmless()
{
	std::string good = text();
	CHECK(passes(Change{.caller = k_owner, .marker = {good, {}}, .partition = "kube"}));
	CHECK(passes(Change{.caller = k_owner,
		.marker = {good, {}},
		.partition = "kube",
		.new_partition = "gpu"}));
	CHECK(passes(Change{.caller = k_owner,
		.marker = {good, {}},
		.partition = "batch",
		.new_partition = "kube"}));
	CHECK(passes(Change{.caller = k_owner,
		.marker = {good, {}},
		.partition = "kube",
		.new_partition = "more"}));
}

void the_owner_cannot_resize_or_move_away()
{
	std::string good = text();
	CHECK(!passes(Change{
		.caller = k_owner, .marker = {good, {}}, .partition = "kube", .resizes = true}));
	for (std::uint32_t caller : {0U, k_slurm, k_owner})
		CHECK(!passes(Change{.caller = caller,
			.marker = {good, {}},
			.partition = "kube",
			.new_partition = "batch",
			.native_partition = "batch"}));
	CHECK(passes(Change{.caller = 0,
		.marker = {good, {}},
		.partition = "kube",
		.new_partition = "gpu",
		.resizes = true}));
	CHECK(passes(Change{.caller = k_owner, .partition = "batch", .resizes = true}));
}

/* Neither the agent's request nor a site's script can place such a job on native nodes. */
void an_external_job_gets_no_native_nodes()
{
	std::string good = text();
	auto judgement = judge(k_rules,
		Submission{.caller = 0,
			.marker = {good, {}},
			.partition = "kube,batch",
			.native_partition = "batch"});
	CHECK(judgement.refusal.find("partition batch has nodes that are no Kubernetes nodes") !=
		std::string::npos);
	/* not in kube.conf, but it has external nodes only */
	CHECK(passes(Submission{.caller = 0, .marker = {good, {}}, .partition = "more"}));
	CHECK_EQUAL(other_partitions(k_rules, "kube, more,gpu,batch").size(), 2U);
	CHECK_EQUAL(other_partitions(k_rules, "kube, more,gpu,batch").front(), "more");
	CHECK_EQUAL(other_partitions(k_rules, "more,batch,more,more").size(), 2U);
	CHECK((unique_names("b,a,b,,a") == std::vector<std::string>{"b", "a"}));
}

/* lua ran before the plugin: its text is kept, and the job still belongs to its pod. */
/* Where Slurm has external jobs: a job is external or not before its nodes are chosen. */
void a_job_of_a_pod_gets_no_mixture_of_external_and_hybrid_nodes()
{
	std::string good = text();
	auto judgement = judge(k_rules,
		Submission{.caller = 0,
			.marker = {good, {}},
			.partition = "kube",
			.mixed_partitions = "kube"});
	CHECK(judgement.refusal.find(
		      "partition kube has external nodes and hybrid nodes; give "
		      "the hybrid nodes a partition of their own") != std::string::npos);
	CHECK(!passes(Change{.caller = 0,
		.marker = {good, {}},
		.partition = "kube",
		.new_partition = "gpu",
		.mixed_partitions = "kube,gpu"}));
	CHECK(passes(Submission{.caller = k_owner, .partition = "batch"}));
}

void a_marker_that_a_script_wrote_over_is_taken_from_its_copy()
{
	std::string good = text();
	auto judgement = judge(k_rules,
		Submission{.caller = 0, .marker = {"checked by site", good}, .partition = "kube"});
	REQUIRE(judgement.marker.has_value());
	CHECK(same_identity(*judgement.marker, marker()));
	CHECK_EQUAL(judgement.marker->note, "checked by site");
	CHECK(judge(k_rules,
		      Submission{.caller = 0,
			      .marker = {good + " power=3", good},
			      .partition = "kube"})
			.marker->note == "power=3");
	CHECK(judge(k_rules, Submission{.caller = 0, .marker = {{}, good}, .partition = "kube"})
			.marker.has_value());
	CHECK(!passes(Submission{.caller = k_owner, .marker = {{}, good}, .partition = "batch"}));
	CHECK(!passes(Submission{
		.caller = 0, .marker = {"{\"slurm-kube\":1}", {}}, .partition = "kube"}));
}

void a_copy_says_who_a_job_is_whatever_became_of_admin_comment()
{
	std::string good = text();
	core::Marker other = marker();
	other.attempt++;
	other.options = "x";
	const std::string wrong = codec::marker_to_text(other);
	for (std::string_view comment : {std::string_view(), std::string_view("x"),
		     std::string_view(wrong), std::string_view("{\"slurm-kube\":")}) {
		const auto is = marker_of({comment, good});
		REQUIRE(is.has_value());
		CHECK(same_identity(*is, marker()));
		CHECK(fault_of({comment, good}, *is).comment);
		CHECK(!fault_of({comment, good}, *is).copy);
		CHECK(same_identity(*marker_of({comment_of(*is), good}), marker()));
		CHECK(!fault_of({comment_of(*is), good}, *is).comment);
	}
	core::Marker updated = marker();
	updated.options = "new";
	CHECK_EQUAL(marker_of({codec::marker_to_text(updated), good})->options, "new");
	CHECK(fault_of({good, "10.0.0.1"}, marker()).copy); /* of a plugin that kept none */
	CHECK(!marker_of({"x", "10.0.0.1"}));
	CHECK(marker_of({"10 µs", good})->note == "10 ??s");
}

void what_root_writes_over_a_marker_is_noted_beside_it()
{
	std::string good = text();
	auto change = [&](std::string_view now, std::string_view text) {
		return judge(k_rules,
			Change{.caller = 0, .marker = {now, good}, .new_admin_comment = text});
	};
	auto written = change(good, "drained by ops");
	CHECK(written.refusal.empty());
	REQUIRE(written.admin_comment.has_value());
	const auto is = codec::marker_from_text(*written.admin_comment);
	REQUIRE(is.ok());
	CHECK(same_identity(*is, marker()));
	CHECK_EQUAL(is->note, "drained by ops");
	/* the agent's change of options keeps the note; an empty text removes it */
	CHECK_EQUAL(
		codec::marker_from_text(*change(*written.admin_comment, good).admin_comment)->note,
		"drained by ops");
	CHECK_EQUAL(
		codec::marker_from_text(*change(*written.admin_comment, "").admin_comment)->note,
		"");
	CHECK_EQUAL(codec::marker_from_text(
			    *change(*written.admin_comment, *written.admin_comment + " x")
				     .admin_comment)
			    ->note,
		"x");
}

void nothing_runs_after_us()
{
	for (const char *order :
		{"kube", "lua,kube", "all_partitions, lua, job_submit/kube", "lua", ""})
		CHECK_EQUAL(order_trouble(order), "");
	CHECK(order_trouble("kube,lua").find("since lua can move") != std::string::npos);
	CHECK(!order_trouble("a,kube,all_partitions,lua").empty());
}

/* Two Kubernetes clusters under one slurmctld. */
void jobs_of_clusters_do_not_mix()
{
	Rules rules = k_rules;
	const std::string of_main = text();
	Submission submission{.caller = 0, .marker = {of_main, {}}, .partition = "kube"};
	for (const auto &[clusters, refusal] : {
		     std::pair<std::vector<std::string>, std::string>{{"main", "other"}, ""},
		     {{"other"},
			     "slurm-kube: kube.conf names no Kubernetes cluster 'main': add a "
			     "line Cluster=main Socket=PATH and restart slurmctld, or correct "
			     "cluster in "
			     "slurmkubed.yaml"},
		     {{},
			     "slurm-kube: kube.conf names no Kubernetes cluster 'main': add a line "
			     "Cluster=main Socket=PATH and restart slurmctld, or correct cluster "
			     "in slurmkubed.yaml"}}) {
		rules.clusters = clusters;
		CHECK_EQUAL(judge(rules, submission).refusal, refusal);
	}
	const std::string refusal =
		"slurm-kube: partition gpu has nodes of another Kubernetes cluster: the job of pod "
		"ns/pod (uid uid-1, attempt 2) of cluster main cannot go there; give each cluster "
		"partitions of its own";
	submission.foreign_partition = "gpu";
	CHECK_EQUAL(judge(k_rules, submission).refusal, refusal);
	CHECK_EQUAL(judge(k_rules,
			    Change{.caller = k_owner,
				    .marker = {of_main, {}},
				    .partition = "kube",
				    .new_partition = "gpu",
				    .foreign_partition = "gpu"})
			    .refusal,
		refusal);
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
	CHECK(passes(Change{.caller = 0, .marker = {good, {}}, .new_admin_comment = good}));
	CHECK(passes(Change{.caller = 0, .marker = {good, {}}, .new_admin_comment = ""}));
	CHECK(passes(
		Change{.caller = 0, .marker = {"note", {}}, .new_admin_comment = "other note"}));
	CHECK(passes(Change{.caller = 0,
		.marker = {"note", {}},
		.new_admin_comment = "was slurm-kube {ticket 7}"}));
	CHECK(!passes(Change{.caller = 0, .marker = {good, {}}, .new_admin_comment = wrong}));
	CHECK(!passes(Change{.caller = 0, .marker = {"note", {}}, .new_admin_comment = good}));
	CHECK(!passes(Change{
		.caller = 0, .marker = {good, {}}, .new_admin_comment = "{\"slurm-kube\":1}"}));
	CHECK(!passes(Change{.caller = k_owner, .new_admin_comment = good}));
	CHECK(!passes(Change{.caller = k_owner,
		.marker = {good, {}},
		.new_admin_comment = wrong,
		.is_admin = true}));
	CHECK(!passes(Change{.caller = k_owner, .new_admin_comment = good, .is_admin = true}));
	/* An operator: the same job, but agents would take its end for their own. */
	core::Marker given_up = marker();
	given_up.given_up = true;
	const std::string told = codec::marker_to_text(given_up);
	CHECK(passes(Change{.caller = 0, .marker = {good, {}}, .new_admin_comment = told}));
	CHECK(!passes(Change{.caller = k_owner,
		.marker = {good, {}},
		.new_admin_comment = told,
		.is_admin = true}));
}

/* Slurm does not let job owners write this field. It comes from a script, and Slurm would refuse
 * the whole change because of it. */
void what_a_script_adds_to_an_owners_change_is_left_out()
{
	std::string good = text();
	core::Marker other = marker();
	other.attempt++;
	const std::string wrong = codec::marker_to_text(other);
	for (const std::string &comment : {std::string(), good, wrong, std::string("by lua")}) {
		auto judgement = judge(k_rules,
			Change{.caller = k_owner,
				.marker = {good, good},
				.new_admin_comment = comment});
		CHECK(judgement.refusal.empty());
		CHECK(judgement.keeps_comment);
		CHECK(!judgement.admin_comment.has_value());
	}
	CHECK(!judge(k_rules, Change{.caller = k_owner, .new_admin_comment = "by lua"})
			.keeps_comment);
}

void an_administrator_of_slurm_notes_and_resizes_as_root_does()
{
	std::string good = text();
	const Change resize = {
		.caller = k_owner, .marker = {good, good}, .resizes = true, .is_admin = true};
	CHECK(passes(resize));
	auto judgement = judge(k_rules,
		Change{.caller = k_owner,
			.marker = {good, good},
			.new_admin_comment = "mine",
			.is_admin = true});
	CHECK(judgement.refusal.empty());
	REQUIRE(judgement.admin_comment.has_value());
	CHECK_EQUAL(codec::marker_from_text(*judgement.admin_comment)->note, "mine");
	CHECK(passes(Change{.caller = k_owner,
		.marker = {good, good},
		.new_admin_comment = good,
		.is_admin = true}));
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
	return check::run_tests("plugin guard",
		{
			TEST(native_jobs_pass),
			TEST(external_partitions_take_external_jobs_only),
			TEST(only_root_and_slurm_user_give_markers),
			TEST(broken_markers_are_refused_from_everybody),
			TEST(an_external_job_has_no_script_array_or_components),
			TEST(the_owner_may_do_what_is_harmless),
			TEST(the_owner_cannot_resize_or_move_away),
			TEST(an_external_job_gets_no_native_nodes),
			TEST(a_job_of_a_pod_gets_no_mixture_of_external_and_hybrid_nodes),
			TEST(a_marker_that_a_script_wrote_over_is_taken_from_its_copy),
			TEST(a_copy_says_who_a_job_is_whatever_became_of_admin_comment),
			TEST(what_root_writes_over_a_marker_is_noted_beside_it),
			TEST(nothing_runs_after_us),
			TEST(jobs_of_clusters_do_not_mix),
			TEST(a_native_job_cannot_move_in),
			TEST(a_marker_never_changes_hands),
			TEST(what_a_script_adds_to_an_owners_change_is_left_out),
			TEST(an_administrator_of_slurm_notes_and_resizes_as_root_does),
			TEST(identity_is_cluster_uid_and_attempt),
		});
}
