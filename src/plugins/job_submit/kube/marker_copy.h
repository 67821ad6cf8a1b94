/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marker_copy.h - for whom a job stands, whatever site scripts write into admin_comment. Pure.
 *
 * A placeholder has its marker twice: in admin_comment, where people and the agent read it, and in
 * resp_host. No command, script or plugin of Slurm changes resp_host after the submission,
 * slurmctld saves it with the job in every version from 22.05 to 26.05, and uses it only for a job
 * with a port to answer to, which a placeholder has not. So the copy says who the job is, and
 * admin_comment what the site has noted beside that.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_MARKER_COPY_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_MARKER_COPY_H

#include "src/core/model/job.h"

#include <optional>
#include <string_view>

namespace slurmkube::plugin
{

struct MarkerTexts {
	std::string_view admin_comment = {}, copy = {};
};

/* Is either worth a closer look? Costs little: for looks under a lock. */
bool may_claim_marker(const MarkerTexts &texts) noexcept;

/* Does either claim to be a marker? */
bool claims_marker(const MarkerTexts &texts);

/* Identity as the copy has it, options as admin_comment has them, and as the note what the site
 * wrote there. Nothing: a native job. */
std::optional<core::Marker> marker_of(const MarkerTexts &texts);

/* The marker with a text that somebody writes over it: kept as the note. Nothing: the text is a
 * marker of another job, or a broken one. */
std::optional<core::Marker> with_text(
	const core::Marker &marker, std::string_view marker_text, std::string_view text);

/* What both should say for this marker. */
std::string comment_of(const core::Marker &marker);
std::string copy_of(core::Marker marker);

/* One of them does not: to be written again. */
struct MarkerFault {
	bool comment = false, copy = false;
};
MarkerFault fault_of(const MarkerTexts &texts, const core::Marker &marker);

/* At most one live job has it. */
bool same_identity(const core::Marker &a, const core::Marker &b);

} // namespace slurmkube::plugin

#endif
