/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard.h - who may create external jobs, and what may be done to them. Pure: facts in, verdict out.
 *
 * A marker in admin_comment makes a job an external one; only root and SlurmUser may give it, at submission and never later. The
 * partitions of kube.conf take external jobs only. The owner may do with his job what does not change its place.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_GUARD_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_GUARD_H

#include "src/core/model.h"

#include <optional>
#include <string_view>

namespace slurmkube::plugin
{

struct Rules {
	std::uint32_t slurm_user = 0;
	std::vector<std::string> partitions; /* external only */
};

struct Submission {
	std::uint32_t caller = 0;
	std::string_view admin_comment = {}; /* empty: none */
	std::string_view partition = {};     /* comma list; empty: no default either */
	bool batch = false, array = false, het = false, own_id = false;
};

struct Judgement {
	std::string refusal;		    /* empty: allowed */
	std::optional<core::Marker> marker; /* it is an external job */
};

Judgement judge(const Rules &rules, const Submission &submission);

struct Change {
	std::uint32_t caller = 0;
	std::string_view admin_comment = {}, partition = {}; /* as they are */
	std::optional<std::string_view> new_admin_comment = {}, new_partition = {};
	bool resizes = false;
};

/* The refusal; empty: allowed. */
std::string judge(const Rules &rules, const Change &change);

/* At most one live job has it. */
bool same_identity(const core::Marker &a, const core::Marker &b);

/* "NS/NAME (uid U, attempt A)" */
std::string describe(const core::Marker &marker);

} // namespace slurmkube::plugin

#endif
