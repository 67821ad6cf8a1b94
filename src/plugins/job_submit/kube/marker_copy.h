/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marker_copy.h - finds the pod that a job stands for, whatever site scripts write into
 * admin_comment. Pure.
 *
 * A placeholder has its marker twice: in admin_comment, where people and the agent read it, and in
 * resp_host. No command, script or plugin of Slurm changes resp_host after the submission.
 * slurmctld saves it with the job in every version from 22.05 to 26.05, and uses it only for a job
 * with a response port, which a placeholder does not have. So the copy identifies the job, and
 * admin_comment may hold notes of the site.
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

/* Whether either text is worth parsing. Cheap, for looks under a lock. */
bool may_claim_marker(const MarkerTexts &texts) noexcept;

/* Whether either text claims to be a marker. */
bool claims_marker(const MarkerTexts &texts);

/* The identity from the copy, the options from admin_comment, and the site's text there as the
 * note. Empty: a native job. */
std::optional<core::Marker> marker_of(const MarkerTexts &texts);

/* The marker after a text has been written over it: the text becomes the note. Empty: the text is
 * the marker of another job, or a broken marker. */
std::optional<core::Marker> with_text(
	const core::Marker &marker, std::string_view marker_text, std::string_view text);

/* The texts that admin_comment and the copy should have for this marker. */
std::string comment_of(const core::Marker &marker);
std::string copy_of(core::Marker marker);

/* Which of the texts is not the marker and must be rewritten. */
struct MarkerFault {
	bool comment = false, copy = false;
};
MarkerFault fault_of(const MarkerTexts &texts, const core::Marker &marker);

/* Whether both stand for the same pod and attempt: at most one live job may. */
bool same_identity(const core::Marker &a, const core::Marker &b);

} // namespace slurmkube::plugin

#endif
