/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_facts.h - converts the seam's facts to the types of the model.
 */
#ifndef SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_JOB_FACTS_H
#define SLURMKUBE_PLUGINS_JOB_SUBMIT_KUBE_JOB_FACTS_H

#include "src/core/model/job.h"
#include "src/core/model/node.h"
#include "src/plugins/job_submit/kube/facts.h"

namespace slurmkube::plugin
{

inline bool is_pending(kube_job_state state)
{
	return state == KUBE_JOB_PENDING;
}

inline bool is_active(kube_job_state state)
{
	return state == KUBE_JOB_RUNNING || state == KUBE_JOB_SUSPENDED;
}

inline bool is_live(kube_job_state state)
{
	return is_pending(state) || is_active(state);
}

inline bool is_ended(kube_job_state state)
{
	return !is_live(state);
}

/* Empty: Slurm does not know the job or node. The caller must hold a lock. */
std::optional<core::SlurmJob> copy_job(std::uint32_t id, const core::Marker &marker);
std::optional<core::SlurmNode> copy_node(std::uint32_t index);

} // namespace slurmkube::plugin

#endif
