/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sides.h - where a pod is, and where a job is. Pure.
 */
#ifndef SLURMKUBE_CORE_RECONCILE_SIDES_H
#define SLURMKUBE_CORE_RECONCILE_SIDES_H

#include "src/core/model/job.h"
#include "src/core/model/pod.h"

#include <string>

namespace slurmkube::core
{

enum class PodSide {
	absent,    /* no such pod, or no longer */
	gated,     /* scheduling gates: not ours yet */
	waiting,   /* wants a node */
	withdrawn, /* deleted before it was bound; a finalizer holds the object */
	running,   /* bound and not terminal, started or not */
	stopping,  /* as running, with deletionTimestamp */
	ended,     /* phase Succeeded or Failed */
};

enum class JobSide {
	none,
	pending,
	allocated, /* running, suspended, configuring */
	ended,     /* Slurm has finished with it, whoever ended it */
};

/* bound_node: from the pod, or from a binding of ours that no watch has shown yet */
PodSide pod_side(const Pod *pod, const std::string &bound_node);
JobSide job_side(const SlurmJob *job);

bool is_live_side(PodSide side);
bool is_bound_side(PodSide side);
bool is_live_job_side(JobSide side);
bool is_live(const SlurmJob &job);

/* When its pods first had a job in the queue, whatever was given back since; seconds since the
 * epoch. */
std::int64_t queued_since(const SlurmJob &job);

/*
 * Before PrologSlurmctld was over. A script that fails ends the job, which is no batch job, as root
 * (prep_prolog_slurmctld_callback() in Slurm's prep_slurmctld.c): no wish of anybody.
 */
bool ended_with_prolog(const SlurmJob &job);
/*
 * Somebody wanted that end, or its time was over: pods that wait go as well. Of all other ends
 * those who never ran are queued again, which costs nobody anything.
 */
bool is_wish(const SlurmJob &ended);

/* "cancelled", "timeout", ... for texts */
const char *state_text(JobState state);

} // namespace slurmkube::core

#endif
