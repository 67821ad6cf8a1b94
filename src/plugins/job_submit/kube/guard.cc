/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/guard.h"

#include "src/codec/marker.h"
#include "src/plugins/job_submit/kube/kube_conf.h"

#include <algorithm>
#include <set>

namespace slurmkube::plugin
{

bool is_trusted(const Rules &rules, std::uint32_t caller)
{
	return caller == 0 || caller == rules.slurm_user;
}

namespace
{

/* The first external-only partition in the list; empty: none. */
std::string external_partition(const Rules &rules, std::string_view list)
{
	for (const std::string &name : split_commas(list))
		if (std::find(rules.partitions.begin(), rules.partitions.end(), name) !=
			rules.partitions.end())
			return name;
	return {};
}

/* Calls the function for each name in the comma-separated list, without allocating memory. */
template <class F> void each_name(std::string_view list, F &&call) noexcept
{
	constexpr std::string_view k_blanks = " \t\r";
	while (!list.empty()) {
		const std::size_t comma = std::min(list.find(','), list.size());
		std::string_view name = list.substr(0, comma);
		list.remove_prefix(std::min(comma + 1, list.size()));
		name.remove_prefix(std::min(name.find_first_not_of(k_blanks), name.size()));
		name = name.substr(0, name.find_last_not_of(k_blanks) + 1);
		if (!name.empty())
			call(name);
	}
}

bool is_external(const Rules &rules, std::string_view name) noexcept
{
	return std::find(rules.partitions.begin(), rules.partitions.end(), name) !=
		rules.partitions.end();
}

/* JSON could spell the word with escapes, but our markers do not. */
bool may_be_marker(std::string_view text) noexcept
{
	return text.find("\"slurm-kube\"") != std::string_view::npos;
}

bool may_be_ours(const MarkerTexts &texts) noexcept
{
	return may_be_marker(texts.admin_comment) || may_be_marker(texts.copy);
}

std::string refuse_partition(const std::string &name)
{
	return "slurm-kube: partition " + name +
		" takes Kubernetes pods only; give another with --partition";
}

/* No kubelet would start the pod on native nodes, and native jobs would lack them. */
std::string refuse_native_partition(const std::string &name, const core::Marker &marker)
{
	if (name.empty())
		return {};
	return "slurm-kube: partition " + name +
		" has nodes that are no Kubernetes nodes: the job of pod " + describe(marker) +
		" cannot go there; name the partition in kube.conf (Partitions) if that is wanted";
}

std::string refuse_foreign_partition(const std::string &name, const core::Marker &marker)
{
	if (name.empty())
		return {};
	return "slurm-kube: partition " + name +
		" has nodes of another Kubernetes cluster: the job of pod " + describe(marker) +
		" of cluster " + marker.cluster +
		" cannot go there; give each cluster partitions of its own";
}

/* On external nodes Slurm runs external jobs only, and an external job would free the cores of a
 * hybrid node before its containers have ended. A job is the one or the other when it is submitted,
 * before Slurm chooses the nodes. */
std::string refuse_mixed_partitions(const std::string &names, const core::Marker &marker)
{
	if (names.empty())
		return {};
	return "slurm-kube: " + mixed_trouble(names) + ": the job of pod " + describe(marker) +
		" cannot go there";
}

/* No agent would hear of the job. */
std::string refuse_cluster(const Rules &rules, const core::Marker &marker)
{
	if (!rules.clusters ||
		std::find(rules.clusters->begin(), rules.clusters->end(), marker.cluster) !=
			rules.clusters->end())
		return {};
	return "slurm-kube: kube.conf names no Kubernetes cluster '" + marker.cluster +
		"': add a line Cluster=" + marker.cluster +
		" Socket=PATH and restart slurmctld, or correct cluster in slurmkubed.yaml";
}

/* Kinds of jobs that Slurm or the plugin does not support for a job without a script. */
std::string refuse_shape(const Submission &s)
{
	if (s.batch)
		return "slurm-kube: an external job has no batch script";
	if (s.array)
		return "slurm-kube: an external job cannot be an array";
	if (s.het)
		return "slurm-kube: an external job cannot be a component of a heterogeneous job";
	if (s.own_id)
		return "slurm-kube: an external job cannot choose its job id";
	return {};
}

/* Whether the caller counts as an administrator. Markers are a separate case: only root and
 * SlurmUser may write them. */
bool may_write(const Rules &rules, const Change &change)
{
	return is_trusted(rules, change.caller) || change.is_admin;
}

/*
 * A job gets its marker once, at submission; exactly-once submission depends on that. If a site
 * writes another text, the text is kept in the marker as a note. A caller who may not write
 * admin_comment is not the author of the text, because Slurm refuses that before it calls the
 * plugin: the text comes from a site's script. The script must not make the user's harmless change
 * fail, and Slurm would refuse the text later, so the text is dropped.
 */
ChangeJudgement judge_new_comment(
	const Rules &rules, const Change &change, const std::optional<core::Marker> &marker)
{
	std::string_view text = *change.new_admin_comment;
	bool wants_marker = codec::looks_like_marker(text);
	if (!marker && !wants_marker)
		return {};
	if (marker && !may_write(rules, change))
		return {.refusal = {}, .keeps_comment = true};
	if (wants_marker && !is_trusted(rules, change.caller) &&
		text != change.marker.admin_comment)
		return {"slurm-kube: only root and SlurmUser may change who an external job stands "
			"for"};
	if (!marker)
		return {"slurm-kube: a marker is given at submission only; this is no job of a "
			"Kubernetes pod"};
	std::optional<core::Marker> noted = with_text(*marker, change.marker.admin_comment, text);
	if (!noted)
		return {"slurm-kube: the admin_comment says for which pod the job stands, " +
			describe(*marker) + ", and cannot name another"};
	return {{}, comment_of(*noted)};
}

std::string judge_new_partition(
	const Rules &rules, const Change &change, const std::optional<core::Marker> &marker)
{
	if (marker) {
		std::string native = refuse_native_partition(change.native_partition, *marker);
		if (!native.empty())
			return native;
		std::string mixed = refuse_mixed_partitions(change.mixed_partitions, *marker);
		return mixed.empty() ? refuse_foreign_partition(change.foreign_partition, *marker)
				     : mixed;
	}
	std::string name = external_partition(rules, *change.new_partition);
	return name.empty() ? name : refuse_partition(name);
}

} // namespace

Judgement judge(const Rules &rules, const Submission &s)
{
	if (!claims_marker(s.marker)) {
		std::string name = external_partition(rules, s.partition);
		return {name.empty() ? name : refuse_partition(name), std::nullopt};
	}
	if (!is_trusted(rules, s.caller))
		return {"slurm-kube: only root and SlurmUser may submit for Kubernetes pods",
			std::nullopt};
	auto marker = marker_of(s.marker);
	if (!marker)
		return {"slurm-kube: " +
				codec::marker_from_text(s.marker.admin_comment).error().what,
			std::nullopt};
	std::string refusal = refuse_shape(s);
	if (refusal.empty())
		refusal = refuse_cluster(rules, *marker);
	if (refusal.empty())
		refusal = refuse_native_partition(s.native_partition, *marker);
	if (refusal.empty())
		refusal = refuse_foreign_partition(s.foreign_partition, *marker);
	if (refusal.empty())
		refusal = refuse_mixed_partitions(s.mixed_partitions, *marker);
	if (!refusal.empty())
		return {refusal, std::nullopt};
	return {{}, std::move(*marker)};
}

ChangeJudgement judge(const Rules &rules, const Change &change)
{
	std::optional<core::Marker> marker = marker_of(change.marker);
	ChangeJudgement judgement;
	if (change.new_admin_comment)
		judgement = judge_new_comment(rules, change, marker);
	if (judgement.refusal.empty() && change.new_partition)
		judgement.refusal = judge_new_partition(rules, change, marker);
	if (judgement.refusal.empty() && change.resizes && marker && !may_write(rules, change))
		judgement.refusal = "slurm-kube: the size and place of the job of pod " +
			describe(*marker) + " follow the pod";
	judgement.waiting_since = marker ? marker->since : 0;
	return judgement;
}

std::string mixed_trouble(const std::string &partitions)
{
	return "partition " + partitions +
		" has external nodes and hybrid nodes; give the hybrid nodes a partition of their "
		"own";
}

bool names_external(const Rules &rules, std::string_view list) noexcept
{
	bool any = false;
	each_name(list, [&](std::string_view name) { any |= is_external(rules, name); });
	return any;
}

bool names_external_only(const Rules &rules, std::string_view list) noexcept
{
	bool any = false, all = true;
	each_name(list, [&](std::string_view name) {
		any = true;
		all &= is_external(rules, name);
	});
	return any && all;
}

bool concerns_us(const Rules &rules, const Submission &s) noexcept
{
	return may_be_ours(s.marker) || names_external(rules, s.partition);
}

bool concerns_us(const Rules &rules, const Change &change) noexcept
{
	if (may_be_ours(change.marker))
		return change.resizes || change.new_partition || change.new_admin_comment;
	return (change.new_admin_comment && may_be_marker(*change.new_admin_comment)) ||
		(change.new_partition && names_external(rules, *change.new_partition));
}

std::vector<std::string> unique_names(std::string_view list)
{
	std::vector<std::string> names = split_commas(list);
	std::set<std::string> seen;
	std::erase_if(names, [&](const std::string &name) { return !seen.insert(name).second; });
	return names;
}

std::vector<std::string> other_partitions(const Rules &rules, std::string_view list)
{
	std::vector<std::string> names = unique_names(list);
	std::erase_if(names, [&](const std::string &name) {
		return std::find(rules.partitions.begin(), rules.partitions.end(), name) !=
			rules.partitions.end();
	});
	return names;
}

std::string order_trouble(std::string_view submit_plugins)
{
	const std::vector<std::string> names = split_commas(submit_plugins);
	const auto ours = std::find_if(names.begin(), names.end(), [](const std::string &name) {
		return name == "kube" || name == "job_submit/kube";
	});
	if (ours == names.end() || std::next(ours) == names.end())
		return {};
	return "JobSubmitPlugins=" + std::string(submit_plugins) +
		" in slurm.conf: kube must be the last, since " + *std::next(ours) +
		" can move jobs into partitions for pods, and jobs of pods out of them, unseen";
}

std::string describe(const core::Marker &marker)
{
	return marker.name_space + "/" + marker.name + " (uid " + marker.uid + ", attempt " +
		std::to_string(marker.attempt) + ")";
}

} // namespace slurmkube::plugin
