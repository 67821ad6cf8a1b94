/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin_hooks.cc - the half of Plugin that slurmctld's hooks call: what may be submitted and
 * changed.
 */
#include "src/plugins/job_submit/kube/plugin.h"
#include "src/plugins/job_submit/kube/verdict.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace slurmkube::plugin
{

namespace
{

int this_thread()
{
	return static_cast<int>(syscall(SYS_gettid));
}

/* Called in a hook, which holds the job lock. */
bool stands_for(core::JobId id, const core::Marker &marker)
{
	kube_marker_texts texts = {};
	if (!kube_seam_marker_texts(id.number, &texts) || kube_seam_job_is_finished(id.number))
		return false;
	auto theirs = marker_of({texts.admin_comment, texts.copy});
	return theirs && same_identity(*theirs, marker);
}

std::string_view text(const char *borrowed)
{
	return borrowed ? std::string_view(borrowed) : std::string_view();
}

std::optional<std::string_view> maybe(const char *borrowed)
{
	return borrowed ? std::optional<std::string_view>(borrowed) : std::nullopt;
}

} // namespace

void Plugin::judge_marker(const core::Marker &marker, kube_verdict &verdict)
{
	ClaimAnswer answer = registry_.claim(marker, this_thread(), now_ns(), stands_for);
	if (answer.claim == Claim::granted) {
		verdict.placeholder = true;
		verdict.user_id = marker.user_id;
		verdict.group_id = marker.group_id;
		verdict.waiting_since = marker.since;
		put(verdict.admin_comment, comment_of(marker));
		put(verdict.copy, copy_of(marker));
		say(verdict, KUBE_ALLOW, {});
		keeper_.wake();
		return;
	}
	costs.duplicates_refused.fetch_add(1, std::memory_order_relaxed);
	if (answer.claim == Claim::live)
		say(verdict, KUBE_DUPLICATE,
			"slurm-kube: job " + std::to_string(answer.live.number) +
				" already stands for pod " + describe(marker));
	else if (answer.claim == Claim::under_way)
		say(verdict, KUBE_UNDER_WAY,
			"slurm-kube: a submission for this pod is under way, try again");
	else
		say(verdict, KUBE_UNDER_WAY,
			"slurm-kube: this slurmctld has just come into control and its jobs are "
			"not read yet, try again");
}

bool Plugin::is_for_pods(std::string_view partition) const noexcept
{
	return names_external_only(live()->rules, partition);
}

/* An administrator may name partitions with native nodes in kube.conf, so those are not checked. */
std::string Plugin::native_partition(const Rules &rules, std::string_view list) const
{
	for (const std::string &name : other_partitions(rules, list))
		if (kube_seam_kinds_in(name.c_str(), config_.feature.c_str()).native)
			return name;
	return {};
}

/* Remembered as the others, with words that are no features. */
Plugin::Kinds Plugin::kinds_in(std::string_view list)
{
	Kinds kinds;
	for (const std::string &name : unique_names(list)) {
		const auto has = [&](const char *kind, bool kube_node_kinds::*member) {
			return foreign_partitions_.has_foreign(name, kind, now_ns(), [&] {
				return std::optional(
					kube_seam_kinds_in(name.c_str(), config_.feature.c_str()).*
					member);
			});
		};
		kinds.external = has("*external", &kube_node_kinds::external) || kinds.external;
		kinds.hybrid = has("*hybrid", &kube_node_kinds::hybrid) || kinds.hybrid;
	}
	return kinds;
}

/* Before external jobs, Slurm's jobs are all alike: then it does not matter. */
std::string Plugin::mixed_partitions(std::string_view list)
{
	const Kinds kinds = host_.native ? kinds_in(list) : Kinds{};
	return kinds.external && kinds.hybrid ? std::string(list) : std::string();
}

std::string Plugin::foreign_partition(std::string_view list, const MarkerTexts &texts)
{
	const auto marker = config_.has_clusters ? marker_of(texts) : std::nullopt;
	if (!marker)
		return {};
	const std::string of_cluster = cluster_feature(config_.feature, marker->cluster);
	for (const std::string &name : unique_names(list))
		if (foreign_partitions_.has_foreign(name, of_cluster, now_ns(), [&] {
			    const int has = kube_seam_partition_has_foreign(
				    name.c_str(), config_.feature.c_str(), of_cluster.c_str());
			    return has < 0 ? std::nullopt : std::optional(has == 1);
		    }))
			return name;
	return {};
}

namespace
{

Submission submission_of(const kube_submit_facts &facts) noexcept
{
	return {facts.caller, {text(facts.marker.admin_comment), text(facts.marker.copy)},
		text(facts.partition), {}, {}, {}, facts.batch, facts.array, facts.het,
		facts.own_id};
}

Change change_of(const kube_modify_facts &facts) noexcept
{
	return {facts.caller, {text(facts.marker.admin_comment), text(facts.marker.copy)},
		text(facts.partition), maybe(facts.new_admin_comment), maybe(facts.new_partition),
		facts.resizes, {}, {}, {}, facts.caller_is_admin};
}

} // namespace

bool Plugin::concerns_us(const kube_submit_facts &facts) const noexcept
{
	return plugin::concerns_us(live()->rules, submission_of(facts));
}

bool Plugin::concerns_us(const kube_modify_facts &facts) const noexcept
{
	return plugin::concerns_us(live()->rules, change_of(facts));
}

void Plugin::judge_submission(const kube_submit_facts &facts, kube_verdict &verdict)
{
	if (registry_.has_tickets())
		registry_.came_back(this_thread());
	auto current = live();
	Submission submission = submission_of(facts);
	/* others are refused anyway, and may name any number of partitions */
	if (claims_marker(submission.marker) && is_trusted(current->rules, facts.caller)) {
		submission.native_partition =
			native_partition(current->rules, submission.partition);
		submission.foreign_partition =
			foreign_partition(submission.partition, submission.marker);
		submission.mixed_partitions = mixed_partitions(submission.partition);
		verdict.ordinary = host_.native && kinds_in(submission.partition).hybrid;
	}
	Judgement judgement = judge(current->rules, submission);
	if (!judgement.refusal.empty()) {
		costs.refused.fetch_add(1, std::memory_order_relaxed);
		say(verdict, KUBE_REFUSE, judgement.refusal);
	} else if (judgement.marker) {
		judge_marker(*judgement.marker, verdict);
	} else {
		say(verdict, KUBE_ALLOW, {});
	}
}

void Plugin::judge_change(const kube_modify_facts &facts, kube_verdict &verdict)
{
	auto current = live();
	Change change = change_of(facts);
	if (change.new_partition && claims_marker(change.marker)) {
		change.native_partition = native_partition(current->rules, *change.new_partition);
		change.foreign_partition = foreign_partition(*change.new_partition, change.marker);
		/* what the job is was decided by its first partitions */
		change.mixed_partitions = mixed_partitions(
			std::string(change.partition) + "," + std::string(*change.new_partition));
	}
	ChangeJudgement judgement = judge(current->rules, change);
	if (!judgement.refusal.empty())
		costs.refused.fetch_add(1, std::memory_order_relaxed);
	if (judgement.admin_comment)
		put(verdict.admin_comment, *judgement.admin_comment);
	verdict.keeps_comment = judgement.keeps_comment;
	verdict.waiting_since = judgement.waiting_since;
	say(verdict, judgement.refusal.empty() ? KUBE_ALLOW : KUBE_REFUSE, judgement.refusal);
}

} // namespace slurmkube::plugin
