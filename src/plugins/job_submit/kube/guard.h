/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard.h - who may create external jobs, and what may be done to them. Pure: facts in, verdict
 * out.
 *
 * A marker in admin_comment makes a job an external one; only root and SlurmUser may give it, at
 * submission, and nobody may take it away. The partitions of kube.conf take external jobs only, and
 * external jobs go nowhere else. The owner may do with his job what does not change its place.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_GUARD_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_GUARD_H

#include "src/plugins/job_submit/kube/marker_copy.h"

namespace slurmkube::plugin
{

struct Rules {
	std::uint32_t slurm_user = 0;
	std::vector<std::string> partitions; /* external only */
};

struct Submission {
	std::uint32_t caller = 0;
	MarkerTexts marker = {}; /* empty: none */
	/* comma list, as Slurm will take it; empty: no default either */
	std::string_view partition = {};
	/* of an external job: one of them that also has native nodes, and is not in Rules; else
	 * empty */
	std::string native_partition = {};
	bool batch = false, array = false, het = false, own_id = false;
};

struct Judgement {
	std::string refusal;                /* empty: allowed */
	std::optional<core::Marker> marker; /* it is an external job */
};

Judgement judge(const Rules &rules, const Submission &submission);

/* The names in the comma list that kube.conf does not name. */
std::vector<std::string> other_partitions(const Rules &rules, std::string_view list);

struct Change {
	std::uint32_t caller = 0;
	MarkerTexts marker = {}; /* as they are */
	std::string_view partition = {};
	std::optional<std::string_view> new_admin_comment = {}, new_partition = {};
	bool resizes = false;
	std::string native_partition = {}; /* as in Submission, of the new ones */
	/* the caller is one for Slurm (AdminLevel), and may write admin_comment */
	bool is_admin = false;
};

struct ChangeJudgement {
	std::string refusal; /* empty: allowed */
	/* To be written instead of the one asked for; nothing: it is not changed at all. */
	std::optional<std::string> admin_comment = {};
	bool keeps_comment = false;
};

ChangeJudgement judge(const Rules &rules, const Change &change);

/*
 * Where an error of ours (no memory) leaves no judgement: is the request one that we stand for?
 * Asked without memory, by what texts look like. Only then it is refused; native jobs pass.
 */
bool concerns_us(const Rules &rules, const Submission &submission) noexcept;
bool concerns_us(const Rules &rules, const Change &change) noexcept;

/* Does kube.conf name one in the comma list, or each? An empty list has none. */
bool names_external(const Rules &rules, std::string_view list) noexcept;
bool names_external_only(const Rules &rules, std::string_view list) noexcept;

/* What is wrong with the order in JobSubmitPlugins; empty: nothing. */
std::string order_trouble(std::string_view submit_plugins);

/* "NS/NAME (uid U, attempt A)" */
std::string describe(const core::Marker &marker);

} // namespace slurmkube::plugin

#endif
