/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard.h - who may create external jobs, and which changes to them are allowed. Pure: takes facts,
 * returns a judgement.
 *
 * A marker in admin_comment makes a job external. Only root and SlurmUser may give a job a marker,
 * at submission, and no user may remove it. The partitions in kube.conf take external jobs only. An
 * external job may use another partition only if that has no native nodes, and no partition with
 * nodes of another Kubernetes cluster. The owner may change what does not affect the job's place
 * and size.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_GUARD_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_GUARD_H

#include "src/plugins/job_submit/kube/marker_copy.h"

namespace slurmkube::plugin
{

struct Rules {
	std::uint32_t slurm_user = 0;
	std::vector<std::string> partitions; /* for external jobs only */
	/* the Kubernetes clusters that kube.conf names; nullopt: it names none */
	std::optional<std::vector<std::string>> clusters = {};
};

struct Submission {
	std::uint32_t caller = 0;
	MarkerTexts marker = {}; /* empty: none */
	/* comma-separated, as Slurm will use it; empty: not even a default partition */
	std::string_view partition = {};
	/* for an external job: a partition that has native nodes and is not in Rules; otherwise
	 * empty */
	std::string native_partition = {};
	/* for an external job: a partition that has nodes of another cluster; otherwise empty */
	std::string foreign_partition = {};
	/* for an external job of a Slurm that has such jobs itself: partitions that have both
	 * external and hybrid nodes, as text; otherwise empty */
	std::string mixed_partitions = {};
	bool batch = false, array = false, het = false, own_id = false;
};

struct Judgement {
	std::string refusal;                /* empty: allowed */
	std::optional<core::Marker> marker; /* set for an external job */
};

Judgement judge(const Rules &rules, const Submission &submission);

/* What a text says about partitions that have external nodes and hybrid ones: the remedy. */
std::string mixed_trouble(const std::string &partitions);

/* Whether the caller may give a job a marker: root and SlurmUser. */
bool is_trusted(const Rules &rules, std::uint32_t caller);

/* The names in the comma-separated list, each once: each may cost a walk over nodes. */
std::vector<std::string> unique_names(std::string_view list);

/* Those of them that kube.conf does not name. */
std::vector<std::string> other_partitions(const Rules &rules, std::string_view list);

struct Change {
	std::uint32_t caller = 0;
	MarkerTexts marker = {}; /* the job's texts before the change */
	std::string_view partition = {};
	std::optional<std::string_view> new_admin_comment = {}, new_partition = {};
	bool resizes = false;
	/* as in Submission, for new_partition */
	std::string native_partition = {}, foreign_partition = {}, mixed_partitions = {};
	/* the caller is an administrator for Slurm (AdminLevel) and may write admin_comment */
	bool is_admin = false;
};

struct ChangeJudgement {
	std::string refusal; /* empty: allowed */
	/* the text to write instead of the requested one; empty: no change to the request */
	std::optional<std::string> admin_comment = {};
	bool keeps_comment = false;
	/* see Marker::since; 0: the job is none of ours, or has no such age */
	std::int64_t waiting_since = 0;
};

ChangeJudgement judge(const Rules &rules, const Change &change);

/*
 * Whether the plugin has to refuse the request after an internal error (no memory) that prevented a
 * judgement. Decided from the look of the texts, without allocating memory; requests about native
 * jobs pass.
 */
bool concerns_us(const Rules &rules, const Submission &submission) noexcept;
bool concerns_us(const Rules &rules, const Change &change) noexcept;

/* Whether kube.conf names at least one partition in the comma-separated list, or all of them. Both
 * are false for an empty list. */
bool names_external(const Rules &rules, std::string_view list) noexcept;
bool names_external_only(const Rules &rules, std::string_view list) noexcept;

/* What is wrong with the order in JobSubmitPlugins; empty: nothing. */
std::string order_trouble(std::string_view submit_plugins);

/* "NS/NAME (uid U, attempt A)" */
std::string describe(const core::Marker &marker);

} // namespace slurmkube::plugin

#endif
