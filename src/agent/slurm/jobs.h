/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobs.h - the blocking calls about jobs, for worker threads. calls.h documents each.
 */
#ifndef SLURMKUBE_AGENT_SLURM_JOBS_H
#define SLURMKUBE_AGENT_SLURM_JOBS_H

#include "src/agent/slurm/calls.h"

namespace slurmkube::slurm
{

Result<SubmitReply> submit_job(const core::JobSpec &spec);
Status update_job(core::JobId id, const core::JobSpec &spec, const std::vector<std::string> &given,
	const std::vector<std::string> &removed);
/* Whether the number is still that of the job that is meant; otherwise again. To be called before
 * each request that changes the job. */
using Same = std::function<Status()>;
/* again: the job with that number is another one, or bears no marker at the moment. */
Status check_marker(core::JobId job, const core::Marker &marker);
Status complete_job(core::JobId job, std::uint32_t wait_status);
Status expire_job(core::JobId job, const Same &same);
Status cancel_job(core::JobId job);
Status give_up_job(const core::MarkedJob &job, const Same &same);
Status ping_controller();

} // namespace slurmkube::slurm

#endif
