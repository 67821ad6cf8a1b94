/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_parts.h - what report.h's conditions tell of jobs and of others: claims, and the
 * pods of a node.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_REPORT_PARTS_H
#define SLURMKUBE_CORE_RECONCILE_REPORT_PARTS_H

#include "src/core/gang/grouping.h"
#include "src/core/model/job.h"
#include "src/core/model/pod.h"

#include <cstdint>
#include <string>

namespace slurmkube::core
{

/* "Slurm job 12" */
std::string job_text(const SlurmJob &job);

/* Of a pod that waits: "its volume claims have not been read yet". */
std::string claims_unread(const std::string &why);
std::string claim_in_use(const std::string &claim, const Pod &user);
std::string claim_not_shared(const std::string &claim, const GangId &gang);
/* Of the pod's node. */
std::string claim_being_bound(const std::string &claim);
std::string claim_not_bound_in_time(const std::string &claim, std::int64_t seconds);
std::string cannot_be_used(const std::string &why);

/* Who is in the way on a node. job: which is allocated still, or nullptr. */
std::string holder_ends(const std::string &pod);
std::string holder_runs(const std::string &pod, const SlurmJob *job);

/* "Job a: it does not exist yet"; why: it cannot be asked for. */
std::string owner_unanswered(
	const std::string &kind, const std::string &name, const std::string &why);

} // namespace slurmkube::core

#endif
