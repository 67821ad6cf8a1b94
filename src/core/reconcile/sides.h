/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sides.h - in which state a pod is, and in which state a job is. Pure.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_SIDES_H
#define SLURMKUBE_CORE_RECONCILE_SIDES_H

#include "src/core/model/job.h"
#include "src/core/model/pod.h"

#include <string>

namespace slurmkube::core
{

enum class PodSide {
	absent,    /* there is no such pod */
	gated,     /* has scheduling gates, so it must not be scheduled yet */
	waiting,   /* needs a node */
	withdrawn, /* deleted before it was bound; a finalizer keeps the object */
	running,   /* bound and not terminal, whether started or not */
	stopping,  /* as running, but with deletionTimestamp */
	ended,     /* phase Succeeded or Failed */
};

enum class JobSide {
	none,
	pending,
	allocated, /* running, suspended, configuring */
	ended,     /* in any of Slurm's terminal states */
};

/* bound_node: from the pod, or from our own binding that no watch has shown yet; empty: not
 * bound. */
PodSide pod_side(const Pod *pod, const std::string &bound_node);
JobSide job_side(const SlurmJob *job);

bool is_live_side(PodSide side);
bool is_bound_side(PodSide side);
bool is_live_job_side(JobSide side);
bool is_live(const SlurmJob &job);

/* When the job's pods first had a job in the queue, including jobs that were given back; seconds
 * since the epoch. */
std::int64_t queued_since(const SlurmJob &job);

/*
 * Whether the job ended before PrologSlurmctld had finished. If that script fails, slurmctld ends
 * the job as root, because it is not a batch job (prep_prolog_slurmctld_callback() in Slurm's
 * prep_slurmctld.c). Nobody wanted that end.
 */
bool ended_with_prolog(const SlurmJob &job);
/*
 * Whether somebody wanted the job to end, or its time was over: then waiting pods are deleted as
 * well. After any other end, pods that never ran are queued again, which costs nothing.
 */
bool is_wish(const SlurmJob &ended);

/* "cancelled", "time limit reached", ... for texts */
const char *state_text(JobState state);

} // namespace slurmkube::core

#endif
