/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_marker.cc - admin_comment, which decides inside slurmctld who may submit a placeholder job
 * and to which pod the job belongs.
 *
 * The first byte selects the caller; the rest is the comment.
 */
#include "src/codec/marker.h"
#include "src/plugins/job_submit/kube/guard.h"
#include "testsuite/fuzz/fuzz.h"

using namespace slurmkube;
using namespace slurmkube::fuzz;
using plugin::Change;
using plugin::Submission;

namespace
{

constexpr std::uint32_t k_slurm_user = 64030, k_somebody = 1000;
constexpr char k_our_text[] =
	R"({"slurm-kube":1,"cluster":"kube","namespace":"a","name":"p","kind":"Pod","uid":"u",)"
	R"("attempt":1,"user":1000,"group":1000})";

void check_submission(const plugin::Rules &rules, bool trusted, std::string_view text,
	const Result<core::Marker> &marker)
{
	const Submission submission{.caller = trusted ? k_slurm_user : k_somebody,
		.marker = {.admin_comment = text},
		.partition = "kube"};
	const plugin::Judgement judgement = plugin::judge(rules, submission);
	/* a partition for pods accepts only jobs with a marker, from trusted callers */
	MUST(judgement.refusal.empty() == (trusted && marker.ok()));
	MUST(judgement.marker.has_value() == judgement.refusal.empty());
	MUST(!judgement.marker || *judgement.marker == *marker);
	const Submission native{
		.caller = k_somebody, .marker = {.admin_comment = text}, .partition = "batch"};
	MUST(!plugin::judge(rules, native).marker);
	MUST(!marker.ok() || !plugin::judge(rules, native).refusal.empty());
}

void check_changes(
	const plugin::Rules &rules, std::string_view text, const Result<core::Marker> &marker)
{
	/* a user can neither add a marker to a job nor remove one */
	const Change take{.caller = k_somebody,
		.marker = {},
		.partition = "batch",
		.new_admin_comment = text};
	MUST(!marker.ok() || !plugin::judge(rules, take).refusal.empty());
	const Change lose{.caller = k_somebody,
		.marker = {.admin_comment = k_our_text},
		.partition = "kube",
		.new_admin_comment = text};
	const plugin::ChangeJudgement judgement = plugin::judge(rules, lose);
	MUST(judgement.keeps_comment && !judgement.admin_comment);
	const Change replace{.caller = 0,
		.marker = {.admin_comment = k_our_text},
		.partition = "kube",
		.new_admin_comment = text};
	const auto ours = codec::marker_from_text(k_our_text);
	MUST(!marker.ok() ||
		plugin::judge(rules, replace).refusal.empty() ==
			plugin::same_identity(*ours, *marker));
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	Input input(data, size);
	const bool trusted = input.byte() % 2 == 0;
	const std::string_view text = input.rest();
	const plugin::Rules rules{.slurm_user = k_slurm_user, .partitions = {"kube"}};
	const auto marker = codec::marker_from_text(text);
	MUST(says_why(marker));
	check_submission(rules, trusted, text, marker);
	check_changes(rules, text, marker);
	if (!marker)
		return 0;
	MUST(codec::looks_like_marker(text));
	MUST(marker->attempt > 0 && !marker->uid.empty() && is_printable(marker->uid) &&
		is_printable(plugin::describe(*marker)));
	const std::string canonical = codec::marker_to_text(*marker);
	const auto again = codec::marker_from_text(canonical);
	MUST(again && *again == *marker && codec::marker_to_text(*again) == canonical);
	return 0;
}
