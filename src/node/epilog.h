/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epilog.h - ends a job on this node: no container of it is created any more, and none of its
 * processes runs.
 *
 * Works without the daemon. May be called again at any time, also beside another call: slurmctld
 * repeats the end of a job, and a slurmd that starts anew runs a second epilog.
 */
#ifndef SLURMKUBE_NODE_EPILOG_H
#define SLURMKUBE_NODE_EPILOG_H

#include "src/node/cgroups.h"
#include "src/node/containerd_status.h"
#include "src/node/records.h"

#include <chrono>

namespace slurmkube::node
{

/* Whether the container may still have processes, or get some. */
bool is_live(const ContainerRecord &container, const Cgroups &cgroups,
	const ContainerdStatus &containerd);

/* How long an epilog waits: the pod's grace (SPANK_SLURM_KUBE_GRACE, seconds) and a minute. Text
 * of a user: what is no number counts as the default of 30 s, and a day is the maximum. */
std::chrono::seconds epilog_limit(const char *grace);

/* Whether anything has been recorded of the job. Needed because Slurm runs the epilog of a job that
 * slurmctld has forgotten without the variables of the job (REQUEST_ABORT_JOB). */
bool is_pods_job(const Records &records, std::uint32_t job);

/* For a prolog: blocks until no container of a job that has ended here has a process. A slurmd that
 * is killed within an epilog does not run it again but says that it is over (Slurm's req.c,
 * slurm_cred_begin_expiration), so a new job may be on its way to processors that are in use. A
 * job has ended if it is closed or its cgroup is gone. again: as below. */
Result<Ok> wait_for_ended_jobs(const Records &records, const Cgroups &cgroups,
	std::chrono::seconds limit, const ContainerdStatus &containerd = {});

/* Blocks. may_kill: slurmd has ended the job, so what is left in the job's own cgroups is an orphan
 * of a killed slurmstepd. again: containers still run after the limit; io: not recorded. */
Result<Ok> end_job(const Records &records, const Cgroups &cgroups, std::uint32_t job,
	std::chrono::seconds limit, bool may_kill, const ContainerdStatus &containerd = {});

} // namespace slurmkube::node

#endif
