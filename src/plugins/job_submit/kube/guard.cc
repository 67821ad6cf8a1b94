/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/guard.h"

#include "src/codec/marker.h"
#include "src/plugins/job_submit/kube/kube_conf.h"

#include <algorithm>

namespace slurmkube::plugin
{

namespace
{

bool is_trusted(const Rules &rules, std::uint32_t uid)
{
	return uid == 0 || uid == rules.slurm_user;
}

/* The first external-only partition in the list, or empty. */
std::string external_partition(const Rules &rules, std::string_view list)
{
	for (const std::string &name : split_commas(list))
		if (std::find(rules.partitions.begin(), rules.partitions.end(), name) != rules.partitions.end())
			return name;
	return {};
}

std::string refuse_partition(const std::string &name)
{
	return "slurm-kube: partition " + name + " takes Kubernetes pods only; give another with --partition";
}

/* Shapes that Slurm or we cannot carry through for a job without script. */
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

std::optional<core::Marker> marker_in(std::string_view admin_comment)
{
	if (!codec::looks_like_marker(admin_comment))
		return std::nullopt;
	auto marker = codec::marker_from_text(admin_comment);
	return marker ? std::optional(std::move(*marker)) : std::nullopt;
}

/* A marker is given at submission, once: exactly-once rests on that. */
std::string judge_new_comment(const Rules &rules, const Change &change, const std::optional<core::Marker> &marker)
{
	std::string_view text = *change.new_admin_comment;
	bool wants_marker = codec::looks_like_marker(text);
	if (!marker && !wants_marker)
		return {};
	if (!is_trusted(rules, change.caller))
		return "slurm-kube: only root and SlurmUser may change who an external job stands for";
	if (!wants_marker)
		return {}; /* an administrator takes the job away from us: his right */
	std::optional<core::Marker> wanted = marker_in(text);
	if (!wanted)
		return "slurm-kube: the new admin_comment is not a marker";
	if (!marker || !same_identity(*marker, *wanted))
		return "slurm-kube: a marker is given at submission only";
	return {};
}

std::string judge_new_partition(const Rules &rules, const Change &change, bool external)
{
	if (!external) {
		std::string name = external_partition(rules, *change.new_partition);
		return name.empty() ? name : refuse_partition(name);
	}
	bool leaves = !external_partition(rules, change.partition).empty() && external_partition(rules, *change.new_partition).empty();
	if (leaves && !is_trusted(rules, change.caller))
		return "slurm-kube: the job of a Kubernetes pod cannot leave the partitions for pods";
	return {};
}

} // namespace

Judgement judge(const Rules &rules, const Submission &s)
{
	if (!codec::looks_like_marker(s.admin_comment)) {
		std::string name = external_partition(rules, s.partition);
		return {name.empty() ? name : refuse_partition(name), std::nullopt};
	}
	if (!is_trusted(rules, s.caller))
		return {"slurm-kube: only root and SlurmUser may submit for Kubernetes pods", std::nullopt};
	auto marker = codec::marker_from_text(s.admin_comment);
	if (!marker)
		return {"slurm-kube: " + marker.error().what, std::nullopt};
	std::string shape = refuse_shape(s);
	if (!shape.empty())
		return {shape, std::nullopt};
	return {{}, std::move(*marker)};
}

std::string judge(const Rules &rules, const Change &change)
{
	std::optional<core::Marker> marker = marker_in(change.admin_comment);
	std::string refusal;
	if (change.new_admin_comment)
		refusal = judge_new_comment(rules, change, marker);
	if (refusal.empty() && change.new_partition)
		refusal = judge_new_partition(rules, change, marker.has_value());
	if (refusal.empty() && change.resizes && marker && !is_trusted(rules, change.caller))
		refusal = "slurm-kube: the size and place of the job of pod " + describe(*marker) + " follow the pod";
	return refusal;
}

bool same_identity(const core::Marker &a, const core::Marker &b)
{
	return a.attempt == b.attempt && a.uid == b.uid && a.cluster == b.cluster;
}

std::string describe(const core::Marker &marker)
{
	return marker.name_space + "/" + marker.name + " (uid " + marker.uid + ", attempt " + std::to_string(marker.attempt) + ")";
}

} // namespace slurmkube::plugin
